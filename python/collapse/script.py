"""A script's side of a run of the lab: settings in, epochs, features and checkpoints out.

    run = collapse.run()                                  # outside a lab: defaults, and nothing is written
    lr = run.setting("lr", 0.1)
    for epoch in run.epochs(100):
        train(...)
        with run.tap(model, epoch) as tap: ...            # features, which the lab measures
        with run.checkpoint(epoch) as folder: torch.save(..., folder + "/state.pt")
        run.report(epoch, {"test/loss": loss})
    run.done()                                            # or: with collapse.run() as run: ..., which says it at the end

docs/trainers.md describes the underlying files, which any language can read and write. Only `tap` imports torch.
"""

import collections.abc
import contextlib
import json
import math
import os
import shutil
import sys
import sysconfig
import tempfile
import time

FORMAT = "collapse-script 1"

_STATE = "run.state"  # among what was never asked for: checkpoints are saved, and never read

_STALE = 60.0  # seconds without a heartbeat after which the lab counts as dead
_LISTEN = 10.0  # seconds to wait for another heartbeat before leaving: a living lab writes one every two
_MOST_UNREAD = 2  # captures that may wait for the lab
_MOST_TOLD = 1000  # modules in one report
_WAIT = 0.05  # seconds between checks of what the lab has read


class Left(SystemExit):
    """The run no longer belongs to this process: the lab has ended, or has given the run to another process."""


def run():
    """The run for which the lab started this script, or a stand-in outside a lab."""
    path = os.environ.get("COLLAPSE_RUN")
    if not path:
        return NoRun()
    with open(path) as f:
        info = json.load(f)
    if info.get("format") != FORMAT:
        raise ValueError("collapse: %r has the format %r, and this package reads %r; use the package of the program's version"
                         % (path, info.get("format"), FORMAT))
    return Run(path, info)


class NoRun:
    """Outside a lab: settings have their defaults, and nothing is written or reported."""

    info = None
    from_epoch = 0
    state = None  # folder of the checkpoint to continue from: whoever saves checkpoints has to read it

    def setting(self, name, default=None):
        """The study's value of a setting, or the default. The seed from a study's `seeds` is the setting "seed"."""
        return default

    @property
    def settings(self):
        """The study's settings by name, with "seed" where the study gives seeds; empty outside a lab."""
        return {}

    @property
    def seed(self):
        """The seed from the study's `seeds`; None without one."""
        return self.setting("seed")

    def horizon(self, default=None):
        """The length of the whole run, for schedules: in a search the length of the longest trial, even if this one ends earlier."""
        return default

    def epochs(self, default=None):
        """The epochs to train: after from_epoch, up to the study's number; 1 to default outside a lab."""
        if default is None:
            raise ValueError("collapse: outside a lab the number of epochs is not known; write run.epochs(100) with the number wanted")
        return range(1, default + 1)

    @contextlib.contextmanager
    def tap(self, model, epoch, split="train", **options):
        """Captures features as collapse.Tap does, with the same options, for the lab to measure with the report of the epoch.

        Of a model whose outputs hold NaN or infinity nothing is captured, and the script goes on.
        """
        yield _NoTap()

    @contextlib.contextmanager
    def checkpoint(self, epoch):
        """A folder for what is needed to continue; it gets its name when the block ends without an error. Outside a lab it is temporary."""
        with tempfile.TemporaryDirectory() as folder:
            yield folder

    def report(self, epoch, values):
        """Reports the numbers of an epoch to the lab, such as {"test/loss": 0.3}. Epochs must increase; the last one must be reported."""

    def done(self):
        """Tells the lab that the run is complete."""

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        """A block that ends without an error ends with done()."""
        if kind is None:
            self.done()


class _NoTap:
    def labels(self, *arguments, **options):
        pass


class _Settings(collections.abc.Mapping):
    """The settings of a run, of which it notes who is asked for: whoever looks through them asks for all."""

    def __init__(self, run):
        self._run = run
        seed = run._info.get("seed")
        self._names = list(run._info["settings"]) + ["seed"] * (seed is not None and "seed" not in run._info["settings"])

    def __getitem__(self, name):
        if name not in self._names:
            raise KeyError(name)
        return self._run.setting(name)

    def __iter__(self):
        return iter(self._names)

    def __len__(self):
        return len(self._names)

    def __repr__(self):
        return repr(dict(self))


