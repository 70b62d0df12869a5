"""The engine in a Python program: the service's three operations without a server."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from tokencount.v1 import token_counter_service_pb2 as wire
from tokencount.v1 import usage_pb2
from tokencount.v1.prompt_pb2 import ProviderRequest
from tokencountd import _core, encode
from tokencountd.answers import Count, Record
from tokencountd.prompt import Format, Message, Prompt, Usage

StatusError = _core.StatusError

Json = Mapping[str, Any] | Sequence[Any] | str | bytes
"""A provider's JSON: decoded, or as it came."""


class Engine:
    """Counts, estimates and remembers. One for each data directory and process; thread-safe.

    A prompt is a `Prompt`, or a provider's request body as a dict or as JSON text. The `format` of
    a body is detected if it isn't given; `model` is needed where the body has none (Gemini and
    Bedrock). Every method releases the interpreter lock while it works, and raises `StatusError`
    with a gRPC code, a reason and the path of the field for a request that can't be answered.
    """

    def __init__(
        self,
        data_dir: str | Path | None = None,
        *,
        secret: bytes = b"",
        profiles: str | None = None,
        profiles_dir: str | Path = "",
        store_bytes: int = 1 << 30,
        time_to_live: float = 7 * 86400.0,
        cache_bytes: int = 64 << 20,
    ) -> None:
        """Opens the store in `data_dir`; None keeps everything in memory.

        `secret` keys the digests on disk (empty: one is kept in the directory), `profiles` is the
        text of a TOML file that extends the profile table, `profiles_dir` the directory that paths in
        it start from (empty: the working directory), `store_bytes` caps the store, `time_to_live` is
        in seconds, `cache_bytes` caps the counts in memory. Raises `ValueError` for a wrong table,
        `OSError` if the store can't be opened.
        """
        self.core = _core.Engine(
            None if data_dir is None else str(data_dir),
            secret=secret,
            profiles=profiles,
            profiles_dir=str(profiles_dir),
            store_bytes=store_bytes,
            time_to_live=time_to_live,
            cache_bytes=cache_bytes,
        )

    @classmethod
    def over(cls, core: _core.Engine) -> Self:
        """The same operations over a core that is already open."""
        engine = cls.__new__(cls)
        engine.core = core
        return engine

    def count(
        self,
        prompt: Prompt | Json,
        *,
        format: Format | None = None,
        model: str = "",
        per_message: bool = False,
    ) -> Count:
        """Counts a prompt as it stands, without any memory."""
        request = wire.CountMessagesRequest(per_message=per_message, **self._prompt(prompt, format, model))
        answer = self.core.count_messages(request.SerializeToString())
        return Count.of(wire.CountMessagesResponse.FromString(answer).count)

    def estimate(
        self,
        prompt: Prompt | Json,
        *,
        base: bytes = b"",
        format: Format | None = None,
        model: str = "",
        per_message: bool = False,
    ) -> Count:
        """Counts what is new since the longest prefix that is known.

        With `base`, the `prefix_key` of an earlier answer, `prompt` holds only the messages after it.
        """
        request = wire.EstimateConversationRequest(
            base=base, per_message=per_message, **self._prompt(prompt, format, model)
        )
        answer = self.core.estimate_conversation(request.SerializeToString())
        return Count.of(wire.EstimateConversationResponse.FromString(answer).count)

    def record(
        self,
        prompt: Prompt | Json | None = None,
        *,
        usage: Usage | Json | None,
        base: bytes = b"",
        reply: Message | Json | None = None,
        format: Format | None = None,
        model: str = "",
    ) -> Record:
        """Remembers what the provider billed; returns after it is on disk.

        `usage` is a `Usage`, the provider's own usage, or its whole response; None says that the
        call failed. With `base`, `prompt` holds only the messages after it, or nothing. Given the
        `reply`, the next turn starts from input and output together.
        """
        given = {} if prompt is None else self._prompt(prompt, format, model)
        request = wire.RecordActualRequest(base=base, **given)
        request.status = usage_pb2.STATUS_FAILED if usage is None else usage_pb2.STATUS_SUCCEEDED
        if isinstance(usage, Usage):
            request.usage.CopyFrom(encode.usage(usage))
        elif usage is not None:
            request.usage_json = _json(usage)
        if isinstance(reply, Message):
            request.reply.message.CopyFrom(encode.message(reply))
        elif reply is not None:
            request.reply.json = _json(reply)
        answer = self.core.record_actual(request.SerializeToString())
        return Record.of(wire.RecordActualResponse.FromString(answer))

    def _prompt(self, prompt: Prompt | Json, format: Format | None, model: str) -> dict[str, Any]:
        if isinstance(prompt, Prompt):
            return {"typed": encode.prompt(prompt)}
        body = _json(prompt)
        number = encode.format_number(format or self.core.detect_format(body))
        return {"provider_request": ProviderRequest(format=number, model=model, body=body)}

    def close(self) -> None:
        """Flushes and closes the store. Calls after it fail."""
        self.core.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _json(value: Json) -> bytes:
    if isinstance(value, bytes):
        return value
    if isinstance(value, str):
        return value.encode("utf-8", "surrogatepass")
    return json.dumps(value, allow_nan=False).encode()
