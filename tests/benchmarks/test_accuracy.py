"""The accuracy benchmark on rows whose bills are known: what it prints, keeps and refuses."""

import gzip
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from benchmarks.accuracy import profiles
from benchmarks.accuracy.__main__ import main
from benchmarks.accuracy.counts import with_images
from benchmarks.accuracy.figures import quantile

from tokencountd import Engine

ROOT = Path(__file__).parents[2]
HELLO = {"model": "gpt-4o", "messages": [{"role": "user", "content": "hello"}]}
ANSWERED: dict[str, Any] = {
    "model": "gpt-4o",
    "messages": [
        *HELLO["messages"],
        {"role": "assistant", "content": "Hi! How can I help?"},
        {"role": "user", "content": "How far is the moon?"},
    ],
}
BILLED = 8
"""What OpenAI bills for `HELLO`: 3 for the prompt, 4 for the message, 1 for the word."""


def row(id: str, billed: int, **fields: Any) -> dict[str, Any]:
    about = {"id": id, "kind": "oai_chat", "family": "openai_chat", "group": "plain", "model": "gpt-4o"}
    return {**about, "request": HELLO, "input_tokens": billed, "source": "a/b:c.yaml#0", **fields}


def write(path: Path, *rows: dict[str, Any]) -> None:
    path.write_text("".join(json.dumps(one) + "\n" for one in rows))


def tables(printed: str) -> dict[str, dict[str, list[str]]]:
    """The lines of each section's first table, by their names."""
    sections: dict[str, dict[str, list[str]]] = {}
    lines: dict[str, list[str]] = {}
    for line in printed.splitlines():
        if line.startswith("## "):
            lines = sections[line[3:]] = {}
        elif line.startswith("|"):
            name, *cells = (cell.strip() for cell in line.strip("|").split("|"))
            lines.setdefault(name, cells)
    return sections


def run(capsys: pytest.CaptureFixture[str], *arguments: Any) -> tuple[dict[str, dict[str, list[str]]], str]:
    """The tables that it prints, and what it complains of."""
    assert main([*map(str, arguments), "--no-peers"]) == 0
    printed = capsys.readouterr()
    return tables(printed.out), printed.err


