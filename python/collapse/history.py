"""Numbers over epochs: kept in a file, drawn, logged, and recorded in a lab."""

import json
import math
import os
import tempfile

from .command import call, find_binary
from .result import PROPERTIES
from .rows import array_of

_FILE = "history.jsonl"
# The measures worth a curve: the rest is in the result itself, and in history.results if keep=True.
_USUAL = (*PROPERTIES.values(), "accuracy", "test_accuracy", "test_nc1_trace_ratio")


class History:
    """Numbers by epoch.

        history = collapse.History("out/resnet")
        history.log_to("tensorboard", "runs/resnet")
        for epoch in range(1, 101):
            ...
            history.add(epoch, collapse.measure(H, y, W, b), loss=loss)
        history.plot("curves.svg")

    folder  where to keep it, line by line in FOLDER/history.jsonl, which the next History of the folder reads again; None: only in memory.
    lab     the folder of a lab, in which record() keeps the run under the given name (default: the folder's name).
    """

    def __init__(self, folder=None, *, lab=None, name=None, binary=None):
        self.epochs = []  # (epoch, {"train/nc1_pinv": number, ...}), epochs increasing
        self._loggers, self._binary, self._temporary = [], binary, None
        self.folder = None if folder is None else os.fspath(folder)
        self.lab, self.name = lab, name or (os.path.basename(os.path.abspath(self.folder)) if self.folder else None)
        if lab is not None and not self.name:
            raise ValueError("collapse: a run of a lab needs a name; pass History(lab=..., name=\"resnet\")")
        if self.folder is not None:
            os.makedirs(self.folder, exist_ok=True)
            self._read()

    @property
    def path(self):
        return None if self.folder is None else os.path.join(self.folder, _FILE)

    def add(self, epoch, result=None, split="train", **values):
        """Adds an epoch, or more numbers of the last one: all measures of a result, as split/key, and values by name (test_loss=…, or
        **{"test/loss": …}). New names are added to the last epoch. If a name is there already, or the epoch is an earlier one, as
        after resuming from a checkpoint, that epoch is replaced by these numbers and all later epochs are dropped."""
        epoch = int(epoch)
        numbers = {}
        if result is not None and "measures" not in result:
            raise TypeError("collapse: History.add takes what measure() returns; numbers of your own go by name: add(%d, **{\"test/loss\": 0.5})" % epoch)
        for key, x in {} if result is None else result["measures"].items():
            numbers[_filed(split, key)] = float(x)
        numbers.update({key: _number(key, x) for key, x in values.items() if x is not None})  # None: not measured
        if self.epochs and self.epochs[-1][0] == epoch and not set(numbers) & set(self.epochs[-1][1]):
            self.epochs[-1][1].update(numbers)
            self._write_all()
        elif self.epochs and self.epochs[-1][0] >= epoch:
            self.epochs = [entry for entry in self.epochs if entry[0] < epoch] + [(epoch, numbers)]
            self._write_all()
        else:
            self.epochs.append((epoch, numbers))
            if self.path:
                with open(self.path, "a") as f:
                    f.write(_line(epoch, numbers))
        for log in self._loggers:
            log(epoch, numbers)
        return self

    def names(self):
        return sorted({name for _, numbers in self.epochs for name in numbers})

    def curve(self, name):
        """(epochs, numbers) for one name."""
        found = [(epoch, numbers[name]) for epoch, numbers in self.epochs if name in numbers]
        if not found:
            import difflib
            raise KeyError("collapse: the history has no %r; near: %s" % (name, ", ".join(difflib.get_close_matches(name, self.names(), 5, .3)) or "nothing"))
        return [e for e, _ in found], [x for _, x in found]

    def rows(self):
        return [dict(numbers, epoch=epoch) for epoch, numbers in self.epochs]

    def frame(self):
        """A pandas.DataFrame with one row per epoch."""
        try:
            import pandas
        except ImportError:
            raise ImportError("collapse: frame() needs pandas, which is not installed; rows() gives the same as dicts") from None
        return pandas.DataFrame(self.rows()).set_index("epoch")

    def log_to(self, logger, *arguments, **options):
        """Passes the numbers of each epoch added from now on to "tensorboard", "wandb", "mlflow" or a function (epoch, numbers).

        tensorboard takes the arguments of torch.utils.tensorboard.SummaryWriter, or such a writer; wandb takes a run, or the arguments
        of wandb.init; mlflow logs to its active run.
        """
        from .loggers import logger_of
        self._loggers.append(logger_of(logger, arguments, options))
        return self

    def plot(self, file=None, names=None, axis="epoch"):
        """Draws curves over epochs: a matplotlib figure if matplotlib is installed, else SVG text from the program. If file is given, either is saved
        there.

        names: by default the main measures and everything that was added by name.
        """
        from .drawing import draw
        if not self.epochs:
            raise ValueError("collapse: the history has no epoch to draw")
        if names is None:
            known = self.names()
            names = [n for n in known if n.rpartition("/")[2] in _USUAL and any(x > 0 for x in self.curve(n)[1])] or known[:12]
        return draw([(name,) + self.curve(name) for name in names], axis, file, binary=self._binary)

    def _repr_html_(self):
        from .drawing import svg
        names = [n for n in self.names() if n.rpartition("/")[2] in _USUAL] or self.names()[:12]
        return svg([(name,) + self.curve(name) for name in names], "epoch", binary=self._binary) if self.epochs else "<p>no epoch</p>"

    def record(self):
        """Stores the history in the lab as a run of its name, replacing an older one; `collapse serve`, `report` and `export` show it.
        Returns the run's hash."""
        if self.lab is None:
            raise ValueError("collapse: this history has no lab; pass History(folder, lab=\"lab\")")
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, _FILE)
            with open(path, "w") as f:
                f.writelines(_line(*entry) for entry in self.epochs)
            return call([find_binary(self._binary), "--lab", os.fspath(self.lab), "--json", "runs", "add", self.name, path])["run"]

    def _read(self):
        try:
            with open(self.path) as f:
                lines = f.read().split("\n")
        except FileNotFoundError:
            return
        torn = lines.pop()  # a killed process leaves half a line
        for n, line in enumerate(lines, 1):
            try:
                entry = json.loads(line)
                self.epochs.append((int(entry["epoch"]), {name: float(x) for name, x in entry["values"].items()}))
            except (ValueError, KeyError, TypeError) as e:
                raise ValueError("collapse: %s, line %d is not an entry of a history (%r); repair the file or use another folder" % (self.path, n, e)) from None
        if torn:
            self._write_all()

    def _write_all(self):
        if self.path:
            with open(self.path + ".part", "w") as f:
                f.writelines(_line(*entry) for entry in self.epochs)
            os.replace(self.path + ".part", self.path)


def _filed(split, key):
    """The lab's name for a measure: measures of test samples are filed under test."""
    of_test = {"test_accuracy": "accuracy", "dilation": "dilation"}
    return "test/" + of_test[key] if key in of_test else "%s/%s" % (split, key)


def _number(key, x):
    array = array_of(x)
    if array.size != 1 or array.dtype.kind not in "biuf":
        raise TypeError("collapse: %s is %r; one number is wanted" % (key, x))
    return float(array.reshape(-1)[0])


def _line(epoch, numbers):
    plain = {name: x if math.isfinite(x) else "NaN" if x != x else "Infinity" if x > 0 else "-Infinity" for name, x in numbers.items()}
    return json.dumps({"epoch": epoch, "values": plain}, allow_nan=False) + "\n"
