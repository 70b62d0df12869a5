"""`charts.py DIRECTORY`: draws the results of the suites in DIRECTORY, each chart beside its results.

Runs in the environment of `benchmarks/peers.txt`, which has the plotting library.
"""

# pyright: basic, reportMissingImports=false

import json
import sys
from pathlib import Path

import matplotlib as mpl

mpl.use("svg")
# Text stays text, and the same figures give the same file.
mpl.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "charts", "font.family": "sans-serif"})

from matplotlib import pyplot as plt  # noqa: E402  (after the choice of the backend)

REPEATED = ["CountMessages, 2 x 100 B", "CountMessages, 20 x 400 B", "CountMessages, 200 x 1000 B"]
ESTIMATE = "EstimateConversation, base + 400 B"
CPU, RATE = "µs of server CPU per call", "calls per second"
COUNT = "A count of "

CHARTS = {
    "serving_cpu": ("serving", CPU, [*REPEATED, ESTIMATE]),
    "serving_cpu_new": ("serving", CPU, [f"{name}, new" for name in REPEATED]),
    "serving_rate": ("serving", RATE, [*REPEATED, ESTIMATE]),
    "serving_latency": ("serving", "ms, p99", [f"{name}, at half of the highest rate" for name in REPEATED]),
    "alternatives": (
        "alternatives",
        "ms, p50",
        [
            f"{COUNT}{size}, {state}"
            for size in ("20 x 400 B", "200 x 1000 B")
            for state in ("new", "repeated")
        ],
    ),
}
"""For each file the suite, the unit, and the names of the results, which have a panel each."""

COLOURS = {
    "native": "#0b6e4f",
    "native, by the Python client": "#6fae98",
    "tonic echo": "#c9ced6",
    "grpcio": "#00798c",
    "grpcio echo": "#8d99ae",
    "tiktoken": "#edae49",
    "litellm": "#d1495b",
    "litellm proxy": "#8f2d3f",
}


def main() -> None:
    directory = Path(sys.argv[1])
    for file, (suite, unit, names) in CHARTS.items():
        found = {
            (one["name"], one["unit"]): one for one in json.loads((directory / f"{suite}.json").read_text())
        }
        draw(directory / f"{file}.svg", unit, [found[name, unit] for name in names])


def draw(target: Path, unit: str, results: list[dict]) -> None:
    """A panel of bars for each result, on a scale of its own."""
    rows = len(results[0]["peers"]) + 1
    figure, panels = plt.subplots(
        len(results), figsize=(8, 0.24 * rows * len(results) + 0.9), layout="constrained"
    )
    for axes, result in zip(panels, results, strict=True):
        bars = {"native": result["value"], **result["peers"]}
        drawn = axes.barh(list(bars), list(bars.values()), color=[COLOURS[name] for name in bars], height=0.7)
        axes.bar_label(
            drawn, [f"{float(f'{value:.3g}'):,g}" for value in bars.values()], padding=4, fontsize=8
        )
        axes.set_title(result["name"], loc="left", fontsize=9)
        axes.invert_yaxis()
        axes.set_xlim(0, 1.12 * max(bars.values()))
        axes.set_xticks([])
        axes.spines[["top", "right", "bottom"]].set_visible(False)
        axes.tick_params(axis="y", length=0, labelsize=8)
    figure.supxlabel(f"{unit} (each panel has its own scale)", fontsize=8)
    figure.savefig(target, metadata={"Date": None, "Creator": None})
    plt.close(figure)


if __name__ == "__main__":
    main()
