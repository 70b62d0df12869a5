"""`python -m benchmarks.charts`: draws `charts/*.svg` from `results/*.json`.

Drawn here, by some lines of SVG: a plotting library would be a hundred times as much to install, and its
files as much larger.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

from benchmarks import alternatives, counting, results, serving

DIRECTORY = Path(__file__).parent / "charts"

REPEATED = tuple(f"CountMessages, {count} x {size} B" for count, size in serving.SHAPES)
ESTIMATE = "EstimateConversation, base + 400 B"
COUNTED = tuple(
    f"A count of {shape.messages} x {shape.size} B, {state}"
    for shape in counting.SHAPES
    for state in alternatives.STATES
)

COLOURS = {
    "native": "#2f7ed8",
    "native, by the Python client": "#8fbcea",
    "tonic echo": "#a9a9a9",
    "grpcio": "#e08a2c",
    "grpcio echo": "#c9c9c9",
    "tiktoken": "#4fa34f",
    "litellm": "#b0569a",
    "litellm proxy": "#7d3c6e",
}

WIDTH, LABELS, VALUES = 760, 210, 90
BAR, GAP, HEAD = 16, 26, 44
STYLE = (
    "text{font:12px system-ui,sans-serif;fill:#24292f}.title{font-weight:600;font-size:14px}"
    ".unit{fill:#656d76}@media(prefers-color-scheme:dark){text{fill:#e6edf3}.unit{fill:#8d96a0}}"
)


@dataclass(frozen=True)
class Chart:
    """What one file shows."""

    file: str
    suite: str
    unit: str
    title: str
    names: Sequence[str]
    """The results that are shown, one group of bars each."""


CHARTS = (
    Chart("cpu", "serving", serving.CPU, "The server's work for a call, repeated", (*REPEATED, ESTIMATE)),
    Chart(
        "cpu_new",
        "serving",
        serving.CPU,
        "The server's work for a call, new text",
        [f"{name}, new" for name in REPEATED],
    ),
    Chart("rate", "serving", serving.RATE, "Calls that are answered, repeated", (*REPEATED, ESTIMATE)),
    Chart(
        "latency",
        "serving",
        "ms, p99",
        "Latency at half of the highest rate",
        [f"{name}, at half of the highest rate" for name in (*REPEATED, ESTIMATE)],
    ),
    Chart("alternatives", "alternatives", "ms, p50", "How long a caller waits for a count", COUNTED),
)


def main() -> None:
    DIRECTORY.mkdir(exist_ok=True)
    for chart in CHARTS:
        text = (results.DIRECTORY / f"{chart.suite}.json").read_text()
        found = {(one["name"], one["unit"]): one for one in json.loads(text)}
        groups = [_bars(found[name, chart.unit]) for name in chart.names]
        drawn = _svg(chart, list(zip(chart.names, groups, strict=True)))
        (DIRECTORY / f"{chart.file}.svg").write_text(drawn)


def _bars(result: dict[str, Any]) -> dict[str, float]:
    """What is drawn of a result, by the name of whose it is."""
    return {"native": result["value"], **result["peers"]}


def _svg(chart: Chart, groups: Sequence[tuple[str, dict[str, float]]]) -> str:
    """Groups of horizontal bars, each group on a scale of its own."""
    lines: list[str] = []
    top = HEAD
    for name, bars in groups:
        lines.append(_text(0, top + 12, name))
        lines.extend(_group(top + 20, bars))
        top += 20 + BAR * len(bars) + GAP
    head = _text(0, 16, chart.title, "title") + _text(
        0, 34, f"{chart.unit}; each group has its own scale", "unit"
    )
    size = f'viewBox="-8 0 {WIDTH + 16} {top}" width="{WIDTH + 16}" height="{top}"'
    body = "\n".join([f"<style>{STYLE}</style>", head, *lines])
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img">\n{body}\n</svg>\n'


def _group(top: int, bars: dict[str, float]) -> Iterator[str]:
    scale = (WIDTH - LABELS - VALUES) / max(bars.values())
    for row, (name, value) in enumerate(bars.items()):
        y = top + row * BAR
        width = max(1, value * scale)
        yield _text(16, y + 11, name)
        yield f'<rect x="{LABELS}" y="{y}" width="{width:.0f}" height="{BAR - 4}" fill="{COLOURS[name]}"/>'
        yield _text(LABELS + round(width) + 6, y + 11, _figure(value))


def _text(x: int, y: int, text: str, style: str = "") -> str:
    attribute = f' class="{style}"' if style else ""
    return f'<text x="{x}" y="{y}"{attribute}>{escape(text)}</text>'


def _figure(value: float) -> str:
    """Three digits: more is noise."""
    return f"{float(f'{value:.3g}'):,g}" if value < 1e6 else f"{value:,.0f}"


if __name__ == "__main__":
    main()