def test_figures_of_known_bills(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bills = [BILLED, BILLED, BILLED, 10]
    write(tmp_path / "rows.jsonl", *(row(str(at), billed) for at, billed in enumerate(bills)))
    sections, errors = run(capsys, tmp_path)
    expected = ["4", "75.0%", "0.0%", "20.0%", "1", "2 = 20.0%", "0.0%", "0.0%", "-5.9%"]
    assert sections["rows"]["openai_chat, plain"] == sections["rows"]["all"] == expected
    assert errors == ""


def test_files_and_rows_are_chosen(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with gzip.open(tmp_path / "zipped.jsonl.gz", "wt") as out:
        out.write("\n".join(json.dumps(row(id, BILLED)) for id in "ab") + "\n\n")
    write(tmp_path / "plain.jsonl", row("c", BILLED), row("d", 1, kind="embedding"))
    left_out = tmp_path / "left_out.json"
    left_out.write_text('[{"id": "b", "why": "relabelled"}]')
    sections, errors = run(capsys, tmp_path, "--exclude", left_out)
    assert {name: lines["all"][0] for name, lines in sections.items()} == {
        "plain": "1",
        "zipped": "1",
        "all main families": "2",
    }
    assert errors == "accuracy: plain: 1 rows are of no known kind\n"
    assert list(run(capsys, tmp_path, "--only", "zip*")[0]) == ["zipped"]
    assert len(run(capsys, tmp_path, "--only", "zip*", "--only", "plain")[0]) == 3


def test_what_the_engine_refuses_shows_as_an_underestimate(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path / "rows.jsonl", row("a", BILLED, request={"messages": 1, "model": "gpt-4o"}))
    sections, errors = run(capsys, tmp_path)
    assert sections["rows"]["all"][4:6] == ["1", "8 = 100.0%"]
    assert errors == "accuracy: rows: the engine refused 1 rows\n"


def test_the_worst_rows_are_listed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(tmp_path / "rows.jsonl", row("good", BILLED), row("bad", 20), row("worse", 30))
    assert main([str(tmp_path), "--no-peers", "--list", "1"]) == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert [line[5] for line in lines if line[1:4] == ["above", "the", "bound"]] == ["worse"]
    assert [line[3] for line in lines if line[1:2] == ["error"]] == ["worse"]


def test_turns_start_from_the_bill_before(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The first request was billed 1,000 more than any rule would say: the second one is, too."""
    with Engine() as engine:
        plain = engine.count(HELLO).tokens
        next_turn = engine.count(ANSWERED).tokens - plain
    first, second = 1000 + plain, 1000 + plain + next_turn
    write(tmp_path / "rows.jsonl", row("a", first), row("b", second, request=ANSWERED))
    pair = {"prev": "a", "next": "b", "prev_input": first, "prev_output": 0, "next_input": second}
    write(tmp_path / "turns.jsonl", pair, {**pair, "next": "elsewhere"})
    sections, errors = run(capsys, tmp_path)
    for what in ("turns, with the reply", "turns, the bill alone"):
        assert sections[what]["main families"][:5] == ["1", "100.0%", "0.0%", "0.0%", "0"]
    assert errors == "accuracy: turns: 1 of 2 pairs have a request that is not among the rows\n"


def test_a_bound_is_learned_on_the_other_repositories(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Bills are 2, 4 and 5 above the count, so only the last is above what the others teach. The group of
    the fourth is known to nobody else.
    """
    write(
        tmp_path / "rows.jsonl",
        row("a", BILLED + 2, source="a/a:x.yaml#0"),
        row("b", BILLED + 4, source="b/b:x.yaml#0"),
        row("c", BILLED + 5, source="c/c:x.yaml@0123456789#0"),
        row("d", BILLED, source="c/c:x.yaml#1", group="tools"),
    )
    assert main([str(tmp_path), "--no-peers", "--leave-out", "repository", "--leave-out", "cassette"]) == 0
    printed = capsys.readouterr().out
    for kind in ("repository", "cassette"):
        lines = tables(printed)[f"one {kind} left out"]
        assert lines["all, profile's bound"][4:6] == ["3", "5 = 38.5%"]
        assert lines["all, learned"][4:6] == ["1", "1 = 7.7%"], kind
        assert f"1 rows have a profile and group that no other {kind} has." in printed
    assert tables(printed)["one repository left out"]["c/c"][:2] == ["2", "50.0%"]


def test_figures_are_kept_without_the_rows(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(tmp_path / "rows.jsonl", row("secret-id", BILLED), row("other", 10))
    out, results = tmp_path / "out.jsonl", tmp_path / "results"
    write_them = ["--out", out, "--results", results, "--leave-out", "repository"]
    sections, _ = run(capsys, tmp_path, "--only", "rows", *write_them)
    assert tables((results / "accuracy.md").read_text())["rows"] == sections["rows"]
    assert [json.loads(line) for line in out.read_text().splitlines()] == [
        {"id": "secret-id", "tokens": BILLED, "upper_bound": BILLED},
        {"id": "other", "tokens": BILLED, "upper_bound": BILLED},
    ]
    kept = (results / "accuracy.json").read_text()
    [plain, *_] = json.loads(kept)
    assert (plain["section"], plain["name"]) == ("rows", "openai_chat, plain")
    assert (plain["rows"], plain["violations"]) == (2, 1)
    for private in ("secret-id", "hello", "a/b", str(tmp_path)):
        assert private not in kept + (results / "accuracy.md").read_text()


def test_lines_of_the_profile_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [row(str(at), BILLED if at else 10) for at in range(20)]
    write(tmp_path / "rows.jsonl", *rows, *(row(f"x{at}", 99, category="other") for at in range(20)))
    assert main([str(tmp_path), "--no-peers", "--profiles"]) == 0
    line = "accuracy = { rows = 20, exact_share = 0.95, median_error = 0.000, p95_error = 0.000 }"
    assert f'[families."openai-4"]\n{line}\n' in capsys.readouterr().out


def test_the_profile_table_is_rewritten_in_place(tmp_path: Path) -> None:
    table = tmp_path / "profiles.toml"
    head = '[families.a]\nmargins = {}\n%s[families.a.rules]\n\n[families."b.1"] # of May\nmargins = {}\n%s'
    table.write_text(head % ("accuracy = { stale }\n", ""))
    profiles.rewrite(table, {"b.1": "accuracy = { new }", "c": "accuracy = { absent }"})
    assert table.read_text() == head % ("accuracy = { stale }\n", "accuracy = { new }\n")
    profiles.rewrite(table, {"a": "accuracy = { newer }"})
    assert table.read_text() == head % ("accuracy = { newer }\n", "accuracy = { new }\n")


@pytest.mark.parametrize(
    ("written", "arguments", "complaint"),
    [
        (None, [], "is no directory"),
        ("", [], "has no rows to count"),
        ("", ["--only", "x"], "has no x.jsonl and no x.jsonl.gz"),
        ("", ["--exclude", "nowhere.json"], "nowhere.json is no JSON list"),
        ("[1]\n", [], "rows.jsonl:1: not a JSON object"),
        ('{}\n{"a":\n', [], "rows.jsonl:1: no 'kind'"),
        ('{"a":\n', [], "rows.jsonl, after line"),
        (json.dumps(row("a", 0)), [], "rows.jsonl:1: `input_tokens` must be a positive number of tokens"),
        (json.dumps({**row("a", 1), "request": None, "id": "x"}).replace("request", "r"), [], "no 'request'"),
    ],
)
def test_what_cannot_be_read_is_said_in_a_line(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    written: str | None,
    arguments: list[str],
    complaint: str,
) -> None:
    data = tmp_path / "data"
    if written is not None:
        data.mkdir()
        (data / "rows.jsonl").write_text(written)
    assert main([str(data), "--no-peers", *arguments]) == 1
    complained = capsys.readouterr().err
    assert complained.startswith("accuracy: ")
    assert complaint in complained
    assert complained.count("\n") == 1


def test_an_interrupt_ends_it_without_a_trace(tmp_path: Path) -> None:
    """It waits for a pipe that nobody writes to."""
    os.mkfifo(tmp_path / "rows.jsonl")
    command = [sys.executable, "-m", "benchmarks.accuracy", str(tmp_path), "--no-peers"]
    with subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, text=True) as process:
        with (tmp_path / "rows.jsonl").open("w"):  # open on both sides: it reads now
            process.send_signal(signal.SIGINT)
            assert process.wait(30) == 130
        assert process.stderr
        assert process.stderr.read() == ""


def test_a_recording_without_pictures_gets_some_of_the_same_size() -> None:
    recorded = {"data": {"mime": "image/jpeg", "bytes": 3000, "width": 640, "height": 480}}
    given = with_images(recorded)
    assert len(given["data"]) == 4000
    assert with_images({"url": recorded["data"]})["url"].startswith("data:image/png;base64,")


def test_quantiles_are_values_that_occur() -> None:
    assert [quantile([4, 1, 3, 2], share) for share in (0, 0.25, 0.5, 0.51, 0.95, 1)] == [1, 1, 2, 3, 4, 4]
