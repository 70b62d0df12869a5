"""`python -m benchmarks.accuracy.cassettes DIR > rows.jsonl`: rows of the requests in HTTP recordings.

DIR is searched for cassettes in YAML as vcrpy (pytest-recording), Ruby's VCR and go-vcr write them. Name
it `OWNER/REPOSITORY=DIR` to give the rows their source. A request becomes a row if it went to an
interface that is known here and its answer says what was billed. Left out, since the bill is not that of
the body: what leans on state at the provider or on tools that run there, edits of the context, files,
sound and film, and answers of another model than the one asked for (their cassettes were relabelled, or
a gateway chose). Whether a gateway leaves cached tokens out of its usage no cassette says: leave such
gateways out by hand. Equal bodies that were billed alike are one row; billed differently, none.
"""

# pyright: basic

import argparse
import gzip
import json
import re
import sys
from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path
from typing import Any

import yaml

from benchmarks.accuracy.progress import shown
from tokencountd import Engine, Message, Prompt, StatusError

Json = Any

INTERFACES = (
    ("oai_chat", re.compile(r"/chat/completions$")),
    ("oai_resp", re.compile(r"/responses$")),
    ("anthropic", re.compile(r"/v1/messages$")),
    ("gemini", re.compile(r"/models/(?P<model>[^/:]+):(stream)?[gG]enerateContent$")),
    ("converse", re.compile(r"/model/(?P<model>[^/]+)/converse$")),
)
"""The `kind` of a request by its path, and the model where the path names it."""

_ELSEWHERE = {
    *("previous_response_id", "conversation", "prompt", "container", "mcp_servers", "context_management"),
    *(
        "cachedContent",
        "cached_content",
        "document",
        "input_file",
        "input_audio",
        "file",
        "fileData",
        "file_data",
    ),
    *("web_search_options", "plugins", "guardrailConfig", "video"),
}
"""Keys and types that say that the bill holds something that the body doesn't."""

_ANY = Prompt(model="default", messages=[Message("user", ["any"])])

_GZIP = b"\x1f\x8b"

_FUNCTIONS = {None, "function", "custom"}
"""Types of tools that the caller runs."""


def main() -> int:
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.accuracy.cassettes", description=__doc__, formatter_class=raw
    )
    parser.add_argument("directories", nargs="+", metavar="[OWNER/REPOSITORY=]DIR")
    rows: dict[str, Json] = {}
    for given in parser.parse_args().directories:
        name, _, directory = given.rpartition("=")
        if not Path(directory).is_dir():
            parser.error(f"{directory} is no directory")
        for row in read(Path(directory), name or Path(directory).name):
            known = rows.setdefault(row["id"], row)
            if known["input_tokens"] != row["input_tokens"]:
                known["differs"] = True
    kept = [row for row in rows.values() if not row.get("differs")]
    for row in kept:
        print(json.dumps(row, ensure_ascii=False))
    return 0


def read(directory: Path, repository: str) -> Iterator[Json]:
    """The rows of all cassettes in a directory."""
    with Engine() as engine:
        for path in shown(sorted([*directory.rglob("*.yaml"), *directory.rglob("*.yml")]), repository):
            try:
                # The C loader is an order of magnitude faster; wheels of PyYAML have it.
                cassette = yaml.load(path.read_bytes(), Loader=yaml.CSafeLoader)
            except yaml.YAMLError as error:
                print(f"{path}: {error}", file=sys.stderr)
                continue
            for number, interaction in enumerate(_interactions(cassette)):
                source = f"{repository}:{path.relative_to(directory)}#{number}"
                if row := _row(engine, interaction, source):
                    yield row


def _interactions(cassette: Json) -> list[Json]:
    if not isinstance(cassette, dict):
        return []
    return cassette.get("interactions") or cassette.get("http_interactions") or []


