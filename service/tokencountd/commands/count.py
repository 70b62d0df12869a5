"""`tokencountd count`: counts a file, in process or on a server."""

import argparse
import dataclasses
import json
import signal
import sys
from contextlib import nullcontext
from functools import partial
from io import BufferedReader
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from tokencountd import settings
from tokencountd.commands import CommandError, bulk, complain, engine
from tokencountd.commands.table import table
from tokencountd.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from tokencountd import _core
    from tokencountd.answers import Count
    from tokencountd.commands import Subparsers

_ABOUT = """Counts the tokens of FILE, or of standard input for "-".

A JSON object is taken for a provider's request body and counted as the provider bills it; its
format is detected unless --format says it. Anything else, or --text, is plain text, counted in an
encoding or a model's vocabulary; special-token text such as <|endoftext|> is ordinary text.

Nothing but the file is needed. With --server a running server counts instead, by its own profiles
and for the tenant of the token. It takes bodies, not plain text."""

_EXAMPLES = """examples:
  tokencountd count request.json
  tokencountd count --format gemini --model gemini-2.5-pro request.json
  echo "How many tokens?" | tokencountd count --encoding o200k_base -
  tokencountd count --jsonl requests.jsonl > counts.jsonl
  tokencountd count --server 10.0.0.5:50051 --jsonl requests.jsonl > counts.jsonl

bulk mode (--jsonl), one JSON object a line, answered in order by one line each:
  in:   {"id": 1, "text": "...", "encoding" or "model": "..."}
        {"id": 2, "body": {...}, "format": "openai_chat", "model": "..."}
  out:  {"id", "tokens", "upper_bound", "source", "encoding", "profile", "warnings"}
        {"id", "error": {"reason", "message"}}   and then the exit status is 1
  --format, --model and --encoding stand for what a line leaves out.
  With --server a line with "text" is answered with an error. A server that is restarted meanwhile
  is waited for; if it stays away, the command ends with what was answered and exit status 1.
"""

FORMATS = ("openai_chat", "openai_responses", "anthropic", "gemini", "gemini_vertex", "bedrock_converse")


def add(commands: "Subparsers") -> None:
    """Adds the command."""
    parser = commands.add_parser(
        "count",
        help="count a file, without a server or on one",
        description=_ABOUT,
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "file", metavar="FILE", nargs="?", default="-", help='file to count; "-" is standard input'
    )
    parser.add_argument("--format", choices=FORMATS, default="", help="the provider's interface of a body")
    parser.add_argument("--model", default="", help="the model, where the body names none, or of a text")
    parser.add_argument("--encoding", default="", help="the encoding of a plain text, such as o200k_base")
    parser.add_argument(
        "--text", action="store_true", help="take the file for plain text, even if it is JSON"
    )
    output = parser.add_mutually_exclusive_group()
    output.add_argument("--json", action="store_true", help="print a JSON object")
    output.add_argument("--jsonl", action="store_true", help="bulk mode: count every line")
    remote = parser.add_argument_group("counting on a server")
    remote.add_argument("--server", metavar="ADDRESS", help="count on this server, such as localhost:50051")
    remote.add_argument(
        "--token-file",
        metavar="FILE",
        type=Path,
        help="file with the bearer token to send; without --server-ca anyone on the way can read it",
    )
    remote.add_argument(
        "--server-ca",
        metavar="FILE",
        type=Path,
        help="PEM file with the CAs of the server's certificate; the connection is then over TLS",
    )
    settings.add_arguments(parser, ["profiles", "max_message_bytes", "threads"])
    parser.set_defaults(run=_run)


def _run(flags: argparse.Namespace, values: Settings) -> int:
    # A filter ends as a filter does: at once and without a word, when its reader or its user leaves.
    for number in (signal.SIGPIPE, signal.SIGINT):
        signal.signal(number, signal.SIG_DFL)
    with _open(flags.file) as source:
        core = engine(values)
        if flags.jsonl:
            return bulk.run(_line_counter(core, flags), source, values)
        data = source.read()
    if flags.text or flags.encoding or not data.lstrip().startswith(b"{"):
        if flags.server:
            raise CommandError("a server counts bodies; leave out --server to count plain text")
        return _text(core, flags, data)
    return _body(core, flags, data)


