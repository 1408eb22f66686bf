# Writes the MATLAB files of mat_test.go with scipy: python3 make_mat.py (scipy 1.10.1 made those here; headers name no date).
import numpy as np
import scipy.io as sio
import scipy.io.matlab as m

rng = np.random.default_rng(7)
arrays = {
    "X": (np.arange(4 * 3 * 3 * 5) % 251).astype(np.uint8).reshape(4, 3, 3, 5),
    "y": np.array([[10], [3], [1], [10], [9]], dtype=np.uint8),
    "f4": rng.standard_normal((3, 2)).astype(np.float32),
    "f8": rng.standard_normal((2, 5)),
    "i8": np.array([[-128, 127]], dtype=np.int8),
    "i2": np.array([[-30000, 30000, 7]], dtype=np.int16),
    "u2": np.array([[65535]], dtype=np.uint16),
    "i4": np.array([[-(2**31)], [5]], dtype=np.int32),
    "u4": np.array([[2**32 - 1]], dtype=np.uint32),
    "i64": np.array([[-(2**63), 3]], dtype=np.int64),
    "u64": np.array([[2**64 - 1]], dtype=np.uint64),
    "none": np.zeros((0, 3)),
}
odd = {
    "words": "some text",
    "cells": np.array([["a", 1.0]], dtype=object),
    "record": {"a": 1.0},
    "complex": np.array([[1 + 2j]]),
    "after": np.array([[1.5, 2.5]]),
}
words = {
    "cells": np.array(["owl", "kitten", "öwl 𝔸", "owl"], dtype=object),
    "column": np.array([["b"], ["a"]], dtype=object),
    "rows": np.array(["cat", "mouse", "ox"]),
    "mixed": np.array(["a", 1.0], dtype=object),
    "nested": np.array([np.array(["a", "b"], dtype=object), "c"], dtype=object),
    "one": "a single text",
    "after": np.array([[1.5, 2.5]]),
}
for name, content, packed in [("plain", arrays, False), ("packed", arrays, True), ("odd", odd, False), ("odd_packed", odd, True),
                              ("words", words, False), ("words_packed", words, True)]:
    path = f"mat_{name}.mat"
    sio.savemat(path, content, do_compression=packed)
    b = bytearray(open(path, "rb").read())
    b[:116] = b"MATLAB 5.0 MAT-file, made by make_mat.py".ljust(116)
    open(path, "wb").write(b)
    read = sio.loadmat(path)
    if content is arrays:
        for k, v in arrays.items():
            assert np.array_equal(read[k], v), k
np.savez("mat_arrays.npz", **arrays)
