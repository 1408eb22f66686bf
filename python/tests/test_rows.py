"""Outputs of modules as rows, and labels as numbers: every pool on every shape, and what is refused with which words."""

import unittest

import numpy as np

from support import needs_torch, torch

from collapse import rows


@needs_torch
class PoolsTest(unittest.TestCase):
    SHAPES = ((4, 3), (4, 5, 3), (4, 3, 2, 5), (4, 3, 2, 5, 2))

    def test_every_pool_on_every_shape(self):
        for shape in self.SHAPES:
            x = torch.arange(float(np.prod(shape))).reshape(shape)
            a = x.numpy()
            want = {"mean": a.mean(tuple(range(2, a.ndim))) if a.ndim in (4, 5) else None, "flatten": a.reshape(4, -1), "tokens": a.mean(1) if a.ndim == 3 else None,
                    "positions": a.reshape(-1, 3) if a.ndim == 3 else np.moveaxis(a, 1, -1).reshape(-1, 3)}
            for pool, value in want.items():
                with self.subTest(pool=pool, shape=shape):
                    value = a if a.ndim == 2 else value
                    if value is None:
                        with self.assertRaisesRegex(ValueError, "module 'm' has shape %s, which pool='%s' does not cover" % (str(shape).replace("(", r"\(").replace(")", r"\)"), pool)):
                            rows.rows_of(x, pool, "m")
                        continue
                    for found in (rows.rows_of(x, pool, "m"), rows.rows_on_device((x,), pool, "m").numpy()):
                        np.testing.assert_allclose(found, value, rtol=1e-6)
                        self.assertEqual(found.dtype, np.float32)
                        self.assertFalse(np.shares_memory(found, a))  # the next layer may work in place
                        self.assertTrue(found.flags.c_contiguous)

    def test_functions_types_and_what_is_no_tensor(self):
        x = torch.randn(4, 5, 3, dtype=torch.float64)
        self.assertEqual(rows.rows_of(x, lambda t: t[:, 0], "m").dtype, np.float64)
        np.testing.assert_array_equal(rows.rows_of((x,), lambda t: t[:, 0], "m"), x[:, 0].numpy())
        np.testing.assert_array_equal(rows.rows_of((x, 3), lambda t: t[0][:, 1], "m"), x[:, 1].numpy())
        np.testing.assert_array_equal(rows.rows_of(x.bfloat16(), "flatten", "m"), x.bfloat16().float().flatten(1).numpy())
        self.assertEqual(rows.rows_of(x.half().requires_grad_(), "flatten", "m").dtype, np.float32)
        self.assertTrue(rows.rows_of(x.transpose(1, 2), lambda t: t[0], "m").flags.c_contiguous)
        for value, kind, words in (((x, x), TypeError, "takes or gives a tuple, not one tensor"), ([x], TypeError, "gives a list"), (x.long(), TypeError, "gives torch.int64; features must be"),
                                   (torch.tensor(1.0), ValueError, r"shape \(\)"), (torch.zeros(3), ValueError, r"shape \(3,\)")):
            with self.assertRaisesRegex(kind, words):
                rows.rows_of(value, "flatten", "m")
        with self.assertRaisesRegex(ValueError, r"module 'm' gives rows of shape \(4, 5, 3\); one row a sample"):
            rows.rows_of(x, lambda t: t, "m")

    def test_select(self):
        kept = np.array([True, False, True, True])
        x = torch.arange(8).reshape(4, 2)
        self.assertEqual(rows.select(x, kept).tolist(), [[0, 1], [4, 5], [6, 7]])
        self.assertEqual(rows.select(x.numpy(), kept).tolist(), [[0, 1], [4, 5], [6, 7]])


