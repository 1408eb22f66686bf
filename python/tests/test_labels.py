"""Labels of tokens and pixels, labels that stand for none, and folders that are used again."""

import os
import re
import unittest

import numpy as np

from kinds import D, K, N, T, build, inputs
from support import CaptureTest, needs_torch, torch

import collapse
from collapse import Tap, capture_info


class LabelledTest(CaptureTest):
    def capture(self, kind="Tied", calls=(), folder=None, **options):
        """One batch for each call: (args, kwargs) of labels. Returns tap.json."""
        model = build(kind)
        with torch.no_grad(), Tap(model, folder or self.folder, **options) as tap:
            for seed, (args, kwargs) in enumerate(calls):
                model(inputs(kind, seed))
                tap.labels(*args, **kwargs)
        return self.info(folder)

    def features(self, kind, seed=0):
        """The classifier's input, one row a position."""
        with torch.no_grad():
            return build(kind).features(inputs(kind, seed)).reshape(-1, D).numpy()


@needs_torch
class LabelsTest(LabelledTest):
    def test_tokens_are_rows_in_the_order_of_their_labels(self):
        y = torch.arange(N * T).reshape(N, T) % K
        info = self.capture(calls=[((y,), {}), ((y.reshape(-1),), {})])
        want = np.concatenate([self.features("Tied", 0), self.features("Tied", 1)])
        np.testing.assert_array_equal(self.stream("features"), want)
        np.testing.assert_array_equal(self.stream("labels"), np.tile(y.numpy().reshape(-1), 2))
        self.assertEqual((info["samples"], info["dropped"]["total"]), (2 * N * T, 0))

    def test_pixels_are_rows_too(self):
        y = torch.arange(N * 4).reshape(N, 2, 2) % K
        self.capture("DenseConvolution", [((y,), {"ignore_index": 3})])
        kept = y.numpy().reshape(-1) != 3
        np.testing.assert_array_equal(self.stream("features"), self.features("DenseConvolution")[kept])
        np.testing.assert_array_equal(self.stream("labels"), y.numpy().reshape(-1)[kept])

    def test_ignored_and_masked_positions_are_dropped_from_every_stream_and_counted(self):
        y = np.arange(N * T).reshape(N, T) % K
        y[0, :3], y[5, 2] = -100, -1
        mask = np.ones((N, T), bool)
        mask[1], mask[0, 0] = False, False  # (0, 0) is left out by both, and counts for the mask
        corrupted, true = y == 2, np.abs(y)
        call = ((y,), {"ignore_index": [-100, -1], "mask": mask, "true": true, "corrupted": corrupted})
        info = self.capture(calls=[call, call], layers=["mix"], pool="positions")
        kept = (mask & (y >= 0)).reshape(-1)
        self.assertEqual(kept.sum(), N * T - T - 1 - 2 - 1)
        self.assertEqual(info["dropped"], {"positions": 2 * N * T, "total": 2 * (T + 4), "mask": 2 * (T + 1), "ignore_index": {"-100": 4, "-1": 2}})
        self.assertEqual(info["samples"], 2 * kept.sum())
        for stream, want in (("labels", y), ("true_labels", true), ("corrupted", corrupted)):
            np.testing.assert_array_equal(self.stream(stream), np.tile(want.reshape(-1)[kept], 2))
        np.testing.assert_array_equal(self.stream("features"), np.concatenate([self.features("Tied", seed)[kept] for seed in range(2)]))
        np.testing.assert_allclose(np.tanh(self.stream("layers/mix")), self.stream("features"), rtol=1e-6)

    def test_masks_are_booleans_or_zeros_and_ones(self):
        y, mask = np.zeros((N, T), int), np.arange(N * T).reshape(N, T) % 2
        for value in (mask, mask.astype(bool), torch.tensor(mask), mask.tolist(), mask.reshape(-1)):
            self.setUp()
            self.assertEqual(self.capture(calls=[((y,), {"mask": value})])["dropped"]["mask"], N * T // 2)
        for value, kind, words in ((mask * 2, TypeError, "True .or 1."), (mask * 0.5, TypeError, "mask is float64"), (mask[:3], ValueError, "mask values have shape")):
            self.setUp()
            with self.assertRaisesRegex(kind, words):
                self.capture(calls=[((y,), {"mask": value})])

    def test_a_batch_of_which_nothing_is_left(self):
        y = torch.zeros(N, T, dtype=torch.int64)
        info = self.capture(calls=[((y - 100,), {"ignore_index": -100}), ((y,), {"ignore_index": -100})])
        self.assertEqual((info["samples"], info["dropped"]["total"]), (N * T, N * T))
        self.setUp()
        with self.assertRaisesRegex(ValueError, "left out all %d positions" % (N * T)):
            self.capture(calls=[((y - 100,), {"ignore_index": -100})])

    def test_labels_that_do_not_fit_the_positions(self):
        y = torch.zeros(N, T, dtype=torch.int64)
        for labels, words in ((y.t(), r"have shape \(5, 12\), and the classifier ran on positions \(12, 5\)"), (y[:, 0], r"ran on positions \(12, 5\): give one label"),
                              (y - 1, r"hold -1, which is not a class; .*ignore_index=-1")):
            self.setUp()
            with self.assertRaisesRegex(ValueError, words):
                self.capture(calls=[((labels,), {})])
        self.setUp()
        for value in (1.5, float("nan"), float("inf"), [0, None], {"a": 0}):
            self.setUp()
            with self.assertRaisesRegex(TypeError, "ignore_index is %s; a label or a list" % re.escape(repr(value))):
                self.capture(calls=[((y,), {"ignore_index": value})])
            with self.assertRaisesRegex(TypeError, "ignore_index is %s; a label or a list" % re.escape(repr(value))):
                collapse.measure(np.zeros((4, 2)), [0, 0, 1, 1], ignore_index=value)

    def test_labels_to_ignore_are_given_as_measure_takes_them(self):
        y = torch.arange(N * T).reshape(N, T) % K - 1
        for value, counted in ((-1, {"-1": N * T // K}), ([-1], {"-1": N * T // K}), (np.array([-1, 0]), {"-1": N * T // K, "0": N * T // K}), (torch.tensor(-1), {"-1": N * T // K}),
                               (-1.0, {"-1": N * T // K}),
                               ({-1}, {"-1": N * T // K}), (["cat", -1], {"cat": 0, "-1": N * T // K})):  # a word is no label here, and leaves nothing out
            self.setUp()
            self.assertEqual(self.capture(calls=[((y,), {"ignore_index": value})])["dropped"]["ignore_index"], counted)
        self.setUp()
        self.assertEqual(self.capture(calls=[((y + 1,), {"ignore_index": []})])["dropped"], {"positions": N * T, "total": 0, "mask": 0, "ignore_index": {}})

    def test_a_refused_label_does_not_lose_the_batch(self):
        model, y = build("Net"), torch.zeros(N, dtype=torch.int64)
        with torch.no_grad(), Tap(model, self.folder) as tap:
            model(inputs("Net"))
            with self.assertRaises(ValueError):
                tap.labels(y - 1)
            tap.labels(y)
        self.assertEqual((self.info()["samples"], self.info()["dropped"]["positions"]), (N, N))

    def test_layers_pooled_otherwise_say_how(self):
        y = torch.zeros(N, T, dtype=torch.int64)
        with self.assertRaisesRegex(ValueError, "different numbers of rows.*pool='positions'"):
            self.capture(calls=[((y,), {})], layers=["mix"], pool="tokens")
        self.setUp()
        info = self.capture(calls=[((y,), {})], layers=["mix"], pool="positions", classifier=None)
        self.assertEqual((info["samples"], info["classifier"], info["proof"]), (N * T, None, None))


@needs_torch
class OverwriteTest(LabelledTest):
    CALLS = [((torch.zeros(N, T, dtype=torch.int64),), {})] if torch else []

    def tree(self):
        found = {}
        for folder, _, names in os.walk(os.path.dirname(self.folder)):
            for name in names:
                with open(os.path.join(folder, name), "rb") as f:
                    found[os.path.relpath(os.path.join(folder, name), self.folder)] = f.read()
        return found

    def test_a_folder_in_use_is_refused_and_nothing_is_lost(self):
        self.capture(calls=self.CALLS)
        before = self.tree()
        with self.assertRaisesRegex(FileExistsError, "is not empty.*overwrite=True"):
            self.capture(calls=self.CALLS)
        self.assertEqual(self.tree(), before)

    def test_overwrite_replaces_a_capture_once_the_new_one_is_whole(self):
        self.capture("Net", [((torch.zeros(N, dtype=torch.int64),), {"true": torch.ones(N, dtype=torch.int64)})], layers=["body.one"])
        before = self.tree()
        model = build("Tied")
        with torch.no_grad(), Tap(model, self.folder, overwrite=True) as tap:
            model(inputs("Tied"))
            tap.labels(*self.CALLS[0][0])
            self.assertEqual({name: data for name, data in self.tree().items() if not name.startswith("../")}, before)
        info = capture_info(self.folder)
        self.assertEqual((info["classifier"], info["samples"]), ("lm_head", N * T))
        self.assertEqual(sorted(self.tree()), ["features/00000.npy", "labels/00000.npy", "tap.json", "weight.npy"])
        self.assertEqual(os.listdir(os.path.dirname(self.folder)), ["capture"])

    def test_a_new_capture_that_fails_leaves_the_old_one(self):
        self.capture(calls=self.CALLS)
        before = self.tree()
        for batches in (0, 1):
            with self.assertWarnsRegex(UserWarning, "older one in .* stays") if batches else self.subTest():
                with self.assertRaises(KeyboardInterrupt):
                    self.interrupted(batches)
            now = self.tree()
            self.assertEqual({name: now[name] for name in before}, before)
            self.assertEqual(len(now) > len(before), batches == 1)
        self.capture(calls=self.CALLS, overwrite=True)  # over what the interrupted one left
        self.assertEqual(os.listdir(os.path.dirname(self.folder)), ["capture"])

    def test_a_capture_without_samples_leaves_no_files(self):
        with self.assertRaises(ValueError), torch.no_grad(), Tap(build("Net"), self.folder) as tap:
            tap._model(inputs("Net"))  # its weights are saved, and its labels never come
            self.assertIn("weight.npy", os.listdir(self.folder))
        self.assertEqual(os.listdir(self.folder), [])

    def interrupted(self, batches):
        model = build("Tied")
        with torch.no_grad(), Tap(model, self.folder, overwrite=True) as tap:
            for _ in range(batches):
                model(inputs("Tied"))
                tap.labels(*self.CALLS[0][0])
            raise KeyboardInterrupt

    def test_overwrite_never_removes_what_is_not_a_capture(self):
        foreign = ("notes.txt", "features/notes.txt", "layers/mix/notes.txt", "layers/notes.txt", "labels/00000.npy/inside", "sub/tap.json")
        for name in foreign:
            with self.subTest(name):
                self.setUp()
                self.capture(calls=self.CALLS, layers=["mix"], pool="positions")
                path = os.path.join(self.folder, name)
                if os.path.isfile(os.path.dirname(path)):
                    os.remove(os.path.dirname(path))
                os.makedirs(os.path.dirname(path), exist_ok=True)
                with open(path, "w") as f:
                    f.write("mine")
                before = self.tree()
                with self.assertRaisesRegex(FileExistsError, "replaces captures only"):
                    self.capture(calls=self.CALLS, overwrite=True)
                self.assertEqual(self.tree(), before)

    def test_overwrite_wants_a_description(self):
        for text in (None, "[1]", '{"format": "other"}', "{"):
            self.setUp()
            os.makedirs(self.folder + "/labels")
            np.save(self.folder + "/labels/00000.npy", np.arange(3))
            if text is not None:
                with open(self.folder + "/tap.json", "w") as f:
                    f.write(text)
            with self.assertRaisesRegex(FileExistsError, "has no tap.json that says"):
                self.capture(calls=self.CALLS, overwrite=True)
            np.testing.assert_array_equal(np.load(self.folder + "/labels/00000.npy"), np.arange(3))

    def test_overwrite_of_a_new_or_empty_folder_and_through_a_link(self):
        self.capture(calls=self.CALLS, overwrite=True)
        link = self.folder + "-link"
        os.symlink(self.folder, link)
        self.assertEqual(self.capture(calls=self.CALLS * 2, folder=link, overwrite=True)["samples"], 2 * N * T)
        self.assertTrue(os.path.islink(link))
        self.assertEqual(self.info()["samples"], 2 * N * T)

    def test_overwrite_keeps_the_mode_of_the_folder(self):
        self.capture(calls=self.CALLS)
        os.chmod(self.folder, 0o700)
        self.capture(calls=self.CALLS * 2, overwrite=True)
        self.assertEqual(self.info()["samples"], 2 * N * T)
        self.assertEqual(os.stat(self.folder).st_mode & 0o777, 0o700)


if __name__ == "__main__":
    unittest.main()
