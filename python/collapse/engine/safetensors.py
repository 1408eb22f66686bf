"""Tensors in .safetensors files: 8 bytes of header length, a JSON header, the tensors' bytes. Invalid files raise InputError."""

import hashlib
import json
import os
import struct

import numpy as np
import torch

from .errors import InputError
from .npy import opened

HEADER = 8 << 20  # bytes that a header may have
TYPES = {"F64": torch.float64, "F32": torch.float32, "I64": torch.int64, "I32": torch.int32, "U8": torch.uint8}
NAMES = {dtype: name for name, dtype in TYPES.items()}
SIZES = {"F64": 8, "F32": 4, "I64": 8, "I32": 4, "U8": 1}


def read(path, most):
    """name → tensor, in the file's order. most: the largest total size of the tensors in bytes."""
    with opened(path) as file:
        size = os.fstat(file.fileno()).st_size
        if size > most + HEADER:
            raise InputError("%s has %d bytes; wanted at most %d" % (path, size, most + HEADER))
        return parse(file.read(size), path)


def parse(content, path):
    """name → tensor from a file's content."""
    length = struct.unpack("<Q", content[:8])[0] if len(content) >= 8 else 0
    if not 2 <= length <= min(HEADER, len(content) - 8):
        raise InputError("%s is not a .safetensors file" % path)
    try:
        header = json.loads(bytes(content[8:8 + length]), object_pairs_hook=_once)
    except (ValueError, RecursionError):
        raise InputError("%s has a damaged header" % path)
    if not isinstance(header, dict):
        raise InputError("%s has a damaged header" % path)
    body = bytearray(content[8 + length:])  # torch requires writable memory
    return {name: _tensor(path, name, entry, body) for name, entry in header.items() if name != "__metadata__"}


def _once(pairs):
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a name twice")
    return found


def _tensor(path, name, entry, body):
    whole = lambda values: isinstance(values, list) and all(type(n) is int and 0 <= n < 2**60 for n in values)
    if not (isinstance(entry, dict) and entry.get("dtype") in TYPES and whole(entry.get("shape")) and whole(entry.get("data_offsets"))
            and len(entry["data_offsets"]) == 2):
        raise InputError("%s: %s has a damaged entry in the header" % (path, name))
    (begin, end), count = entry["data_offsets"], 1
    for n in entry["shape"]:
        count *= n
    if not (begin <= end <= len(body) and end - begin == count * SIZES[entry["dtype"]]):
        raise InputError("%s: %s is outside the file, or does not have the bytes of its shape %s" % (path, name, entry["shape"]))
    if count == 0:
        return torch.empty(entry["shape"], dtype=TYPES[entry["dtype"]])
    return torch.frombuffer(body, dtype=TYPES[entry["dtype"]], count=count, offset=begin).reshape(entry["shape"])


def write(path, tensors):
    """Writes name → tensor, 8-byte numbers first so that each tensor is aligned. Returns the file's {"sha256", "bytes"}. It is written
    under a temporary name until it is complete."""
    arrays = [(name, np.ascontiguousarray(t.detach().cpu().numpy()).reshape(t.shape), NAMES[t.dtype]) for name, t in tensors.items()]
    arrays.sort(key=lambda a: -SIZES[a[2]])
    header, at = {"__metadata__": {"format": "pt"}}, 0  # as in the program's checkpoints
    for name, values, dtype in arrays:
        header[name] = {"dtype": dtype, "shape": list(values.shape), "data_offsets": [at, at + values.nbytes]}
        at += values.nbytes
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    digest, count = hashlib.sha256(), 0
    try:
        with open(path + ".part", "wb") as file:
            for part in [struct.pack("<Q", len(text)), text] + [values.tobytes() for _, values, _ in arrays]:
                file.write(part)
                digest.update(part)
                count += len(part)
        os.replace(path + ".part", path)
    except OSError:
        if os.path.exists(path + ".part"):
            os.unlink(path + ".part")
        raise
    return {"sha256": digest.hexdigest(), "bytes": count}
