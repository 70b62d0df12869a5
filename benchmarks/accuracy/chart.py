"""`chart.py accuracy.json SECTION accuracy.svg`: draws underestimates and errors, ours and others'.

Runs in the environment of `benchmarks/peers.txt`, which has the plotting library.
"""

# pyright: basic, reportMissingImports=false

import json
import sys
from pathlib import Path

import matplotlib as mpl

mpl.use("svg")
# Text stays text, and the same figures give the same file.
mpl.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "accuracy", "font.family": "sans-serif"})

from matplotlib import pyplot as plt  # noqa: E402  (after the choice of the backend)

OURS = "tokencount"
COLOURS = {
    OURS: "#0b6e4f",
    "LiteLLM": "#d1495b",
    "ai-tokenizer": "#edae49",
    "cookbook": "#00798c",
    "JSON / 4": "#8d99ae",
}
LEAST = 0.0005
"""The error that is drawn for 0, on a logarithmic axis."""


def main() -> None:
    source, section, target = sys.argv[1:]
    records = json.loads(Path(source).read_text())
    groups = [record for record in records if record["section"] == section][::-1]  # the first on top
    figure, (under, errors) = plt.subplots(
        1, 2, sharey=True, figsize=(10, 0.8 + 0.32 * len(groups)), layout="constrained"
    )
    for axes in (under, errors):
        axes.hlines(
            range(len(groups)), 0, 1, color="#e5e5e5", linewidth=0.8, transform=axes.get_yaxis_transform()
        )
    for name, colour in COLOURS.items():
        drawn = [(at, *points(group)[name]) for at, group in enumerate(groups) if name in points(group)]
        if drawn:
            heights, shares, medians = zip(*drawn, strict=True)
            style = {"color": colour, "s": 46 if name == OURS else 26, "zorder": 3 if name == OURS else 2}
            under.scatter([100 * share for share in shares], heights, label=name, **style)
            errors.scatter([100 * max(median, LEAST) for median in medians], heights, **style)
    under.set_yticks(range(len(groups)), [f"{group['name']} ({group['rows']:,})" for group in groups])
    under.set_xlabel("requests billed above the number to budget on, %")
    errors.set_xscale("log")
    errors.minorticks_off()
    errors.xaxis.set_major_formatter("{x:g}")
    errors.set_xlabel("median error, % (0 is drawn at 0.05)")
    for axes in (under, errors):
        axes.spines[["top", "right", "left"]].set_visible(False)
        axes.tick_params(axis="y", length=0)
    figure.legend(loc="outside upper center", ncols=len(COLOURS), frameon=False)
    figure.savefig(target, metadata={"Date": None, "Creator": None})


def points(group: dict) -> dict[str, tuple[float, float]]:
    """For each counter, the share of underestimates and the median error."""
    others = {
        name: (theirs["under_share"], theirs["median_error"]) for name, theirs in group["peers"].items()
    }
    return {**others, OURS: (group["violations"] / group["rows"], group["median_error"])}


if __name__ == "__main__":
    main()
