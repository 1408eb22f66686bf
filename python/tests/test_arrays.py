"""measure() of arrays: numbers beside formulas written here, what is accepted in any form, and what is refused with what to pass instead."""

import importlib.util
import os
import subprocess
import sys
import time
import unittest
import warnings

import numpy as np

from support import ROOT, FolderTest, needs_torch, torch

import collapse
from collapse.arrays import Labels

needs_program = unittest.skipUnless(os.environ.get("COLLAPSE_BINARY"), "COLLAPSE_BINARY does not name the program")


def made(n=60, d=6, k=3, seed=0, dtype=np.float32):
    r = np.random.default_rng(seed)
    y = np.arange(n) % k
    H = (3 * r.standard_normal((k, d))[y] + .3 * r.standard_normal((n, d))).astype(dtype)
    return H, y, r.standard_normal((k, d)).astype(dtype), r.standard_normal(k).astype(dtype)


def expected(H, y, W=None, b=None):
    """NC1, trace ratio and accuracies by numpy alone, in float64."""
    H, k = np.asarray(H, np.float64), int(y.max()) + 1
    mu = np.stack([H[y == c].mean(0) for c in range(k)])
    counts = np.bincount(y)
    within = (H - mu[y]).T @ (H - mu[y]) / len(H)
    centred = mu - H.mean(0)
    between = (centred * counts[:, None]).T @ centred / len(H)
    out = {"nc1_pinv": np.trace(within @ np.linalg.pinv(between, rcond=1e-10)) / k, "nc1_trace_ratio": np.trace(within) / np.trace(between),
           "ncc_accuracy": np.mean(((H[:, None] - mu) ** 2).sum(2).argmin(1) == y)}
    if W is not None:
        out["accuracy"] = np.mean((H @ np.asarray(W, np.float64).T + (0 if b is None else b)).argmax(1) == y)
    return out


class ArraysTest(FolderTest):
    def check(self, result, want, digits=1e-9):
        for key, value in want.items():
            self.assertAlmostEqual(result["measures"][key], value, delta=digits * max(1, abs(value)), msg=key)

    def refused(self, kind, words, *args, **options):
        with self.assertRaisesRegex(kind, words):
            collapse.measure(*args, **options)


