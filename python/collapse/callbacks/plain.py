"""Measures one epoch, in any loop; the callbacks are built on it."""

import os
import shutil
import tempfile

from ..command import call, find_binary, measure
from ..history import History
from ..measuring import FLAG_OPTIONS, measure_flags
from ..result import PROPERTIES, Result


class Meter:
    """Runs a model over a loader in eval mode, without gradients, and measures the classifier's input.

        meter = collapse.callbacks.Meter(loader, "out/resnet")
        for epoch in range(1, 101):
            train(...)
            meter(model, epoch, loss=loss)

    loader   batches (x, y) of the train samples, or a function that returns an iterator of batches.
    history  a History, or its folder.
    every    measure every this many epochs, and the first.
    split    batch -> (arguments for the model, labels): a dict means named arguments, a tuple several. Default: (x, y).
    ignore_index  a label whose rows are left out, or a list of them.
    keep     "states" keeps sums instead of features, which several processes require; None: states with several processes, features with one.
    batches  the largest number of batches; None: all.
    rank, world, barrier  for distributed training: each process contributes its own batches, rank 0 merges. Folders are inside `folder`,
             which all processes must see; None: a temporary folder with one process, the history's with several.
    options  measures, classes, null and other options of measure() that are flags; arguments: more flags, as on the command line.
    """

    def __init__(self, loader, history=None, *, every=1, split=None, ignore_index=None, keep=None, batches=None, tap=None, rank=0, world=1,
                 barrier=None, folder=None, binary=None, arguments=(), **options):
        unknown = sorted(set(options) - set(FLAG_OPTIONS))
        if unknown:
            raise TypeError("collapse: there is no option %r; options of measure() that go here are %s" % (unknown[0], ", ".join(FLAG_OPTIONS)))
        self.history = history if isinstance(history, History) else History(history)
        if every < 1:
            raise ValueError("collapse: every is %r; 1 or more is wanted" % (every,))
        if world > 1 and keep == "features":
            raise ValueError("collapse: several processes need keep='states': features of one process are a part of the samples")
        if world > 1 and barrier is None:
            raise ValueError("collapse: several processes need a barrier; pass barrier=torch.distributed.barrier")
        self.loader, self.every, self.split, self.ignore_index = loader, every, split or _pair, ignore_index
        self.keep, self.batches, self.tap = keep, batches, dict(tap or {})
        self.rank, self.world, self.barrier = rank, world, barrier or (lambda: None)
        self.folder, self.binary, self.arguments = folder or (self.history.folder if world > 1 else None), binary, measure_flags(**options) + list(arguments)
        if world > 1 and self.folder is None:
            raise ValueError("collapse: several processes need a folder that all of them see; pass folder=")

    def due(self, epoch):
        return epoch <= 1 or epoch % self.every == 0

    def __call__(self, model, epoch, **values):
        """The Result of the epoch, which is then in the history, with `values`; None if no measurement is due, or on ranks other than 0."""
        if not self.due(epoch):
            if values and self.rank == 0:
                self.history.add(epoch, **values)
            return None
        parent = os.path.join(self.folder, "measuring") if self.folder else tempfile.mkdtemp(prefix="collapse-")
        ranks = [os.path.join(parent, "rank-%d" % rank) for rank in range(self.world)]
        try:
            if os.path.isdir(ranks[self.rank]):  # left by a killed process
                shutil.rmtree(ranks[self.rank])
            self._capture(model, ranks[self.rank])
            self.barrier()
            result = self._measure(ranks) if self.rank == 0 else None
            self.barrier()
        finally:
            shutil.rmtree(ranks[self.rank] if self.folder else parent, ignore_errors=True)
        if result is not None:
            self.history.add(epoch, result, **values)
        return result

    def _capture(self, model, folder):
        import torch

        from ..tap import Tap
        model = model.module if type(model).__name__ in ("DistributedDataParallel", "DataParallel") else model
        device = next((p.device for p in model.parameters()), torch.device("cpu"))
        modes = {module: module.training for module in model.modules()}
        keep = self.keep or ("states" if self.world > 1 else "features")
        try:
            model.eval()
            with torch.no_grad(), Tap(model, folder, keep=keep, **self.tap) as tap:
                for i, batch in enumerate(self.loader() if callable(self.loader) else self.loader):
                    if self.batches is not None and i >= self.batches:
                        break
                    inputs, y = self.split(moved(batch, device))
                    if isinstance(inputs, dict):
                        model(**inputs)
                    else:
                        model(*(inputs if isinstance(inputs, tuple) else (inputs,)))
                    tap.labels(y, ignore_index=self.ignore_index)
        finally:
            for module, training in modes.items():
                module.training = training

    def _measure(self, ranks):
        if len(ranks) == 1:
            return Result(measure(ranks[0], binary=self.binary, arguments=self.arguments))
        return Result(call([find_binary(self.binary), "measure", "--json"] + self.arguments + ranks))


def _pair(batch):
    if not (isinstance(batch, (tuple, list)) and len(batch) == 2):
        raise TypeError("collapse: a batch is a %s; (x, y) is wanted, or split=function of a batch that returns inputs and labels" % type(batch).__name__)
    return batch[0], batch[1]


def moved(batch, device):
    """The batch with its tensors on a device."""
    if hasattr(batch, "to") and hasattr(batch, "detach"):
        return batch.to(device)
    if isinstance(batch, dict) or hasattr(batch, "keys"):
        return {key: moved(batch[key], device) for key in batch.keys()}
    if isinstance(batch, (tuple, list)):
        return tuple(moved(x, device) for x in batch)
    return batch


def headline(result):
    """The numbers for a trainer's own log."""
    return {"collapse/" + key: result["measures"][key] for key in (*PROPERTIES.values(), "accuracy") if key in result["measures"]}
