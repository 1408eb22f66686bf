"""Turns numpy arrays, torch tensors and lists into what the program reads: blocks of numbers named by their roles.

Numbers keep their type if the program knows it (it widens float16, bfloat16 and integers exactly), so every array is copied
once, from wherever it is. Labels become class numbers here, so that errors about their words and shapes can use Python's names.
"""

import numbers
import os

import numpy as np

_KINDS = {"bool": "BOOL", "uint8": "U8", "int8": "I8", "uint16": "U16", "int16": "I16", "uint32": "U32", "int32": "I32", "uint64": "U64",
          "int64": "I64", "float16": "F16", "bfloat16": "BF16", "float32": "F32", "float64": "F64"}
_LEAST_MAPPED = 1 << 24  # bytes: looking up a mapped file costs about as much as copying this


class Block:
    """An array that the program will find as `name`. write() copies it to bytes."""

    def __init__(self, name, value, kind, shape, itemsize):
        self.name, self.kind, self.shape, self._value = name, kind, tuple(int(n) for n in shape), value
        self.nbytes = int(np.prod(self.shape, dtype=np.int64)) * itemsize

    @property
    def value(self):
        return self._value

    def write(self, out):
        """Copies the numbers to out, a writable uint8 array of nbytes."""
        if isinstance(self._value, np.ndarray):
            np.copyto(out.view(self._value.dtype.newbyteorder("=")).reshape(self.shape), self._value)
            return
        import torch
        if self.kind == "BF16":  # numpy has no bfloat16
            to = torch.from_numpy(out.view(np.int16)).view(torch.bfloat16)
        else:
            to = torch.from_numpy(out.view(str(self._value.dtype).replace("torch.", "")))
        to.view(self.shape).copy_(self._value)


def is_tensor(value):
    return type(value).__module__.split(".")[0] == "torch" or hasattr(value, "detach") and hasattr(value, "layout")


def block(name, value, what):
    """A block with the numbers of value, an array, a tensor or nested lists."""
    value = _tensor(value, what) if is_tensor(value) else _array(value, what)
    kind = str(value.dtype).replace("torch.", "") if is_tensor(value) else value.dtype.newbyteorder("=").name
    if kind not in _KINDS:
        raise TypeError("collapse: %s is %s; floats of 16 to 64 bits or integers are wanted%s" % (
            what, kind, ": pass abs(x), or real and imaginary part side by side" if "complex" in kind else
            ": pass x.astype(float)" if kind in ("object", "float128", "longdouble") else ""))
    size = value.element_size() if is_tensor(value) else value.dtype.itemsize
    return Block(name, value, _KINDS[kind], value.shape, size)


def _tensor(value, what):
    if str(value.layout) != "torch.strided":
        raise TypeError("collapse: %s is a tensor of layout %s; pass x.to_dense()" % (what, value.layout))
    if value.is_quantized:
        raise TypeError("collapse: %s is quantised; pass x.dequantize()" % what)
    if value.device.type == "meta":
        raise TypeError("collapse: %s lies on the device meta, which holds no numbers; pass a tensor that was computed" % what)
    return value.detach()


def _array(value, what):
    if callable(value) or isinstance(value, (str, bytes, dict, set)):
        raise TypeError("collapse: %s is a %s; an array, a tensor or lists of numbers are wanted" % (what, type(value).__name__))
    if isinstance(value, (list, tuple)) and value and is_tensor(value[0]):
        raise TypeError("collapse: %s is a %s of tensors; pass torch.cat(x) if each holds rows, torch.stack(x) if each is one" % (what, type(value).__name__))
    if isinstance(value, np.ma.MaskedArray) and np.ma.is_masked(value):
        raise TypeError("collapse: %s has masked entries; pass x[~x.mask.any(1)], and its labels alike" % what)
    if isinstance(value, np.ndarray):  # keeps a np.memmap, for file_of
        return value
    try:
        return np.asarray(value)
    except ValueError as e:
        raise TypeError("collapse: %s is not an array: %s" % (what, e)) from None