def _row(engine: Engine, interaction: Json, source: str) -> Json:
    """The row of one exchange; None if it isn't one, or its bill is not that of the body."""
    request = interaction["request"]
    host, kind, model = _interface(str(request.get("uri") or request.get("url")))
    body, answers = _json(_text(request)), _answers(_text(interaction["response"]))
    if not kind or not isinstance(body, dict) or _leans_elsewhere(body):
        return None
    model = body.get("model") or model
    # Events of a stream say what was billed so far.
    billed = max((_billed(engine, answer) for answer in answers), default=0)
    if not billed or not _same_model(model, answers):
        return None
    digest = blake2b(json.dumps([host, model, body], sort_keys=True).encode(), digest_size=6)
    return {
        "id": digest.hexdigest(),
        "kind": kind,
        "family": "gemini_vertex" if kind == "gemini" and "aiplatform" in host else kind,
        "group": _group(body),
        "model": model,
        "request": body,
        "input_tokens": billed,
        "source": source,
    }


def _interface(url: str) -> tuple[str, str, str]:
    """The host, the kind and the model that a URL names; empty where it names none."""
    _, _, rest = url.partition("://")
    host, slash, path = rest.partition("?")[0].partition("/")
    for kind, pattern in INTERFACES:
        if found := pattern.search(slash + path):
            return host, kind, found.groupdict().get("model", "")
    return host, "", ""


def _text(message: Json) -> Json:
    """A recorded body: text, maybe zipped, or JSON that was parsed when it was recorded."""
    body = message.get("parsed_body") or message.get("body")
    text = body["string"] if isinstance(body, dict) and "string" in body else body
    return gzip.decompress(text) if isinstance(text, bytes) and text.startswith(_GZIP) else text


def _answers(body: Json) -> list[Json]:
    """The answer, or the events of a stream."""
    whole = _json(body)
    if whole is not None:
        return whole if isinstance(whole, list) else [whole]
    text = body.decode(errors="replace") if isinstance(body, bytes) else str(body)
    events = (_json(line.removeprefix("data:")) for line in text.splitlines() if line.startswith("data:"))
    return [event for event in events if isinstance(event, dict)]


def _billed(engine: Engine, answer: Json) -> int:
    """What an answer says was billed for the input; 0 if it doesn't say.

    The engine reads every provider's usage. It is shown another prompt than the one that was billed:
    which rows there are mustn't depend on what it makes of them.
    """
    try:
        return engine.record(_ANY, usage=answer).billed_tokens
    except (StatusError, ValueError):
        return 0


def _same_model(model: str, answers: list[Json]) -> bool:
    """Whether the answer names no other model. A name may have a date after it; `latest` may be any."""
    for answer in [] if model.endswith("latest") else answers:
        inner = answer.get("response") or answer.get("message") or answer
        named = inner.get("model") or inner.get("modelVersion")
        if isinstance(named, str):
            asked, named = (name.rpartition("/")[2] for name in (model, named))
            return named.startswith(asked) or asked.startswith(named)
    return True


def _leans_elsewhere(value: Json) -> bool:
    match value:
        case {"type": "server_tool_use" | "web_search_tool_result"}:
            return True
        case dict():
            if any(value.get(key) for key in _ELSEWHERE) or value.get("type") in _ELSEWHERE:
                return True
            return _runs_there(value.get("tools")) or any(map(_leans_elsewhere, value.values()))
        case list():
            return any(map(_leans_elsewhere, value))
        case _:
            return False


def _runs_there(tools: Json) -> bool:
    """Whether any tool of a list runs at the provider."""
    own = ("toolSpec", "cachePoint", "functionDeclarations", "function_declarations", "name", "function")
    return isinstance(tools, list) and any(
        tool.get("type") not in _FUNCTIONS or not any(key in tool for key in own)
        for tool in tools
        if isinstance(tool, dict)
    )


def _group(body: Json) -> str:
    config = body.get("generationConfig") or {}
    text = body.get("text") or {}
    schemas = (
        body.get("response_format", {}).get("json_schema"),
        text.get("format", {}).get("schema"),
        (body.get("output_config") or {}).get("format") or body.get("output_format"),
        *(config.get(key) for key in ("responseSchema", "response_schema", "responseJsonSchema")),
    )
    if any(schemas):
        return "schema"
    return "tools" if body.get("tools") or body.get("functions") or body.get("toolConfig") else "plain"


def _json(text: Json) -> Json:
    """JSON text as a value; a value as it is; None for anything else."""
    if isinstance(text, dict | list):
        return text
    try:
        return json.loads(text)
    except (TypeError, ValueError):
        return None


if __name__ == "__main__":
    sys.exit(main())
