"""Turns the inputs and outputs of modules, and labels, into rows."""

import numpy as np

from .arrays import ignored_labels, whole_numbers

POOLS = ("mean", "flatten", "tokens", "positions")


def rows_of(value, pool, name):
    """One row per sample, as a numpy array that shares no memory with the model.

    The copy matters: the next layer may work in place (ReLU(inplace=True)) before the batch is written.
    """
    return np.array(_rows(value, pool, name).cpu().numpy(), order="C", copy=True)


def rows_on_device(value, pool, name):
    """The same as a tensor on the model's device, which also shares no memory with the model."""
    return _rows(value, pool, name).clone()


def select(rows, kept):
    """The rows of an array, or of a tensor on any device, for which kept, booleans (rows), is True."""
    if isinstance(rows, np.ndarray):
        return rows[kept]
    import torch
    return rows[torch.from_numpy(np.flatnonzero(kept)).to(rows.device)]


def _rows(value, pool, name):
    """One row per sample, as a tensor."""
    if callable(pool):
        value = pool(value[0] if isinstance(value, tuple) and len(value) == 1 else value)
    elif isinstance(value, tuple) and len(value) == 1:
        value = value[0]  # the positional arguments of a module that takes one
    if not hasattr(value, "detach"):
        raise TypeError("collapse: module %r takes or gives a %s, not one tensor; pass pool=function to pick the tensor "
                        "(arguments given by keyword cannot be tapped)" % (name, type(value).__name__))
    if not value.is_floating_point():
        raise TypeError("collapse: module %r takes or gives %s; features must be floating point" % (name, value.dtype))
    value = value.detach()
    if str(value.dtype) != "torch.float64":
        value = value.float()  # numpy has no bfloat16, and means in float16 would lose digits
    if not callable(pool):
        value = _pooled(value, pool, name)
    if value.dim() != 2:
        raise ValueError("collapse: module %r gives rows of shape %s; one row a sample, (N, width), is wanted"
                         % (name, tuple(value.shape)))
    return value


def _pooled(value, pool, name):
    axes = value.dim()
    if axes == 2:
        return value
    if pool == "flatten" and axes > 2:
        return value.flatten(1)
    if pool == "tokens" and axes == 3:
        return value.mean(1)
    if pool == "positions" and axes == 3:
        return value.flatten(0, 1)
    if pool == "positions" and axes > 3:
        return value.movedim(1, -1).flatten(0, -2)
    if pool == "mean" and axes in (4, 5):
        return value.flatten(2).mean(2)
    raise ValueError("collapse: module %r has shape %s, which pool=%r does not cover; use 'mean' for (N, C, H, W), 'tokens' "
                     "for (N, T, C), 'positions' for a row for each token or pixel, 'flatten', or a function such as "
                     "lambda t: t[:, 0]" % (name, tuple(value.shape), pool))


def to_numpy(tensor):
    tensor = tensor.detach()
    return (tensor if str(tensor.dtype) == "torch.float64" else tensor.float()).cpu().numpy()


def same_weights(one, other):
    """Whether two arrays are equal up to rounding: within 16 units of the last place of the largest element."""
    if one.shape != other.shape:
        return False
    if one.size == 0:
        return True
    return bool(np.abs(one - other).max() <= 16 * max(np.finfo(a.dtype).eps for a in (one, other)) * np.abs(other).max())


def array_of(values):
    """A numpy array from a tensor, an array or a list."""
    return np.asarray(values.detach().cpu().numpy() if hasattr(values, "detach") else values)


def integers(values, what, positions):
    """int64 (rows) from integers of shape `positions`, (N) or (N, T) or (N, H, W), or already flat.

    positions is None if the batch has plain rows without a shape of their own.
    """
    array = array_of(values)
    if array.ndim == 0 or not _fits(array.shape, positions):
        raise ValueError(_shape_complaint(array.shape, what, positions))
    if array.dtype.kind in "USO":
        raise TypeError("collapse: %s are %s; class numbers are wanted: label k is row k of the classifier" % (what, "words" if array.dtype.kind in "US" else "objects"))
    return whole_numbers(array, what).reshape(-1)


def _fits(shape, positions):
    if len(shape) == 1:
        return shape[0] == int(np.prod(positions, dtype=np.int64))
    return [n for n in shape if n != 1] == [n for n in positions if n != 1]


def _shape_complaint(shape, what, positions):
    count = int(np.prod(shape, dtype=np.int64))
    if len(positions) == 1:
        if len(shape) == 2 and shape[1] != 1:
            return ("collapse: %s have shape %s; one integer a sample is wanted (for one-hot rows: y.argmax(1))" % (what, tuple(shape)))
        return "collapse: %d %s for a batch of %d samples" % (count, what, positions[0])
    return ("collapse: %s have shape %s, and the classifier ran on positions %s: give one label for each of them, and leave some "
            "out with ignore_index= or mask=" % (what, tuple(shape), tuple(positions)))


class Dropped:
    """Counts the positions that labels left out, for tap.json."""

    def __init__(self):
        self.positions, self.by_index, self.by_mask = 0, {}, 0

    def keep(self, y, positions, ignore_index, mask, signs=False):
        """True where a row is kept, (rows). A position that both exclude is counted for the mask. signs: −1 and 1 may be the two classes."""
        kept = np.ones(len(y), bool)
        if mask is not None:
            values = array_of(mask)
            if values.dtype != bool and not (values.dtype.kind in "iu" and np.isin(values, (0, 1)).all()):
                raise TypeError("collapse: mask is %s; True (or 1) where a label counts is wanted, False (or 0) elsewhere" % values.dtype)
            kept = integers(values, "mask values", positions).astype(bool)
        counts = {}
        for index in ignored_labels(ignore_index):
            hit = kept & (False if isinstance(index, str) else y == index)  # labels are numbers here
            counts[index] = int(hit.sum())
            kept = kept & ~hit
        if (y[kept] < 0).any() and not (signs and np.isin(y[kept], (-1, 1)).all()):
            raise ValueError("collapse: labels hold %d, which is not a class; leave such positions out with labels(y, ignore_index=%d)"
                             % (y[kept].min(), y[kept].min()))
        return kept, counts

    def count(self, kept, counts):
        self.positions += len(kept)
        self.by_mask += int((~kept).sum()) - sum(counts.values())
        for index, n in counts.items():
            self.by_index[index] = self.by_index.get(index, 0) + n

    @property
    def total(self):
        return self.by_mask + sum(self.by_index.values())

    def describe(self):
        return {"positions": self.positions, "total": self.total, "mask": self.by_mask,
                "ignore_index": {str(index): n for index, n in self.by_index.items()}}
