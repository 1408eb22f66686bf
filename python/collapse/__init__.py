"""Measures the collapse of features: of arrays in memory, or of what a PyTorch model's own loop writes to disk.

    import collapse
    print(collapse.measure(H, y, W, b).nc1_pinv)

    with collapse.Tap(model, "out/features") as tap:
        for x, y in loader:
            model(x)
            tap.labels(y)
    print(collapse.measure("out/features")["measures"]["nc1_pinv"])

Install the wheel, or put this directory's parent on PYTHONPATH. numpy is required; torch only for tapping
a model; the `collapse` program, which is part of the wheel, only for measuring.

See measuring.py for measure(): arrays.py prepares arrays for the program, arena.py is the memory that passes them on, helper.py the
process that measures them, result.py the result, command.py the measurement of a Tap's folder, _program.py the program in a wheel. See
tap.py for the hooks; products.py, heads.py and proof.py for how the classifier is found and proved, and refusal.py for the message if it
is not; folders.py, shards.py and rows.py for the files. history.py keeps numbers over epochs, with loggers.py and drawing.py; depth.py
measures layer by layer; callbacks/ is for trainers; script.py for a script that is a run of the lab. engine/ is separate: it computes
`collapse train` with torch.
"""

import importlib

# Names are imported on first use: collapse.engine must be able to start without numpy and torch, to report that they are missing.
_HOMES = {"ClassifierError": "errors", "Depth": "depth", "History": "history", "Left": "script", "MeasureError": "command", "Result": "result",
          "ShardWriter": "shards", "Tap": "tap", "capture_info": "command", "close": "helper", "find_binary": "command", "judge": "command", "measure": "measuring",
          "measure_layers": "depth", "run": "script"}
__all__ = sorted(_HOMES)


def __dir__():
    return sorted(set(globals()) | set(__all__) | {"__version__"})


def __getattr__(name):
    if name == "__version__":
        return _version()
    if name not in _HOMES:
        raise AttributeError("module %r has no attribute %r" % (__name__, name))
    value = globals()[name] = getattr(importlib.import_module("." + _HOMES[name], __name__), name)
    return value


def _version():
    """The version of the wheel; a checkout has none."""
    from importlib import metadata
    try:
        return metadata.version("collapse-lab")
    except metadata.PackageNotFoundError:
        return "0+checkout"
