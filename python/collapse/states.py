"""Moments of classes, summed on the device of the rows, and written as the program's state files.

A StateWriter takes the same batches as a ShardWriter but keeps next to no rows: for each stream it holds the count, the mean and the
scatter of every class seen so far, in float64 on the rows' own device, and the 64 rows farthest from zero. Sums are merged batch by batch with the update of
Chan, Golub & LeVeque (1979), as the program merges states, so that no large sums are subtracted. Devices without
float64 (MPS) pass their rows to the CPU.

    FOLDER/features.ncs        FOLDER/layers/NAME.ncs        first passes, docs/internal/ncs.md

Classes are label values: states of several processes are merged by value, whichever classes each has seen.
"""

import os

import numpy as np
import torch

from .folders import LABELS, STATE
from .ncs import write_state
from .rows import select

POOLED_WIDTH = 2048  # up to here the program keeps the d×d scatter that nc1_pinv needs; states merge if all keep it or none
FAR_ROWS = 64  # rows farthest from zero, kept beside the d×d scatter: under heavy tails they decide the values of shuffled labels
CHUNK = 1 << 22  # numbers of a batch that are converted to float64 at a time


class Classes:
    """Numbers label values in order of first appearance."""

    def __init__(self):
        self._slots = {}

    def __len__(self):
        return len(self._slots)

    def of(self, y):
        """(slot of each value in y, index of each row's value among them), both int64."""
        seen, at = np.unique(y, return_inverse=True)
        slots = [self._slots.setdefault(value, len(self._slots)) for value in seen.tolist()]
        return np.array(slots, np.int64), at.reshape(-1)

    def ascending(self):
        """(label values ascending, slot of each), both int64."""
        values = np.array(sorted(self._slots), np.int64)
        return values, np.array([self._slots[value] for value in values.tolist()], np.int64)


