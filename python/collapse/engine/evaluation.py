"""Passes without steps: the network's outputs for a split, and running statistics that match its weights."""

import contextlib
import os

import numpy as np
import torch
from torch.nn.modules.batchnorm import _BatchNorm

from . import npy, safetensors

TYPES = {torch.float32: "<f4", torch.float64: "<f8"}


def evaluate(run, split, number, layers, samples, between):
    """Passes the first samples of a split (0: all) through the network in eval mode and writes the outputs, in the order of the
    samples, to the files of set number. between is called before each batch."""
    net, images, dtype = run.trainer.net, run.images, run.arithmetic.dtype
    count = len(images.pixels[split])
    count = min(count, samples) if samples else count
    files = None
    net.eval()
    with torch.no_grad(), contextlib.ExitStack() as stack:
        run.taps.on = layers
        for first in range(0, count, run.batch):
            between()
            logits, features = net(images.batch(split, slice(first, min(count, first + run.batch))))
            rows = [features, logits, *run.taps.taken()]
            if files is None:
                files = writers(stack, run.folder, split, number, count, [r.shape[1] for r in rows], dtype)
            for file, r in zip(files, rows):
                file.append(r.cpu().numpy())


def writers(stack, folder, split, number, count, widths, dtype):
    """Files for count rows of each width, closed by the stack."""
    paths = Files(folder, split, number).all(len(widths))
    return [stack.enter_context(npy.Writer(path, TYPES[dtype], (count, width))) for path, width in zip(paths, widths)]


class Files:
    """Names of the files with rows of a split: its features, logits and layers. number: a set, or "pass"."""

    def __init__(self, folder, split, number):
        self.start = os.path.join(folder, "%s.%s." % (split, number))

    def all(self, count):
        names = ["features", "logits"] + ["layer.%d" % i for i in range(count - 2)]
        return [self.start + name + ".npy" for name in names]


def write_kept(folder, kept):
    """Writes the results of an epoch's training passes."""
    for path, values in zip(Files(folder, "train", "pass").all(len(kept.arrays)), kept.arrays):
        npy.write(path, values)


def write_head(folder, number, rows, bias):
    """Writes the classifier: rows (K, d), and the bias or None."""
    tensors = {"fc.weight": rows.detach()}
    if bias is not None:
        tensors["fc.bias"] = bias.detach()
    safetensors.write(os.path.join(folder, "head.%d.safetensors" % number), tensors)


def penalty_squares(params, wide):
    """The squared norms of the trained parameters, in the network's order, summed in the dtype wide."""
    return torch.stack([p.detach().to(wide).pow(2).sum() for p in params]).tolist()


def settle(run, passes, order, views, between):
    """Passes the training set through the network in training mode, the given number of times in the given order, so that the running
    statistics of batch norm match the weights. Without batch norm there is nothing to do."""
    net = run.trainer.net
    if not any(isinstance(m, _BatchNorm) for m in net.modules()):
        return
    places = torch.from_numpy(np.asarray(order)).long().to(run.images.device)
    net.train()
    run.taps.on = False
    with torch.no_grad():
        for first in [a for _ in range(passes) for a in range(0, len(places), run.batch)]:
            between()
            at = slice(first, first + run.batch)
            net(run.images.batch("train", places[at], None if views is None else views[at]))