@needs_program
class NumbersTest(ArraysTest):
    def test_numpy_arrays_beside_formulas(self):
        H, y, W, b = made()
        self.check(collapse.measure(H, y, W, b), expected(H, y, W, b))
        self.check(collapse.measure(H, y, W), expected(H, y, W))
        result = collapse.measure(H, y)
        self.check(result, expected(H, y))
        self.assertIn("no classifier", result.missing["accuracy"])

    def test_types_and_layouts(self):
        H, y, W, _ = made()
        for dtype in ("f2", "f8", ">f4", "<f8"):
            with self.subTest(dtype=dtype):
                self.check(collapse.measure(H.astype(dtype), y, W), expected(H.astype(dtype), y, W))
        whole = np.rint(10 * H)
        for dtype in ("i1", "i2", "i8", "f4"):
            with self.subTest(dtype=dtype):
                self.check(collapse.measure(whole.astype(dtype), y), expected(whole, y))
        for name, view in (("columns", np.asfortranarray(H)), ("every second", np.repeat(H, 2, 0)[::2]), ("backwards", H[::-1][::-1]), ("lists", H.tolist()),
                           ("read only", np.frombuffer(H.tobytes(), np.float32).reshape(H.shape))):
            with self.subTest(layout=name):
                self.check(collapse.measure(view, y), expected(H, y), 1e-6)

    def test_masks_without_a_masked_entry_and_lists(self):
        H, y, W, b = made()
        plain = collapse.measure(H, y, W=W, b=b).measures
        self.assertEqual(dict(collapse.measure(np.ma.array(H), y, W=np.ma.array(W), b=b).measures), dict(plain))
        self.assertEqual(dict(collapse.measure(H, y, W=W.tolist(), b=b.tolist()).measures), dict(plain))

    def test_one_call_after_another_of_other_sizes(self):
        for n, d in ((60, 6), (6000, 300), (30, 3), (60, 6)):
            H, y, W, b = made(n, d)
            self.check(collapse.measure(H, y, W, b), expected(H, y, W, b))

    def test_labels_of_any_kind(self):
        H, y, W, b = made()
        want = expected(H, y, W, b)
        for name, labels in (("list", y.tolist()), ("column", y[:, None]), ("float", y.astype(np.float32)), ("uint8", y.astype(np.uint8)), ("object", y.astype(object).astype(str))):
            with self.subTest(labels=name):
                options = {"classes": ["0", "1", "2"]} if name == "object" else {}
                self.check(collapse.measure(H, labels, W, b, **options), want)
        words = np.array(["cat", "dog", "ant"])[y]
        named = collapse.measure(H, words, W, b, classes=["cat", "dog", "ant"])
        self.check(named, want)
        self.assertEqual(named.class_names, ["cat", "dog", "ant"])
        alone = collapse.measure(H, words)
        self.assertEqual(alone.class_names, ["ant", "cat", "dog"])
        self.check(alone, {key: want[key] for key in ("nc1_pinv", "ncc_accuracy")})

    def test_classes_that_are_not_there_keep_their_names(self):
        H, y, W, b = made()
        y = np.array([0, 2, 3])[y]
        result = collapse.measure(H, y, classes=["a", "b", "c", "d"])
        self.assertEqual(result.class_names, ["a", "c", "d"])
        self.assertEqual(result["left_out"][0]["classes"], ["b"])

    def test_ignored_labels_test_and_other_samples(self):
        H, y, W, b = made()
        want = expected(H, y, W, b)
        more = collapse.measure(np.concatenate([H, H[:5] + 9]), np.concatenate([y, [-100] * 5]), W, b, ignore_index=-100)
        self.check(more, want)
        Ht, yt, _, _ = made(seed=1)
        result = collapse.measure(H, y, W, b, test=(Ht, yt), ood=Ht[:7] - 5, true=np.roll(y, 1), corrupted=np.arange(60) < 9)
        self.check(result, {"test_accuracy": expected(Ht, yt, W, b)["accuracy"], **want})
        for key in ("nc5_ood", "ood_auroc_energy", "memorization_mean"):
            self.assertIn(key, result.measures)

    def test_what_is_measured_can_be_chosen(self):
        H, y, W, b = made()
        result = collapse.measure(H, y, W, b, measures=["nc1_pinv", "vci"], null=0)
        self.assertEqual(sorted(result.measures), ["nc1_pinv", "vci"])
        self.refused(collapse.MeasureError, "did you mean nc1_pinv", H, y, measures="nc1_pin")
        page = self.folder + " page.html"
        collapse.measure(H, y, arguments=["--html", page])
        with open(page) as f:
            self.assertIn("nc1_pinv", f.read())

    def test_mapped_files_are_read_where_they_lie(self):
        n, d = 9000, 512
        H, y, W, b = made(n, d)
        path = self.folder + " a [1]*.npy"
        np.save(path, H)
        Ht, yt, _, _ = made(seed=1, d=d)
        mapped = np.load(path, mmap_mode="r")
        result = collapse.measure(mapped, y, W, b, test=(Ht, yt), true=y, corrupted=y == 0, null=0)
        self.check(result, {**expected(H, y, W, b), "test_accuracy": expected(Ht, yt, W, b)["accuracy"]})
        self.assertEqual([i["files"] for i in result.inputs if i["role"] == "features"], [[path]])
        # Not the file's rows: parts, changed copies, another file of the same name.
        changed = np.load(path, mmap_mode="c")
        changed[0] += 100
        self.copied(changed, y)
        self.copied(mapped[:8800], y)
        os.rename(path, path + ".old.npy")
        np.save(path, H + 1)
        self.copied(mapped, y)

    def copied(self, array, y):
        """The numbers of the array itself, and not of the file under its name."""
        result = collapse.measure(array, y[:len(array)], null=0)
        self.check(result, {"trace_within": expected_trace(array, y[:len(array)])}, 1e-6)
        self.assertEqual(result.inputs[0]["files"], ["memory"])

    def test_rows_that_are_not_finite(self):
        H, y, W, b = made()
        H[7, 2] = H[6, 1] = H[8, 0] = np.nan
        self.refused(collapse.MeasureError, "row 6, column 1; drop_nonfinite=True leaves such rows out", H, y)
        kept = (np.arange(60) < 6) | (np.arange(60) > 8)  # as many of each class
        result = collapse.measure(H, y, W, b, drop_nonfinite=True)
        self.check(result, expected(H[kept], y[kept], W, b))
        self.assertEqual(result.dropped, 3)


def expected_trace(H, y):
    H = np.asarray(H, np.float64)
    return sum(((H[y == c] - H[y == c].mean(0)) ** 2).sum() for c in range(int(y.max()) + 1)) / len(H)