class Run(NoRun):
    """A run of the lab."""

    def __init__(self, path, info):
        self._info, self._path = info, path
        self.from_epoch = info["from_epoch"]
        self._state, self._continues = info.get("checkpoint") or None, not info.get("checkpoint")
        self._captured = {}  # split -> folder, since the last report
        self._unread = []  # folders that the lab has not removed yet
        self._asked = set()
        self._saved = self._looked = False  # a checkpoint; whether there was one to go on from
        self._done = False
        self._home, self._seen = os.path.realpath(os.getcwd()), set()
        self._told = set()

    @property
    def info(self):
        """What the lab wrote into run.json: whoever reads it has all settings."""
        self._asked.update(self._info["settings"], ["seed"])
        return self._info

    @property
    def state(self):
        self._continues = self._looked = True
        return self._state

    def setting(self, name, default=None):
        self._asked.add(name)
        if name == "seed" and name not in self._info["settings"] and self._info.get("seed") is not None:
            return self._info["seed"]
        return self._info["settings"].get(name, default)

    @property
    def settings(self):
        return _Settings(self)

    def horizon(self, default=None):
        return self._info["horizon"]

    def epochs(self, default=None):
        if default is not None and default not in (self._info["epochs"], self._info["horizon"]):
            print("collapse: run.epochs(%d), and the lab's run is made for %d epochs (run.json: horizon): a schedule for %d would be another one"
                  % (default, self._info["horizon"], default), file=sys.stderr)
        return range(self.from_epoch + 1, self._info["epochs"] + 1)

    @contextlib.contextmanager
    def tap(self, model, epoch, split="train", **options):
        if split not in ("train", "test", "ood"):
            raise ValueError("collapse: split is %r; it must be train, test or ood" % (split,))
        if split in self._captured:
            raise ValueError("collapse: %s features were captured twice before run.report; each epoch has one capture of a split" % split)
        self._wait_for_room()
        from .runtap import RunTap
        folder = os.path.join(self._info["captures"], "%d-%s" % (epoch, split))
        with RunTap(model, folder, labelled=options.pop("labelled", split != "ood"), **options) as tap:
            yield tap
        if tap.diverged:
            print("collapse: epoch %d: the model returns NaN or infinity; no %s features are taken" % (epoch, split), file=sys.stderr)
            return
        self._captured[split] = folder

    @contextlib.contextmanager
    def checkpoint(self, epoch):
        folder = os.path.join(self._info["dir"], "ckpt")
        new = os.path.join(folder, ".tmp")
        shutil.rmtree(new, ignore_errors=True)
        os.makedirs(new)
        yield new
        _sync(new)
        self._stay()
        self._saved = True
        final = os.path.join(folder, str(epoch))
        shutil.rmtree(final, ignore_errors=True)
        os.rename(new, final)

    def report(self, epoch, values):
        if not self._continues:
            raise RuntimeError("collapse: the run goes on after epoch %d, and nothing has read run.state, the folder of its checkpoint: "
                               "load it before training, or the numbers are of a model that began anew" % self.from_epoch)
        self._stay()
        whole = int(epoch)
        if whole != epoch:
            raise ValueError("collapse: report: the epoch is %r; a whole number is wanted" % (epoch,))
        event = {"epoch": whole, "values": {name: _plain(name, x) for name, x in values.items()}, "features": self._captured}
        loaded = self._loaded()
        self._say(dict(event, loaded=loaded) if loaded else event)
        if self._captured:
            self._unread.append(list(self._captured.values()))
        self._captured = {}
        self._wait_for_room()

    def done(self):
        if self._done:
            return
        self._done = True
        self._stay()
        given = set(self._info["settings"]) | ({"seed"} if self._info.get("seed") is not None else set())
        idle = sorted(given - self._asked)
        if self._saved and not self._looked:
            idle.append(_STATE)
        self._say({"done": True, "unasked": idle} if idle else {"done": True})

    def _say(self, event):
        line = json.dumps(dict(event, generation=self._info["generation"]), allow_nan=False) + "\n"
        with open(self._info["events"], "a") as f:
            f.write(line)

    def _loaded(self):
        """The user's own modules that were imported since the last report: the lab looks whether they are those of the study and have changed
        meanwhile. Paths are relative to the script's folder, and absolute for what PYTHONPATH, sys.path or an editable install brought in.
        """
        new = set(sys.modules) - self._seen
        self._seen |= new
        files = {_own(name, self._home) for name in new} - {None} - self._told
        told = sorted(os.path.relpath(f, self._home) if f.startswith(self._home + os.sep) else f for f in files)[:_MOST_TOLD]
        self._told |= files
        return told

    def _wait_for_room(self):
        """Waits while two captures are unread; the lab removes a capture once it has measured it."""
        while True:
            self._unread = [folders for folders in self._unread if any(map(os.path.exists, folders))]
            if len(self._unread) < _MOST_UNREAD:
                return
            self._stay()
            time.sleep(_WAIT)

    def _stay(self):
        """Raises Left if the lab has ended or another process has the run.

        A heartbeat looks old too when the machine has slept or its clock was set: a lab that is alive writes another one soon.
        """
        heard = self._heard()
        silence = time.time() - heard
        if abs(silence) <= _STALE:
            return
        end = time.monotonic() + _LISTEN
        while time.monotonic() < end:
            time.sleep(_WAIT)
            if self._heard() != heard:
                return
        raise Left("collapse: the lab has not been heard of for %.0f seconds" % silence)

    def _heard(self):
        """The time of the lab's last heartbeat; raises Left if the run is no longer this process's."""
        try:
            heard = os.stat(self._info["heartbeat"]).st_mtime
            with open(self._path) as f:
                generation = json.load(f)["generation"]
        except (OSError, ValueError, KeyError, TypeError):
            raise Left("collapse: the lab has ended this run") from None
        if generation != self._info["generation"]:
            raise Left("collapse: another process has this run now")
        return heard


