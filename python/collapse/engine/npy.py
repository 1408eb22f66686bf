"""Arrays in .npy files, little endian and row-major. Files are not trusted: anything other than what is wanted is an InputError."""

import ast
import os
import stat

import numpy as np

from .errors import InputError

MAGIC = b"\x93NUMPY"
HEADER = 4096  # bytes that a header may have


def path_of(folder, name):
    """The path of a file in the run's folder. The name comes from an order, so it must be a plain file name."""
    if name != os.path.basename(name) or name in ("", ".", "..") or "\0" in name:
        raise InputError("%r is not a name of a file in the run's folder" % name)
    return os.path.join(folder, name)


def opened(path):
    """Opens the regular file path for reading, without waiting for the other end of a pipe."""
    try:
        file = os.fdopen(os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)), "rb")
    except OSError as e:
        raise InputError("%s: %s" % (path, e.strerror))
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise InputError("%s is not a regular file" % path)
    return file


def read(path, dtype, shape):
    """The array in path, which must have the dtype and shape; None in shape means any size. Its numbers are not checked."""
    dtype = np.dtype(dtype).newbyteorder("<")
    with opened(path) as file:
        found, size = _header(path, file)
        if found["descr"] != dtype.str or found["fortran_order"] is not False or not _fits(found["shape"], shape):
            raise InputError("%s holds %s of shape %s%s; wanted %s of shape %s" % (
                path, found["descr"], found["shape"], ", by columns" if found["fortran_order"] else "", dtype.str, _words(shape)))
        shape = tuple(found["shape"])
        count = 1
        for n in shape:
            count *= n
        held = os.fstat(file.fileno()).st_size - size
        if held != count * dtype.itemsize:
            raise InputError("%s holds %d bytes behind its header; %s of shape %s takes %d" % (path, held, dtype.str, shape, count * dtype.itemsize))
        values = np.fromfile(file, dtype, count)
    if len(values) != count:
        raise InputError("%s has become shorter while it was read" % path)
    return values.reshape(shape)


def _header(path, file):
    """The dictionary of a header, and the bytes up to its end."""
    start = file.read(10)
    if len(start) < 10 or start[:6] != MAGIC or start[6] not in (1, 2):
        raise InputError("%s is not a .npy file of version 1 or 2" % path)
    rest = b"" if start[6] == 1 else file.read(2)
    length = int.from_bytes(start[8:] + rest, "little")
    if length > HEADER:
        raise InputError("%s has a header of %d bytes; wanted at most %d" % (path, length, HEADER))
    text = file.read(length)
    try:
        found = ast.literal_eval(text.decode("latin-1").strip())
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        found = None
    if len(text) < length or not isinstance(found, dict) or set(found) != {"descr", "fortran_order", "shape"}:
        raise InputError("%s has a damaged header" % path)
    return found, 10 + len(rest) + length


def _fits(found, wanted):
    return (isinstance(found, tuple) and len(found) == len(wanted)
            and all(type(n) is int and n >= 0 and (w is None or n == w) for n, w in zip(found, wanted)))


def _words(shape):
    return "(%s)" % ", ".join("any" if n is None else str(n) for n in shape)


class Writer:
    """Writes an array row by row, under a temporary name until it is complete.

        with Writer(path, "<f4", (n, d)) as out:
            out.append(rows)

    Leaves no file if the block ends with an exception, or before all rows were appended.
    """

    def __init__(self, path, dtype, shape):
        self.path, self.dtype, self.shape, self.rows = path, np.dtype(dtype), shape, 0
        self.file = open(path + ".part", "wb")
        np.lib.format.write_array_header_1_0(self.file, {"descr": self.dtype.str, "fortran_order": False, "shape": shape})

    def append(self, rows):
        rows = np.ascontiguousarray(rows, self.dtype)
        if rows.shape[1:] != tuple(self.shape[1:]):
            raise ValueError("rows of shape %s for an array of shape %s" % (rows.shape, self.shape))
        self.file.write(memoryview(rows).cast("B") if rows.size else b"")
        self.rows += len(rows)

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        whole = kind is None and self.rows == self.shape[0]
        try:
            self.file.close()
            if whole:
                os.replace(self.path + ".part", self.path)
        finally:
            if os.path.exists(self.path + ".part"):
                os.unlink(self.path + ".part")
        if kind is None and not whole:
            raise ValueError("%d rows for an array of shape %s" % (self.rows, self.shape))


def write(path, values):
    """Writes a whole array."""
    with Writer(path, values.dtype.newbyteorder("<"), values.shape) as out:
        out.append(values)
