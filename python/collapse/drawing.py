"""Draws curves, one panel each, with matplotlib if it is installed, else as SVG with the program (`collapse draw`)."""

import json
import math
import subprocess

from .command import MeasureError, find_binary
from .result import PROPERTIES

_ACROSS = 3
_TITLES = {
    **{key: name for name, key in PROPERTIES.items()}, "nc1_trace_ratio": "NC1, trace ratio", "nc2_rank_d": "NC2 of rank d", "nc5_ood": "NC5",
    "ncc_accuracy": "accuracy by nearest mean", "test_accuracy": "test accuracy", "memorization_normalised": "memorization, normalised",
    "ood_auroc_energy": "AUROC, energy", "ood_auroc_max_logit": "AUROC, largest logit", "ood_auroc_msp": "AUROC, largest probability",
    "ood_auroc_neco": "AUROC, NECO", "accuracy": "accuracy", "dilation": "dilation"}
_ROOM = 40  # characters that stand side by side below a panel


def draw(curves, axis, file=None, ticks=None, binary=None):
    """curves: (name, x, y). A matplotlib figure or SVG text, saved to file if one is given."""
    try:
        import matplotlib.figure
    except ImportError:
        if file is not None and not str(file).endswith(".svg"):
            raise ImportError("collapse: without matplotlib pictures are SVG; name a file that ends in .svg, not %r" % (str(file),)) from None
        text = svg(curves, axis, ticks, binary)
        if file is not None:
            with open(file, "w", encoding="utf-8") as f:
                f.write(text)
        return text
    across = min(_ACROSS, len(curves))
    down = -(-len(curves) // across)
    figure = matplotlib.figure.Figure(figsize=(4 * across, 2.6 * down), layout="constrained")
    for i, (name, x, y) in enumerate(curves):
        panel = figure.add_subplot(down, across, i + 1, title=_title(name), xlabel=axis, yscale="log" if _logarithmic(y) else "linear")
        panel.plot(x, y, marker="o" if len(x) < 30 else None)
        if ticks:
            panel.set_xticks(range(len(ticks)), ticks, rotation=45, ha="right")
    if file is not None:
        figure.savefig(file)
    return figure


def _title(name):
    """A curve's name for people: "train/nc1_pinv" is "NC1 (train)". What somebody has named stays as it is."""
    split, _, key = name.rpartition("/")
    if key not in _TITLES:
        return name
    return _TITLES[key] + (" (%s)" % split if split else "")


def _logarithmic(y):
    """Whether a logarithmic axis shows more: numbers are positive and span more than a factor of 20."""
    finite = [v for v in y if math.isfinite(v)]
    return bool(finite) and min(finite) > 0 and max(finite) > 20 * min(finite)


def svg(curves, axis, ticks=None, binary=None):
    """The same as SVG, drawn by the program."""
    command = [find_binary(binary), "draw"]
    done = subprocess.run(command, input=json.dumps(_figure(curves, axis, ticks), allow_nan=False).encode(), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode != 0:
        said = done.stderr.decode(errors="replace")
        raise MeasureError("collapse: `%s` failed with exit status %d:\n%s" % (" ".join(command), done.returncode, said.strip() or "(it said nothing)"),
                           done.returncode, said)
    return done.stdout.decode()


def _figure(curves, axis, ticks):
    """What the program draws: keys as in the JSON files beside the pictures of its pages."""
    below, notes = {"label": axis}, []
    if ticks:
        named = sum(map(len, ticks)) + len(ticks) <= _ROOM
        words = list(ticks) if named else [str(i + 1) for i in range(len(ticks))]
        below["ticks"] = [{"value": i, "label": word} for i, word in enumerate(words)]
        notes = [] if named else ["%s %d: %s" % (axis, i + 1, name) for i, name in enumerate(ticks)]
    panels = []
    for i, (name, x, y) in enumerate(curves):
        series = {"id": name, "kind": "line+points" if len(x) < 30 else "line", "color": 1, "x": _numbers(x), "y": _numbers(y)}
        panels.append({"id": "panel-%d" % (i + 1), "x": below, "y": {"label": _title(name), "scale": "log" if _logarithmic(y) else ""}, "series": [series]})
    return {"id": "curves", "title": "", "columns": max(1, min(_ACROSS, len(curves))), "panels": panels, "notes": notes}


def _numbers(values):
    """For JSON, which has no word for numbers that are not finite."""
    return [float(v) if math.isfinite(v) else None for v in values]