@needs_program
@needs_torch
class TensorsTest(ArraysTest):
    def test_tensors(self):
        H, y, W, b = made()
        T = torch.from_numpy(H)
        layer = torch.nn.Linear(6, 3)
        with torch.no_grad():
            layer.weight.copy_(torch.from_numpy(W))
            layer.bias.copy_(torch.from_numpy(b))
        for name, h in (("plain", T), ("grad", T.clone().requires_grad_()), ("strided", T.T.contiguous().T), ("double", T.double()), ("parameter", torch.nn.Parameter(T))):
            with self.subTest(tensor=name):
                self.check(collapse.measure(h, torch.from_numpy(y), layer), expected(H, y, W, b))
        for dtype in (torch.bfloat16, torch.float16):
            with self.subTest(dtype=dtype):
                self.check(collapse.measure(T.to(dtype), y, torch.from_numpy(W).to(dtype)), expected(T.to(dtype).float(), y, torch.from_numpy(W).to(dtype).float()))

    def test_states_of_arrays(self):
        H, y, W, b = made(600)
        want = expected(H, y)
        for h in (H, torch.from_numpy(H)):
            result = collapse.measure(h, y, W, b, keep="states")
            self.check(result, {key: want[key] for key in ("nc1_pinv", "nc1_trace_ratio")})
            self.assertIn("nc3_direct", result.measures)
            self.assertIn("accuracy", result.missing)
        self.refused(ValueError, "leave them out", H, y, keep="states", ood=H)
        self.refused(ValueError, "every row of 'features' holds NaN or infinity", H * np.nan, y, keep="states", drop_nonfinite=True)
        H[3] = np.inf
        self.refused(ValueError, r"row 3 of 'features'.*NaN or infinity", H, y, keep="states")

    def test_tensors_that_hold_no_plain_numbers(self):
        H, y, _, _ = made()
        T = torch.from_numpy(H)
        self.refused(TypeError, r"pass x.to_dense\(\)", T.to_sparse(), y)
        self.refused(TypeError, r"pass x.dequantize\(\)", torch.quantize_per_tensor(T, .1, 0, torch.qint8), y)
        self.refused(TypeError, "meta, which holds no numbers", T.to("meta"), y)
        self.refused(TypeError, "complex64; floats", T.to(torch.complex64), y)
        self.refused(TypeError, r"pass torch.cat\(x\)", [T, T], y)


class RefusedTest(ArraysTest):
    """What is refused before the program is asked."""

    def test_features(self):
        H, y, W, b = made()
        for kind, words, h in ((ValueError, r"is empty \(shape \(0, 6\)\)", H[:0]), (ValueError, r"of one feature: x\[:, None\]", H[:, 0]),
                               (ValueError, r"x.mean\(\(2, 3\)\)", H.reshape(60, 6, 1, 1)), (ValueError, "of tokens", H.reshape(10, 6, 6)),
                               (TypeError, "complex64; floats", H + 1j), (TypeError, "object; floats", H.astype(object)), (TypeError, "is a dict", {"H": H}),
                               (TypeError, "is a function", made), (TypeError, "masked entries", np.ma.masked_less(H, 0)),
                               (TypeError, "object|not an array", [[1., 2.], [3.]])):
            with self.subTest(words=words):
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    self.refused(kind, words, h, y)
        self.refused(TypeError, "features without labels", H)
        self.refused(TypeError, "is a folder", "out/features", y)

    def test_labels(self):
        H, y, W, b = made()
        for kind, words, labels in ((ValueError, "59 labels for 60 rows", y[1:]), (ValueError, r"x.argmax\(1\)", np.eye(3)[y]), (ValueError, "shape \\(\\)", 3),
                                    (ValueError, r"shape \(60, 2, 2\); one label for each row of features is wanted: x.reshape\(-1\)$", np.zeros((60, 2, 2), int)),
                                    (ValueError, "leave its samples out with ignore_index=-100", np.where(y == 1, -100, y)),
                                    (TypeError, "0.5 is not a class number", y + .5), (TypeError, "not a class number", np.where(y == 1, np.nan, y)),
                                    (TypeError, "holds None; integers", [None] * 60), (TypeError, "holds 0 beside words", np.array([0, "cat"] * 30, object)),
                                    (ValueError, "%d, which int64" % 2**70, np.array([2**70, 1] * 30, object)), (TypeError, "complex", y + 1j), (ValueError, "which int64 does not", np.full(60, 2**64 - 1, np.uint64))):
            with self.subTest(words=words):
                self.refused(kind, words, H, labels)
        self.refused(ValueError, r"60 labels for 6 rows of features; .*pass x.T", H.T, y)
        self.refused(ValueError, r"y of test has 60 labels for 6 rows of features; .*pass x.T", H, y, test=(H.T, y))
        words = np.array(["cat", "dog", "ant"])[y]
        self.refused(ValueError, "names in the order of W's rows", H, words, W)
        self.refused(ValueError, "'dog', which is none of the 2 classes", H, words, classes=["cat", "ant"])
        self.refused(ValueError, "names of the 3 classes in order", H, words, classes=3)
        self.refused(ValueError, "names 'a' twice", H, y, classes=["a", "a", "b"])
        self.refused(ValueError, "'emu', which is none", H, words, test=(H, ["emu"] * 60))

    def test_classifiers(self):
        H, y, W, b = made()
        self.refused(ValueError, r"\(K, 6\) is wanted: pass W.T", H, y, W.T)
        self.refused(ValueError, r"\(K, 6\) is wanted$", H, y, W[:, :4])
        self.refused(ValueError, r"b has shape \(2,\)", H, y, W, b[:2])
        self.refused(ValueError, r"one row, the logit .*np.vstack\(\[-W, W\]\) / 2", H, y, W[:1])
        self.refused(TypeError, "b is given without W", H, y, None, b)
        self.refused(ValueError, "classes are 4, and W has 3 rows", H, y, W, classes=list("abcd"))

    def test_other_samples(self):
        H, y, W, b = made()
        self.refused(TypeError, r"test=\(H, y\)", H, y, test=H)
        self.refused(ValueError, "has width 4, and H has 6", H, y, ood=H[:, :4])
        self.refused(ValueError, "59 labels for 60 rows", H, y, true=y[1:])
        self.refused(ValueError, "must be 'samples' or 'states'", H, y, keep="sums")


