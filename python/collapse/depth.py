"""Neural collapse layer by layer, in one call."""

import shutil
import tempfile

from .command import call, find_binary
from .result import PROPERTIES, Result

_DRAWN = (PROPERTIES["NC1"], "nc1_trace_ratio", PROPERTIES["NC2"], "ncc_accuracy")


class Depth(dict):
    """Results by layer name, in the order in which the model runs; the last one is "features", the classifier's input."""

    binary = None  # of the program that measured them, and draws them

    def curve(self, key):
        """(layers, numbers) for a measure, where it has a value."""
        found = [(name, r["measures"][key]) for name, r in self.items() if key in r["measures"]]
        return [name for name, _ in found], [x for _, x in found]

    def plot(self, file=None, measures=None):
        """Draws measures over depth: a matplotlib figure if matplotlib is installed, else SVG text; saved to file if one is given."""
        from .drawing import draw
        names = list(self)
        curves = []
        for key in measures or [key for key in _DRAWN if self.curve(key)[0]]:
            layers, numbers = self.curve(key)
            curves.append((key, [names.index(layer) for layer in layers], numbers))
        return draw(curves, "layer", file, names, self.binary)


def measure_layers(model, batches, layers=None, *, pool="mean", keep="features", folder=None, binary=None, arguments=(), **tap):
    """Runs a model over batches (x, y), in eval mode and without gradients, and measures the output of every layer and the classifier's input.

    layers  names of modules, in any order; None: the model's children that run before the classifier. pool, keep and other options are those of Tap.
    folder  where to keep the capture; None: it is removed. measures, null, ignore_index and other options of measure() that are flags go there.
    """
    import torch

    from .measuring import FLAG_OPTIONS, measure_flags
    from .tap import Tap
    ignored = tap.get("ignore_index")
    flags = measure_flags(**{name: tap.pop(name) for name in list(tap) if name in FLAG_OPTIONS})
    kept = folder is not None
    parent = None if kept else tempfile.mkdtemp(prefix="collapse-")
    folder = folder if kept else parent + "/capture"
    modes = {module: module.training for module in model.modules()}
    try:
        model.eval()
        with torch.no_grad(), Tap(model, folder, layers=_children(model) if layers is None else list(layers), pool=pool, keep=keep, **tap) as capture:
            for x, y in batches:
                model(x)
                capture.labels(y, ignore_index=ignored)
        document = call([find_binary(binary), "measure", "--json", folder, "--layers", "*"] + flags + list(arguments))
    finally:
        for module, training in modes.items():
            module.training = training
        if not kept:
            shutil.rmtree(parent, ignore_errors=True)
    shared = {"labels": document["labels"]} if "labels" in document else {}
    depth = Depth((column["layer"], Result(column, **shared)) for column in document["layers"])
    depth[document["layers"][-1]["layer"]]["finding"] = document["finding"]  # it is of the last
    depth.binary = binary
    return depth


def _children(model):
    """The children that compute anything, without the last, which is or contains the classifier."""
    names = [name for name, child in model.named_children() if any(True for _ in child.parameters())]
    if len(names) < 2:
        raise ValueError("collapse: the model has no children before its classifier; pass layers=[names of modules], such as %s"
                         % [name for name, _ in model.named_modules() if name][:6])
    return names[:-1]
