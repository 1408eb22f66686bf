"""Measures the collapse of features: of arrays in memory, or of what a PyTorch model's own loop writes to disk.

    import collapse
    print(collapse.measure(H, y, W, b).nc1_pinv)

    with collapse.Tap(model, "out/features") as tap:
        for x, y in loader:
            model(x)
            tap.labels(y)
    print(collapse.measure("out/features")["measures"]["nc1_pinv"])

Install the wheel, or put this directory's parent on PYTHONPATH. numpy is needed; torch only where
a model is tapped; the `collapse` program, which the wheel holds, only to measure.

Open measuring.py for measure(): arrays.py says what arrays are to the program, arena.py is the memory that hands them over, helper.py the
process that measures them, result.py what comes back, command.py the measurement of a Tap's folder, _program.py the program in a wheel. Open
tap.py for the hooks; products.py, heads.py and proof.py for how the classifier is found and proved, and refusal.py for what is said if it is not;
folders.py, shards.py and rows.py for the files. history.py keeps numbers over epochs, with loggers.py and drawing.py; depth.py measures layer by
layer; callbacks/ is for trainers; script.py for a script that is a run of the lab. engine/ is something else: `collapse train` computed by torch.
"""

import importlib

# Names are looked up when they are first used: collapse.engine must be able to start where numpy and torch are missing, and say so.
_HOMES = {"ClassifierError": "errors", "Depth": "depth", "History": "history", "Left": "script", "MeasureError": "command", "Result": "result",
          "ShardWriter": "shards", "Tap": "tap", "capture_info": "command", "close": "helper", "find_binary": "command", "measure": "measuring",
          "measure_layers": "depth", "run": "script"}
__all__ = sorted(_HOMES)


def __getattr__(name):
    if name not in _HOMES:
        raise AttributeError("module %r has no attribute %r" % (__name__, name))
    value = globals()[name] = getattr(importlib.import_module("." + _HOMES[name], __name__), name)
    return value
