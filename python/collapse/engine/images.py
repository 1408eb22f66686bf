"""The images of a run: pixels on the device, and batches made from them."""

import numpy as np
import torch
import torch.nn.functional as F

from . import npy
from .errors import InputError


HELD = 1 << 30  # bytes that the images of a split may take as numbers


class Images:
    """Pixels of every split (uint8) and the observed labels of the training set, on the device.

    A batch is (B, C, H, W) in the run's dtype: pixel value v of channel c becomes table[c, v]. Images with one channel also work for a
    network with more.
    """

    def __init__(self, folder, splits, shape, classes, pad, dtype, device):
        self.folder, self.pad, self.device = folder, pad, device
        channels, height, width = shape
        self.pixels = {split: self._pixels(split, shape) for split in splits}
        self.samples = len(self.pixels["train"])
        labels = self._read("train.labels.npy", np.int32, (self.samples,))
        self._within("train.labels.npy", labels, 0, classes - 1)
        self.labels = torch.from_numpy(labels).long().to(device)
        table = self._read("table.npy", np.float32, (channels, 256))
        if not np.isfinite(table).all():
            raise InputError("%s holds a number that is not finite" % npy.path_of(folder, "table.npy"))
        self.table = torch.from_numpy(table).to(device, dtype).flatten()
        self.first = 256 * torch.arange(channels, device=device)[:, None, None]  # index of a channel's values in the table
        self.floats = {}  # of a split, once rows has been asked for it

    def _read(self, name, dtype, shape):
        return npy.read(npy.path_of(self.folder, name), dtype, shape)

    def _within(self, name, values, least, most):
        if len(values) and (values.min() < least or values.max() > most):
            raise InputError("%s holds numbers from %d to %d; wanted %d to %d" % (
                npy.path_of(self.folder, name), values.min(), values.max(), least, most))

    def _pixels(self, split, shape):
        name = split + ".pixels.npy"
        pixels = self._read(name, np.uint8, (None, None) + shape[1:])
        if len(pixels) == 0 or pixels.shape[1] not in (1, shape[0]):
            raise InputError("%s has shape %s; wanted at least one image of 1 or %d channels" % (npy.path_of(self.folder, name), pixels.shape, shape[0]))
        return torch.from_numpy(pixels).to(self.device)

    def order(self):
        """order.npy: the training set's indices in the order in which they are used, each once. On the host."""
        order = self._read("order.npy", np.int32, (self.samples,))
        self._within("order.npy", order, 0, self.samples - 1)
        if (np.bincount(order, minlength=self.samples) != 1).any():
            raise InputError("%s does not hold each of %d samples once" % (npy.path_of(self.folder, "order.npy"), self.samples))
        return order

    def views(self):
        """views.npy on the device: dy, dx, mirror of each sample of order.npy."""
        views = self._read("views.npy", np.int8, (self.samples, 3))
        self._within("views.npy", views[:, :2], -self.pad, self.pad)
        self._within("views.npy", views[:, 2], 0, 1)
        return torch.from_numpy(views).long().to(self.device)

    def bytes(self, rows=False):
        """Bytes of the images, with what rows adds."""
        return sum(p.numel() + (self._size(split) if rows and self._size(split) <= HELD else 0) for split, p in self.pixels.items())

    def _size(self, split):
        """Bytes of all images of a split as rows."""
        pixels = self.pixels[split]
        return len(pixels) * len(self.first) * pixels[0, 0].numel() * self.table.element_size()

    def batch(self, split, at, views=None):
        """The images of a split at the indices at, a slice or a tensor; transformed by views (B, 3), if given."""
        pixels = self.pixels[split][at]
        if views is not None:
            pixels = shifted(pixels, views, self.pad)
        return self.table[pixels.long() + self.first]


    def rows(self, split, at, views=None):
        """The images at the indices at (…), a tensor or a slice, as rows (…, C·H·W)."""
        if views is None and self._held(split) is not None:
            return self._held(split)[at]
        places = at if isinstance(at, slice) else at.flatten()
        x = self.batch(split, places, None if views is None else views.flatten(0, -2)).flatten(1)
        return x if isinstance(at, slice) else x.unflatten(0, at.shape)

    def _held(self, split):
        """All images of a split as rows, or None if they are large."""
        if split not in self.floats:
            self.floats[split] = self.batch(split, slice(None)).flatten(1) if self._size(split) <= HELD else None
        return self.floats[split]

    def share(self, others):
        """Uses the tensors of one of others that are like its own, and returns whether there are any."""
        for o in others:
            if torch.equal(self.table, o.table) and all(torch.equal(p, o.pixels[split]) for split, p in self.pixels.items()):
                self.table, self.pixels, self.floats = o.table, o.pixels, o.floats
                return True
        return False


class Together:
    """The images of an ensemble's members, of the same shapes and numbers. each: the Images of each slot."""

    def __init__(self, each):
        self.each, groups = each, {}
        for slot, images in enumerate(each):
            groups.setdefault(id(images.pixels), []).append(slot)
        self.groups = list(groups.values())
        self.labels = torch.stack([images.labels for images in each])

    def rows(self, split, at, views=None):
        """Images (E, B, C·H·W) at the indices at (E, B), or at the same slice for all."""
        same = isinstance(at, slice)
        if len(self.groups) == 1 and same:
            x = self.each[0].rows(split, at)
            return x.expand(len(self.each), *x.shape)
        if len(self.groups) == 1:
            return self.each[0].rows(split, at, views)
        parts = [None] * len(self.each)
        for slots in self.groups:
            images = self.each[slots[0]]
            x = images.rows(split, at if same else at[slots], None if views is None else views[slots])
            for i, slot in enumerate(slots):
                parts[slot] = x if same else x[i]
        return torch.stack(parts)


def shifted(pixels, views, pad):
    """Images (B, C, H, W), each showing pixel (y+dy, x+dx) at (y, x), black outside, and then perhaps mirrored left to right."""
    batch, channels, height, width = pixels.shape
    place = lambda n, *axes: torch.arange(n, device=pixels.device).reshape(axes)
    dy, dx, mirror = (v.reshape(-1, 1, 1, 1) for v in views.unbind(1))
    columns = place(width, 1, 1, 1, -1)
    columns = torch.where(mirror > 0, width - 1 - columns, columns) + dx + pad
    rows = place(height, 1, 1, -1, 1) + dy + pad
    return F.pad(pixels, (pad,) * 4)[place(batch, -1, 1, 1, 1), place(channels, 1, -1, 1, 1), rows, columns]