class LabelsTest(unittest.TestCase):
    """As internal/featurefiles/labels.go decides."""

    def test_a_row_or_a_column_of_labels(self):
        H, y, W, b = made()
        want = Labels().numbers(y, len(y), "y")
        for labels in (y[:, None], y[None], y.reshape(1, -1, 1), y.astype(float)[None]):
            np.testing.assert_array_equal(Labels().numbers(labels, len(y), "y"), want)

    def test_objects_that_are_numbers(self):
        """A column of pandas is one, if its type is object or one of those that know missing values."""
        y = np.array([2, 0, 1, 1])
        for labels in (y.astype(object), y.astype(float).astype(object), np.array([np.int32(x) for x in y], object), np.array([2, False, True, 1.0], object), y.astype(object)[:, None]):
            numbers = Labels().numbers(labels, 4, "y")
            np.testing.assert_array_equal(numbers, y)
            self.assertEqual(numbers.dtype, np.int64)
        np.testing.assert_array_equal(Labels(["a", "b", "c"]).numbers(y.astype(object), 4, "y"), y)
        np.testing.assert_array_equal(Labels().numbers(np.array([-100, 1], object), 2, "y", [-100]), [-100, 1])
        for wrong, kind in ((.5, TypeError), (np.nan, TypeError), (-100, ValueError), (None, TypeError)):
            with self.assertRaises(kind):
                Labels().numbers(np.array([0, wrong], object), 2, "y")

    @unittest.skipUnless(importlib.util.find_spec("pandas"), "pandas is not installed")
    def test_columns_of_pandas(self):
        import pandas as pd
        y = np.array([2, 0, 1, 1])
        for kind in ("Int64", "UInt8", "Float64", "object", "category"):
            np.testing.assert_array_equal(Labels().numbers(pd.Series(y).astype(kind), 4, "y"), y)
        with self.assertRaisesRegex(TypeError, "nan"):
            Labels().numbers(pd.Series([2, 0, None, 1], dtype="Int64"), 4, "y")

    def test_minus_one_and_one_are_two_classes(self):
        y = np.array([1, -1, -1, 1, 1])
        labels = Labels()
        np.testing.assert_array_equal(labels.numbers(y, 5, "y"), [1, 0, 0, 1, 1])
        self.assertEqual((labels.k, labels.names), (2, ["-1", "1"]))
        np.testing.assert_array_equal(labels.numbers(y[::-1], 5, "y of test"), [1, 1, 0, 0, 1])
        for wrong, classes in ((np.array([1, -1, 0]), None), (np.array([-1, -1]), None), (np.array([-1, 1]), 3)):
            with self.assertRaisesRegex(ValueError, "holds -1, which is not a class; leave its samples out with ignore_index=-1"):
                Labels(classes).numbers(wrong, len(wrong), "y")


class ImportTest(unittest.TestCase):
    def test_importing_loads_nothing_large(self):
        code = ("import sys, collapse; collapse.measure\n"
                "print(sorted({name.split('.')[0] for name in sys.modules} & {'torch', 'matplotlib', 'pandas', 'scipy'}))")
        loaded = subprocess.run([sys.executable, "-c", code], cwd=ROOT, stdout=subprocess.PIPE, check=True, text=True).stdout
        self.assertEqual(loaded, "[]\n", "what takes long to import is imported where it is used")


if __name__ == "__main__":
    unittest.main()