def _line_counter(core: "_core.Engine", flags: argparse.Namespace) -> "Callable[[list[bytes]], bulk.Answers]":
    defaults = {name: getattr(flags, name) for name in ("format", "model", "encoding")}
    if not flags.server:
        return lambda lines: core.count_lines(lines, defaults)
    # Imported here, for gRPC: counting in process starts faster without it.
    from tokencountd.commands import remote

    client = remote.connect(flags.server, flags.token_file, flags.server_ca)
    return partial(remote.count_lines, client, core, defaults)


def _open(name: str) -> "AbstractContextManager[BufferedReader]":
    try:
        return nullcontext(cast(BufferedReader, sys.stdin.buffer)) if name == "-" else Path(name).open("rb")
    except OSError as error:
        raise CommandError(f"can't read {name}: {error.strerror}") from error


def _text(core: "_core.Engine", flags: argparse.Namespace, data: bytes) -> int:
    try:
        line = json.dumps({"text": data.decode(), "encoding": flags.encoding, "model": flags.model})
    except UnicodeDecodeError as error:
        raise CommandError(f"{flags.file} is not UTF-8 text (byte {error.start})") from None
    [(answer, counted)] = core.count_lines([line.encode()], {})
    fields: dict[str, Any] = json.loads(answer)
    if not counted:
        hint = "" if flags.encoding or flags.model else " (give --encoding or --model)"
        raise CommandError(fields["error"]["message"] + hint)
    del fields["id"]
    if flags.json:
        print(json.dumps(fields, indent=2))
    else:
        print(_rows({name: fields[name] for name in ("tokens", "upper_bound", "encoding", "profile")}))
    return 0


def _body(core: "_core.Engine", flags: argparse.Namespace, data: bytes) -> int:
    count = _count_on_server(core, flags, data) if flags.server else _count_here(core, flags, data)
    if flags.json:
        print(json.dumps(dataclasses.asdict(count), indent=2, default=_plain))
    else:
        print(_report(count))
    return 0


def _count_here(core: "_core.Engine", flags: argparse.Namespace, data: bytes) -> "Count":
    # Imported here, for its dependency: the rest of the command line does without protobuf.
    from tokencountd.engine import Engine, StatusError

    try:
        return Engine.over(core).count(data, format=flags.format or None, model=flags.model)
    except StatusError as error:
        raise CommandError(f"{error} ({error.reason})") from None


def _count_on_server(core: "_core.Engine", flags: argparse.Namespace, data: bytes) -> "Count":
    # Imported here, for gRPC.
    from tokencountd.commands import remote

    with remote.connect(flags.server, flags.token_file, flags.server_ca) as client:
        return remote.count_body(client, core, data, flags.format, flags.model)


def _plain(value: Any) -> str:
    return value.hex() if isinstance(value, bytes) else value.value


def _report(count: "Count") -> str:
    used = f"{count.context_window:,} ({count.context_used:.1%} used)" if count.context_window else "unknown"
    head = {
        "tokens": count.tokens,
        "upper_bound": count.upper_bound,
        "source": count.source.value,
        "profile": count.profile,
        "encoding": count.encoding,
        "context_window": used,
    }
    parts = {f"  {name}": tokens for name, tokens in dataclasses.asdict(count.breakdown).items() if tokens}
    for warning in count.warnings:
        where = f" ({warning.field})" if warning.field else ""
        complain(f"warning: {warning.message}{where}")
    return _rows(head) + "\nbreakdown\n" + _rows(parts)


def _rows(fields: dict[str, Any]) -> str:
    shown = ((name, f"{value:,}" if isinstance(value, int) else value) for name, value in fields.items())
    return table([(name.replace("_", " ").ljust(16), value) for name, value in shown if value])