def rows(name, value, what):
    """A block (n, d) of features."""
    b = block(name, value, what)
    shape = b.shape
    if len(shape) == 2 and 0 not in shape:
        return b
    if 0 in shape:
        raise ValueError("collapse: %s is empty (shape %s); at least one row and one column are wanted" % (what, shape))
    hint = {1: "of one feature: x[:, None]; of one sample: x[None]", 3: "of tokens: x.reshape(-1, x.shape[-1]) with a label for each, or x.mean(1)",
            4: "of images (N, C, H, W): x.mean((2, 3)), or x.reshape(len(x), -1)"}.get(len(shape), "x.reshape(len(x), -1)")
    raise ValueError("collapse: %s has shape %s; rows (n, d) are wanted: %s" % (what, shape, hint))


class Labels:
    """Turns labels of any kind into class numbers. names: the names of the classes, in order; None for numbers."""

    def __init__(self, classes=None):
        self.k, self.names = None, None
        if isinstance(classes, (int, np.integer)) and not isinstance(classes, bool):
            self.k = int(classes)
        elif classes is not None:
            self.names = [str(name) for name in classes]
            self.k = len(self.names)
            if len(set(self.names)) < self.k:
                raise ValueError("collapse: classes names %r twice" % next(n for n in self.names if self.names.count(n) > 1))
        self._words = None
        self._textual = False  # whether labels are words
        self._left_out, self.unseen = [], []  # words that ignore_index names: without a class of their own; that no label is

    def ignored(self, ignore):
        """ignore_index as the numbers of labels: words have those that numbers() gave them."""
        if not self._textual:
            self.unseen = [x for x in ignore if isinstance(x, str)]
            return [x for x in ignore if not isinstance(x, str)]
        place = {name: k for k, name in enumerate(self.names + self._left_out)}
        self.unseen = [str(x) for x in ignore if str(x) not in place]
        return [place[str(x)] for x in ignore if str(x) in place]

    def numbers(self, y, n, what, ignore=(), d=None):
        """int64 (n), of the rows of features of width d."""
        y = _array(y.detach().cpu().numpy() if is_tensor(y) else y, what)
        if y.ndim > 1 and y.size and y.size == max(y.shape):  # a row or a column of them is as good
            y = y.reshape(-1)
        if y.ndim != 1:
            raise ValueError("collapse: %s has shape %s; one label for each row of features is wanted%s"
                             % (what, y.shape, " (of one-hot rows or logits: x.argmax(1))" if y.ndim == 2 else ": x.reshape(-1)"))
        if len(y) != n:
            raise ValueError("collapse: %s has %d labels for %d rows of features; one for each row is wanted%s"
                             % (what, len(y), n, ": the features seem to be stored (d, n): pass x.T" if len(y) == d else ""))
        if y.dtype.kind == "O":
            y = _plain(y, what)
        if y.dtype.kind in "USO":
            return self._numbers_of_words(y, what, ignore)
        ignore = [x for x in ignore if not isinstance(x, str)]
        y = whole_numbers(y, what)
        if y.min() < 0:
            wrong = y[(y < 0) & ~np.isin(y, list(ignore))]
            if len(wrong) and self.k in (None, 2) and set(np.unique(y).tolist()) == {-1, 1}:
                self.k, self.names = 2, self.names or ["-1", "1"]
                return (y + 1) // 2
            if len(wrong):
                raise ValueError("collapse: %s holds %d, which is not a class; leave its samples out with ignore_index=%d" % (what, wrong[0], wrong[0]))
        if self.names is not None and not self._words:
            wrong = y[(y >= self.k) & ~np.isin(y, list(ignore))]
            if len(wrong):
                raise ValueError("collapse: %s holds %d, and classes names the classes 0 to %d" % (what, wrong[0], self.k - 1))
        return y

    def _numbers_of_words(self, y, what, ignore):
        try:
            words, at = np.unique(np.array([_word(x) for x in y.tolist()]), return_inverse=True)
        except TypeError as e:
            beside = " beside words" if any(isinstance(x, (str, bytes)) for x in y.tolist()) else ""
            raise TypeError("collapse: %s: %s%s; integers or words are wanted" % (what, e, beside)) from None
        self._textual, ignore = True, [str(x) for x in ignore]
        if self.names is None:
            if self.k is not None:
                raise ValueError("collapse: %s holds words; pass classes=[…] with the names of the %d classes in order" % (what, self.k))
            self.names, self._words = words.tolist(), True
        self._left_out += [w for w in words.tolist() if w in ignore and w not in self.names + self._left_out]
        place = {name: k for k, name in enumerate(self.names + self._left_out)}
        unknown = [w for w in words.tolist() if w not in place]
        if unknown:
            raise ValueError("collapse: %s holds %r, which is none of the %d classes (%s)%s"
                             % (what, unknown[0], len(self.names), ", ".join(self.names[:8]), "; pass classes=[…] with all names" if self._words else ""))
        return np.array([place[w] for w in words.tolist()], np.int64)[at]

    @property
    def from_words(self):
        """Whether the names come from the labels, and so say nothing about the rows of a classifier."""
        return self._words is True


