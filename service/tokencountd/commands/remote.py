"""`tokencountd count --server`: counts on a server what the command otherwise counts in process.

A server has no lines, so they are read here: a line with a body becomes a request of a stream. The
engine in process says what is wrong with any other line, and which format a body has.
"""

import dataclasses
import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import grpc

from tokencount import Client, Counted, TokenCountError
from tokencount.v1 import ProviderRequest
from tokencountd import encode
from tokencountd.answers import Count
from tokencountd.commands import CommandError
from tokencountd.commands.bulk import Answers

if TYPE_CHECKING:
    from tokencountd import _core

_PATIENCE = 10.0
"""Seconds that a server may be away, as while it is restarted."""

_TEXT = "text: a server counts bodies; leave out --server to count plain text"
_MODEL_FIELDS = {"bedrock_converse": "modelId"}
"""Where a format's bodies name their model, if not in `model`."""
_PLACE = "provider_request."
"""Where the body is in the contract's request, which whoever wrote the line knows nothing of."""


def connect(address: str, token_file: Path | None, ca_file: Path | None) -> Client:
    """A client of the server, with the token and over TLS if there are files for them."""
    try:
        token = token_file.read_text().strip() if token_file else ""
        credentials = grpc.ssl_channel_credentials(ca_file.read_bytes()) if ca_file else None
    except OSError as error:
        raise CommandError(f"can't read {error.filename}: {error.strerror}") from error
    return Client(address, credentials=credentials, token=token, timeout=_PATIENCE)


def count_body(client: Client, core: "_core.Engine", data: bytes, format: str, model: str) -> Count:
    """The count of one body."""
    number = encode.format_number(format or core.detect_format(data))
    try:
        return Count.of(client.count(ProviderRequest(format=number, model=model, body=data)))
    except TokenCountError as error:
        raise CommandError(str(error)) from None


def count_lines(
    client: Client, core: "_core.Engine", defaults: Mapping[str, str], lines: list[bytes]
) -> Answers:
    """Answers lines as `core.count_lines` does.

    They are a piece of a file and get a stream of their own: a server that is being replaced lets
    its streams end, and has not long to wait for these.
    """
    requests = [_request(core, line, defaults) for line in lines]
    answers = client.count_many(request for request in requests if request)
    try:
        return [
            _answer(next(answers)) if request else _unsent(core, line, defaults)
            for line, request in zip(lines, requests, strict=True)
        ]
    except TokenCountError as error:
        raise CommandError(str(error)) from None
    finally:
        answers.close()


def _request(
    core: "_core.Engine", line: bytes, defaults: Mapping[str, str]
) -> tuple[str, ProviderRequest] | None:
    """The line's id as JSON, and its body; nothing if a server can't be asked for it."""
    fields = {**defaults, **_fields(line)}
    body, format, model = (fields.get(name) for name in ("body", "format", "model"))
    if body is None or "text" in fields or not isinstance(format, str) or not isinstance(model, str):
        return None
    try:
        format = format or core.detect_format(_json(body))
        if not format:
            return None
        number = encode.format_number(format)
        sent = _json(_with_model(body, _MODEL_FIELDS.get(format, "model"), model))
        return _json(fields.get("id")).decode(), ProviderRequest(format=number, body=sent)
    except ValueError:
        return None


def _with_model(body: Any, field: str, model: str) -> Any:
    """The body with the model, where it names none: a request's own model would go before the body's."""
    if not isinstance(body, dict) or not model:
        return cast(Any, body)
    fields = cast(dict[str, Any], body)
    return {**fields, field: fields.get(field) or model}


def _unsent(core: "_core.Engine", line: bytes, defaults: Mapping[str, str]) -> tuple[bytes, bool]:
    """The error of a line that a server can't be asked for."""
    fields = _fields(line)
    if isinstance(fields.get("text"), str) and "body" not in fields:
        error = {"reason": "INVALID_FIELD", "message": _TEXT}
        return json.dumps({"id": fields.get("id"), "error": error}).encode(), False
    [(answer, _)] = core.count_lines([line], defaults)
    return answer, False


def _answer(counted: Counted) -> tuple[bytes, bool]:
    """The output line of an answer, with the fields in the order of the engine's own."""
    id = json.loads(counted.id)
    if counted.error:
        reason = counted.error.reason or counted.error.code.name
        message = counted.error.message.removeprefix(_PLACE)
        return _json({"id": id, "error": {"reason": reason, "message": message}}), False
    count = Count.of(counted.count)
    fields = {
        "id": id,
        "tokens": count.tokens,
        "upper_bound": count.upper_bound,
        "source": count.source.value,
        "encoding": count.encoding,
        "profile": count.profile,
        "warnings": [dataclasses.asdict(warning) for warning in count.warnings],
    }
    return _json(fields), True


def _fields(line: bytes) -> dict[str, Any]:
    """The fields of a line, without nulls; none if it isn't an object."""
    try:
        value = json.loads(line.decode())
    except (ValueError, RecursionError):
        value = None
    fields = cast(dict[str, Any], value) if isinstance(value, dict) else {}
    return {name: given for name, given in fields.items() if given is not None}


def _json(value: object) -> bytes:
    """JSON as the engine writes it. Raises `ValueError` for what UTF-8 or JSON can't hold."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