class LabelsTest(unittest.TestCase):
    def test_shapes_that_fit(self):
        for y, positions in (([1, 0, 2], (3,)), ([[1], [0], [2]], (3,)), ([[1, 0, 2]], (3,)), ([[1, 0, 2], [0, 1, 2]], (2, 3)), ([1, 0, 2, 0, 1, 2], (2, 3)),
                             ([[[1], [0]], [[2], [2]]], (2, 2)), ([1.0, 2.0], (2,)), ([True, False], (2,)), ([], (0,))):
            found = rows.integers(y, "labels", positions)
            self.assertEqual((found.tolist(), found.dtype, found.ndim), (np.ravel(y).tolist(), np.int64, 1))

    def test_shapes_and_types_that_do_not(self):
        for y, positions, kind, words in ((1, (1,), ValueError, "1 labels for a batch of 1 samples"), ([1, 0], (3,), ValueError, "2 labels for a batch of 3 samples"),
                                          ([[1], [0]], (3,), ValueError, "2 labels for a batch of 3 samples"),
                                          ([[1, 0], [0, 1], [0, 1]], (3,), ValueError, r"shape \(3, 2\); one integer a sample is wanted \(for one-hot rows: y.argmax"),
                                          ([[[1, 0]], [[0, 1]]], (2,), ValueError, "4 labels for a batch of 2 samples"),
                                          ([[1, 0, 2]], (2, 3), ValueError, r"shape \(1, 3\), and the classifier ran on positions \(2, 3\)"),
                                          ([[1, 0], [2, 0], [1, 2]], (2, 3), ValueError, "give one label for each"), (["a", "b"], (2,), TypeError, "labels are words; class numbers"),
                                          (np.array([None, 1], object), (2,), TypeError, "labels are objects"), ([1.5, 2], (2,), TypeError, "1.5 is not a class number")):
            with self.subTest(y=y, positions=positions), self.assertRaisesRegex(kind, words):
                rows.integers(y, "labels", positions)

    def test_weights_that_are_the_same(self):
        one = np.array([[1, -2], [0.5, 4]], np.float32)
        eps = np.finfo(np.float32).eps
        self.assertTrue(rows.same_weights(one, one + np.float32(15 * eps * 4)))
        self.assertFalse(rows.same_weights(one, one + np.float32(18 * eps * 4)))
        self.assertTrue(rows.same_weights(one.astype(np.float64), one + np.float32(15 * eps * 4)))  # the coarser type decides
        self.assertFalse(rows.same_weights(one.astype(np.float64), one.astype(np.float64) * (1 + 1e-9)))
        self.assertFalse(rows.same_weights(one, one.T[:1]))
        self.assertFalse(rows.same_weights(one, -one))
        self.assertTrue(rows.same_weights(np.zeros((0, 2)), np.ones((0, 2))))

    def test_what_was_left_out_is_counted(self):
        dropped = rows.Dropped()
        self.assertEqual(dropped.describe(), {"positions": 0, "total": 0, "mask": 0, "ignore_index": {}})
        for y, ignore, mask, want in (([0, 1, -100, 2], -100, None, [1, 1, 0, 1]), ([0, 1, 2, 2], [2, 1], [1, 0, 1, 0], [1, 0, 0, 0]), ([0, 1], None, None, [1, 1])):
            kept, counts = dropped.keep(np.array(y), (len(y),), ignore, mask)
            self.assertEqual(kept.astype(int).tolist(), want)
            dropped.count(kept, counts)
        self.assertEqual((dropped.describe(), dropped.total), ({"positions": 10, "total": 4, "mask": 2, "ignore_index": {"-100": 1, "2": 1, "1": 0}}, 4))

    def test_negative_labels_that_are_classes(self):
        keep = lambda y, **options: rows.Dropped().keep(np.array(y), (len(y),), None, options.pop("mask", None), **options)[0].all()
        self.assertTrue(keep([-1, 1, 1], signs=True))
        for y, signs, wrong in (([-1, 1], False, -1), ([-1, 0, 1], True, -1), ([-2, 1, -1], True, -2), ([-5, 3], False, -5)):
            with self.assertRaisesRegex(ValueError, r"labels hold %d, .*ignore_index=%d\)" % (wrong, wrong)):
                keep(y, signs=signs)


if __name__ == "__main__":
    unittest.main()