class Moments:
    """Count, mean and scatter of each class of one stream of rows (n, width), as tensors on `device`."""

    def __init__(self, width, device):
        self.width, self.device = width, device
        self.dropped, self.float32 = 0, True  # float32: whether it holds every number that came
        self.count, self.mean, self.scatter = self._zeros(0), self._zeros(0, width), self._zeros(0)
        self.spread = self._zeros(width)
        self.pooled = self._zeros(width, width) if width <= POOLED_WIDTH else None
        self.far = self._zeros(0, width) if width <= POOLED_WIDTH else None

    def _zeros(self, *shape):
        return torch.zeros(*shape, dtype=torch.float64, device=self.device)

    def grow(self, classes):
        """Makes room for this many classes and some more: the tokens of a vocabulary appear a few at a time."""
        held = len(self.count)
        if classes > held:
            room = max(classes, held + held // 2)
            self.count, self.scatter = self._longer(self.count, room), self._longer(self.scatter, room)
            self.mean = self._longer(self.mean, room, self.width)

    def _longer(self, old, *shape):
        new = self._zeros(*shape)
        new[:len(old)] = old
        return new

    def add(self, rows, slots, at):
        """Adds finite rows (n, width); row i belongs to class slots[at[i]]; slots are distinct."""
        if rows.dtype == torch.float64:
            self.float32 = self.float32 and bool((rows == rows.float().double()).all())
        h = rows.to(self.device, torch.float64)
        if self.far is not None:
            self.far = farthest(torch.cat([self.far, farthest(h)]))
        counts = torch.from_numpy(np.bincount(at, minlength=len(slots)).astype(np.float64)).to(self.device)
        slots, at = torch.from_numpy(slots).to(self.device), torch.from_numpy(at).to(self.device)
        mean = self._zeros(len(slots), self.width).index_add_(0, at, h) / counts[:, None]
        h = h - mean[at]
        squares = h.square()
        # With δ = μ_2 − μ_1: S = S_1 + S_2 + δδᵀ n_1 n_2/n, μ = μ_1 + δ n_2/n.
        before = self.count[slots]
        total = before + counts
        delta, weight = mean - self.mean[slots], (before * counts / total)[:, None]
        moved = weight * delta.square()
        self.scatter.index_add_(0, slots, self._zeros(len(slots)).index_add_(0, at, squares.sum(1)) + moved.sum(1))
        self.spread += squares.sum(0) + moved.sum(0)
        if self.pooled is not None:
            apart = weight.sqrt() * delta
            self.pooled.addmm_(h.T, h).addmm_(apart.T, apart)
        self.mean.index_add_(0, slots, delta * (counts / total)[:, None])
        self.count[slots] = total

    def finite(self):
        """Whether all sums are within the range of float64."""
        sums = [self.mean, self.scatter, self.spread] + ([] if self.pooled is None else [self.pooled])
        return all(bool(torch.isfinite(x).all()) for x in sums)


def farthest(rows):
    """The rows (at most FAR_ROWS, width) of `rows` (n, width) that are farthest from zero."""
    return rows[rows.square().sum(1).topk(min(FAR_ROWS, len(rows))).indices]


class StateWriter:
    """Sums streams of rows; close() writes a state for each.

    folder          created; if it exists, it must be empty.
    drop_nonfinite  True to leave out rows with NaN or infinity, and count them, instead of refusing them.
    """

    shards = 1

    def __init__(self, folder, drop_nonfinite=False):
        self.folder, self.drop_nonfinite = os.fspath(folder), drop_nonfinite
        self.samples, self.streams = 0, {}  # name -> (dtype, row shape), fixed by the first batch
        self._classes, self._moments, self._torn, self._closed = Classes(), {}, False, False
        os.makedirs(self.folder, exist_ok=True)
        if os.listdir(self.folder):
            raise FileExistsError("collapse: the folder %r is not empty; every capture needs a folder of its own, for example %r"
                                  % (self.folder, os.path.join(self.folder, "epoch-001")))

    def append(self, batch):
        """Adds one batch: stream name -> tensor (rows, width), and "labels" -> int64 array (rows).

        A refused batch does not count at all. If adding itself fails (the device is out of memory), the streams hold different
        samples, and nothing can be added any more.
        """
        if self._torn:
            raise RuntimeError("collapse: an earlier batch was added to some of the states only; capture again, with smaller batches if "
                               "memory was short")
        y = np.asarray(batch[LABELS], np.int64)
        rows = {name: tensor for name, tensor in batch.items() if name != LABELS}
        self._check(rows, len(y))
        kept = {name: self._finite(name, tensor) for name, tensor in rows.items()}
        self._torn = True
        with torch.no_grad(), torch.inference_mode(False):
            for name, tensor in rows.items():
                self._add(name, tensor, y, kept[name])
        self._torn = False
        self.samples += len(y)

    def describe(self, name):
        """The description of a stream in tap.json, apart from its type and module."""
        moments = self._moments[name]
        return {"state": name + STATE, "classes": len(self._classes), "dropped": moments.dropped, "pooled": moments.pooled is not None}

    def complaint(self):
        """Why the states cannot be measured; None if they can."""
        if self._torn:
            return "a batch was added to some of the states only; capture again, with smaller batches if memory was short"
        for name, moments in self._moments.items():
            if not moments.finite():
                return "sums of %r leave the range of float64; scale the model's features towards 1" % name
            if moments.dropped == self.samples:
                return "every row of %r holds NaN or infinity" % name
        return None

    def close(self):
        """Writes the states. May be called twice."""
        if self._closed:
            return
        self._closed = True
        values, slots = self._classes.ascending()
        for name, moments in self._moments.items():
            path = os.path.join(self.folder, *name.split("/")) + STATE
            os.makedirs(os.path.dirname(path), exist_ok=True)
            write_state(path, moments, values, torch.from_numpy(slots).to(moments.device))

    def _check(self, rows, n):
        for name, tensor in rows.items():
            if len(tensor) != n:
                raise ValueError("collapse: %r has %d rows, and there are %d labels" % (name, len(tensor), n))
        shapes = {name: tuple(tensor.shape[1:]) for name, tensor in rows.items()}
        if not self.streams:
            self.streams = {name: (np.dtype(str(tensor.dtype).replace("torch.", "")), shapes[name]) for name, tensor in rows.items()}
        first = {name: shape for name, (_, shape) in self.streams.items()}
        if shapes != first:
            raise ValueError("collapse: batch %s differs from the first one %s in its streams or widths" % (shapes, first))

    def _finite(self, name, tensor):
        """Which rows are finite, booleans (rows); None if all are."""
        finite = torch.isfinite(tensor).all(1)
        if bool(finite.all()):
            return None
        finite = finite.cpu().numpy()
        if not self.drop_nonfinite:
            raise ValueError("collapse: row %d of %r in this batch (sample %d) holds NaN or infinity; Tap(..., drop_nonfinite=True) leaves such "
                             "rows out" % (finite.argmin(), name, self.samples + finite.argmin()))
        return finite

    def _add(self, name, tensor, y, kept):
        if name not in self._moments:
            self._moments[name] = Moments(tensor.shape[1], device_of_sums(tensor.device))
        moments = self._moments[name]
        self._classes.of(y)  # all streams know the same classes, even if they lack rows
        if kept is not None:
            moments.dropped += len(y) - int(kept.sum())
            tensor, y = select(tensor, kept), y[kept]
        moments.grow(len(self._classes))
        step = max(1, CHUNK // tensor.shape[1])
        for start in range(0, len(y), step):
            slots, at = self._classes.of(y[start:start + step])
            moments.add(tensor[start:start + step], slots, at)


def device_of_sums(device):
    """The device itself, or the CPU if it has no float64."""
    try:
        torch.zeros(1, dtype=torch.float64, device=device)
    except (TypeError, RuntimeError):  # MPS, and some XPU
        return torch.device("cpu")
    return device
