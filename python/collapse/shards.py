"""Rows appended to .npy files that are cut into shards, without holding them in memory.

A ShardWriter holds several streams (features, labels, a layer, ...). Shard i of every stream holds the
same samples, so that sorted file lists pair up:

    FOLDER/features/00000.npy  00001.npy ...     (rows, width)   float32 or float64
    FOLDER/labels/00000.npy    00001.npy ...     (rows,)         int64

A shard is written as 00000.npy.part and renamed when it is complete: a file that ends in .npy is always
readable, even if the process is killed.
"""

import os

import numpy as np

# The length of every header written here: magic, version and length (10 bytes), the text, a newline.
# numpy also writes 128 bytes for such arrays; the format requires a multiple of 64.
HEADER_BYTES = 128


def npy_header(dtype, shape):
    """The header of format version 1.0 for an array in C order, always HEADER_BYTES long."""
    text = "{'descr': '%s', 'fortran_order': False, 'shape': %r, }" % (np.dtype(dtype).str, tuple(shape))
    text = text.ljust(HEADER_BYTES - 11) + "\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode("latin1")


class GrowingArray:
    """One .npy file whose first axis grows. Rows are written as they arrive; the header is written last."""

    def __init__(self, path, dtype, row_shape):
        self.path, self.dtype, self.row_shape = path, np.dtype(dtype), tuple(row_shape)
        self.rows = 0
        self._file = open(path + ".part", "xb")
        self._file.write(npy_header(dtype, (0,) + self.row_shape))

    @property
    def row_bytes(self):
        return self.dtype.itemsize * int(np.prod(self.row_shape, dtype=np.int64))

    def append(self, rows):
        """Writes rows (n, *row_shape) after the committed rows; they count once commit is called."""
        self._file.seek(HEADER_BYTES + self.rows * self.row_bytes)  # overwrites what a failed append left
        if len(rows):
            self._file.write(np.ascontiguousarray(rows, self.dtype).data.cast("B"))

    def commit(self, n):
        self.rows += n

    def close(self):
        """Truncates what a failed append left, completes the header and renames the file."""
        try:
            self._file.flush()
        except OSError:
            pass  # append has reported the full disk; the committed rows are on disk
        self._file.truncate(HEADER_BYTES + self.rows * self.row_bytes)
        self._file.seek(0)
        self._file.write(npy_header(self.dtype, (self.rows,) + self.row_shape))
        self._file.close()
        if self.rows:
            os.replace(self.path + ".part", self.path)
        else:
            os.remove(self.path + ".part")


class ShardWriter:
    """Streams of rows, cut into shards at the same samples.

    folder: created; if it exists, it must be empty.
    shard_bytes: a shard ends with the batch that brings its widest stream to this size.
    """

    def __init__(self, folder, shard_bytes=64 << 20):
        if shard_bytes < 1:
            raise ValueError("collapse: shard_bytes is %d; it must be at least 1" % shard_bytes)
        self.folder, self.shard_bytes = os.fspath(folder), shard_bytes
        self.samples, self.shards = 0, 0
        self.streams = {}  # name -> (dtype, row shape), fixed by the first batch
        self._open = {}  # name -> GrowingArray of the current shard
        os.makedirs(self.folder, exist_ok=True)
        if os.listdir(self.folder):
            raise FileExistsError("collapse: the folder %r is not empty; every capture needs a folder of its own, "
                                  "for example %r" % (self.folder, os.path.join(self.folder, "epoch-001")))

    def append(self, batch):
        """Appends one batch: stream name -> array, all with the same number of rows.

        The first batch fixes names, types and widths. If anything fails, none of the batch counts.
        """
        rows = {name: len(array) for name, array in batch.items()}
        if len(set(rows.values())) != 1:
            raise ValueError("collapse: a batch has different numbers of samples: %s" % rows)
        shapes = {name: (np.dtype(array.dtype), array.shape[1:]) for name, array in batch.items()}
        if not self.streams:
            for name in shapes:
                os.makedirs(os.path.join(self.folder, name))
            self.streams = shapes
        if shapes != self.streams:
            raise ValueError("collapse: batch %s differs from the first one %s in its streams, types or widths"
                             % (_show(shapes), _show(self.streams)))
        if not self._open:
            self._begin_shard()
        for name, array in batch.items():
            self._open[name].append(array)
        n = next(iter(rows.values()))
        for file in self._open.values():
            file.commit(n)
        self.samples += n
        if max(file.rows * file.row_bytes for file in self._open.values()) >= self.shard_bytes:
            self._end_shard()

    def close(self):
        """Ends the current shard. Everything appended is then on disk and readable. May be called twice."""
        self._end_shard()

    def _begin_shard(self):
        for name, (dtype, row_shape) in self.streams.items():
            path = os.path.join(self.folder, name, "%05d.npy" % self.shards)
            self._open[name] = GrowingArray(path, dtype, row_shape)

    def _end_shard(self):
        files, self._open = self._open, {}
        if any(file.rows for file in files.values()):
            self.shards += 1
        for file in files.values():
            file.close()


def _show(shapes):
    return {name: "%s %s" % (dtype, row_shape) for name, (dtype, row_shape) in shapes.items()}
