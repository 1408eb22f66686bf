"""Writes first passes in the program's state format, version 2 (docs/internal/ncs.md)."""

import hashlib
import os
import struct

import torch

_MAGIC, _FIRST_PASS = b"NCS2", 1
_POOLED, _FLOAT32, _VALUES, _FAR = 1, 2, 4, 16
_PART = 1 << 20  # numbers copied from the device at a time


def write_state(path, moments, values, slots):
    """Writes `moments` (states.Moments) to `path`, atomically.

    values: the label value of each class, ascending, int64 (K); slots: its index in the moments, a tensor on their device (K).
    """
    with open(path + ".part", "wb") as f:
        digest = hashlib.sha256()

        def put(data):
            f.write(data)
            digest.update(data)

        flags = _VALUES | (_FLOAT32 if moments.float32 else 0) | (_POOLED | _FAR if moments.pooled is not None else 0)
        put(struct.pack("<4s4IQ", _MAGIC, _FIRST_PASS, flags, len(values), moments.width, moments.dropped))
        put(values.astype("<i8").tobytes())
        put(_numbers(moments.count[slots], "<i8"))
        put(_numbers(moments.scatter[slots]))
        for part in slots.split(max(1, _PART // moments.width)):
            put(_numbers(moments.mean[part]))
        put(_numbers(moments.spread))
        if moments.pooled is not None:
            pooled = moments.pooled.cpu()
            for i in range(moments.width):
                put(_numbers(pooled[i, :i + 1]))
            put(_numbers(moments.far))
        f.write(digest.digest())
    os.replace(path + ".part", path)


def _numbers(tensor, kind="<f8"):
    return tensor.detach().cpu().to(torch.float64).numpy().astype(kind).tobytes()
