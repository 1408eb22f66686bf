"""Writes the features of a PyTorch model to disk while your own loop runs, and measures their collapse.

    import collapse_tap
    with collapse_tap.Tap(model, "out/features") as tap:
        for x, y in loader:
            model(x)
            tap.labels(y)
    print(collapse_tap.measure("out/features")["measures"]["nc1_pinv"])

Put this directory's parent on PYTHONPATH; there is nothing to install. numpy is needed; torch only where
a model is tapped; the `collapse` program only for `measure`.

Open tap.py for the hooks; products.py, heads.py and proof.py for how the classifier is found and proved, and refusal.py
for what is said where it is not; folders.py, shards.py and rows.py for the files; command.py for the call of
`collapse measure`.
"""

from .command import MeasureError, capture_info, find_binary, measure
from .errors import ClassifierError
from .shards import ShardWriter
from .tap import Tap

__all__ = ["ClassifierError", "MeasureError", "ShardWriter", "Tap", "capture_info", "find_binary", "measure"]