def ignored_labels(ignore_index):
    """ignore_index, one label or several, as a list of numbers and words."""
    values = ignore_index.tolist() if hasattr(ignore_index, "tolist") else ignore_index
    if values is None:
        return []
    values = values if isinstance(values, (list, tuple, set)) else [values]
    if not all(isinstance(value, str) or isinstance(value, numbers.Real) and value % 1 == 0 for value in values):
        raise TypeError("collapse: ignore_index is %r; a label or a list of them is wanted" % (ignore_index,))
    return [value if isinstance(value, str) else int(value) for value in values]


def whole_numbers(y, what):
    """int64, from an array of integers, booleans or floats without a fraction."""
    if y.dtype.kind == "f":  # an empty list is one of floats
        whole = np.rint(y)
        if y.size and (not (whole == y).all() or np.abs(y).max() >= 2.0 ** 53):
            raise TypeError("collapse: %s: %r is not a class number; integers or words are wanted" % (what, y[(whole != y) | (np.abs(y) >= 2.0 ** 53)].flat[0].item()))
        return whole.astype(np.int64)
    if y.dtype.kind not in "biu":
        raise TypeError("collapse: %s: %s; integers or words are wanted" % (what, y.dtype))
    if y.dtype.kind == "u" and y.size and y.max() > np.iinfo(np.int64).max:
        raise ValueError("collapse: %s: %d, which int64 does not hold" % (what, y.max()))
    return y.astype(np.int64, copy=False)


def _plain(y, what):
    """Objects that all are numbers, as columns of pandas hold them, as an array of numbers; others as they are."""
    if y.size == 0 or not all(isinstance(x, (bool, np.bool_, numbers.Real)) for x in y.tolist()):
        return y
    whole = all(isinstance(x, (bool, np.bool_, numbers.Integral)) for x in y.tolist())
    try:
        return y.astype(np.int64 if whole else np.float64)
    except OverflowError:
        raise ValueError("collapse: %s: %d, which int64 does not hold" % (what, max(y, key=abs))) from None


def _word(x):
    if isinstance(x, bytes):
        return x.decode()
    if isinstance(x, str):
        return x
    raise TypeError("it holds %r" % (x,))


def file_of(b):
    """The .npy file of which a block of float32 or float64 rows is a complete mapping; None if the block has to be copied."""
    array = b.value
    if not (isinstance(array, np.memmap) and b.nbytes >= _LEAST_MAPPED and b.kind in ("F32", "F64") and array.flags.c_contiguous
            and array.mode != "c" and array.dtype.isnative):
        return None
    try:
        path = os.fspath(array.filename)
        with open(path, "rb") as f:
            version = np.lib.format.read_magic(f)
            read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
            shape, fortran, dtype = read(f)
            same = (shape, fortran, dtype) == (b.shape, False, array.dtype) and _mapped_at(array.ctypes.data, f.tell()) == _identity(f)
    except (OSError, TypeError, ValueError):
        return None
    return path if same else None


def _identity(f):
    status = os.fstat(f.fileno())
    return os.major(status.st_dev), os.minor(status.st_dev), status.st_ino


def _mapped_at(address, offset):
    """(major, minor, inode) of the file whose byte `offset` is mapped at an address of this process: its name may belong to another file by now."""
    with open("/proc/self/maps") as f:
        for line in f:
            span, _, start, device, inode = line.split(None, 5)[:5]
            low, high = (int(x, 16) for x in span.split("-"))
            if low <= address < high:
                if address - low + int(start, 16) != offset:
                    return None
                major, minor = device.split(":")
                return int(major, 16), int(minor, 16), int(inode)
    return None