_INSTALLED = {"site-packages", "dist-packages"}
_LIBRARIES = tuple({os.path.realpath(sysconfig.get_path(name)) + os.sep for name in ("stdlib", "platstdlib")}
                   | {os.path.dirname(os.path.realpath(__file__)) + os.sep})


def _own(name, home):
    """The file of a loaded module: any below home, a folder; elsewhere, without links, a source that is not installed. None for others, and
    for parts of an installed package, wherever they say that they lie: what torch.compile writes calls itself a part of torch.
    """
    file = _file(name)
    if file is None or name in ("sitecustomize", "usercustomize") or os.path.realpath(file).startswith(_LIBRARIES):
        return None
    if file.startswith(home + os.sep) and os.pardir not in file.split(os.sep):
        return None if _INSTALLED & set(file[len(home):].split(os.sep)) else file
    for path in filter(None, (_file(name.split(".")[0]), file)):
        real = os.path.realpath(path)
        if not real.endswith(".py") or _INSTALLED & set(real.split(os.sep)) or real.startswith(_LIBRARIES):
            return None
    return os.path.realpath(file)


def _file(name):
    """The absolute path of a loaded module's file, or None. Looking must not load a lazy module, nor raise what it raises."""
    try:
        file = object.__getattribute__(sys.modules[name], "__dict__").get("__file__")
    except Exception:
        return None
    return file if isinstance(file, str) and os.path.isabs(file) else None


def _plain(name, x):
    """A number for JSON: one-element tensors and arrays count as numbers, None is a missing value, and non-finite ones become words."""
    if x is None:
        return None
    try:
        if isinstance(x, (str, bytes)):
            raise TypeError
        x = float(x)
    except (TypeError, ValueError):
        raise TypeError("collapse: the value %r is %.60r; report one number, or None where there is none" % (name, x)) from None
    return x if math.isfinite(x) else "NaN" if x != x else "Infinity" if x > 0 else "-Infinity"


def _sync(folder):
    """Makes the files of a checkpoint durable before it gets its name."""
    for base, _, names in os.walk(folder):
        for name in names:
            with open(os.path.join(base, name), "rb") as f:
                os.fsync(f.fileno())
