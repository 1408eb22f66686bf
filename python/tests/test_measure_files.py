"""measure() of files and folders takes the options that it takes of arrays, and the names of the package are there before their first use."""

import inspect
import os
import subprocess
import sys

import numpy as np
from support import FolderTest, ROOT, needs_torch, torch

import collapse


class FilesTest(FolderTest):
    def setUp(self):
        super().setUp()
        if not os.environ.get("COLLAPSE_BINARY"):
            self.skipTest("COLLAPSE_BINARY is not set")
        os.makedirs(self.folder)
        rng = np.random.default_rng(0)
        self.y = np.arange(60) % 3
        self.H = (3 * np.eye(4)[self.y] + 0.3 * rng.normal(size=(60, 4))).astype(np.float32)
        self.want = collapse.measure(self.H, self.y, null=0)["measures"]

    def save(self, name, write, *arrays, **named):
        path = os.path.join(self.folder, name)
        write(path, *arrays, **named)
        return path

    def test_a_file_gives_what_its_arrays_give(self):
        path = self.save("x.npz", np.savez, features=self.H, labels=self.y)
        self.assertEqual(collapse.measure(path, null=0)["measures"], self.want)
        h, y = self.save("h.npy", np.save, self.H), self.save("y.npy", np.save, self.y)
        self.assertEqual(collapse.measure(h, y, null=0)["measures"], self.want)

    def test_options_are_those_of_arrays(self):
        y = self.y.copy()
        y[:5] = -100
        path = self.save("x.npz", np.savez, features=self.H, labels=y)
        options = dict(ignore_index=-100, measures=["nc1_pinv"], null=0, min_count=2, imbalance="class", classes=4)
        self.assertEqual(collapse.measure(path, **options)["measures"], collapse.measure(self.H, y, **options)["measures"])
        W = np.eye(3, 4, dtype=np.float32)
        words = np.array(["owl", "cat", "dog"])[self.y]
        path = self.save("w.npz", np.savez, features=self.H, labels=words, weight=W)
        names = ["owl", "cat", "dog"]
        self.assertEqual(collapse.measure(path, classes=names, null=0).accuracy, collapse.measure(self.H, words, W, classes=names, null=0).accuracy)
        with self.assertRaisesRegex(collapse.MeasureError, "nothing says which row"):
            collapse.measure(path, null=0)

    def test_what_does_not_go_with_a_file_is_named(self):
        path = self.save("x.npz", np.savez, features=self.H, labels=self.y)
        with self.assertRaisesRegex(TypeError, "keep does not go with"):
            collapse.measure(path, keep="states")
        with self.assertRaisesRegex(TypeError, "is a file, and labels is a ndarray"):
            collapse.measure(path, self.y)
        with self.assertRaisesRegex(TypeError, r"measure\(\) got an unexpected keyword argument 'weigths'"):
            collapse.measure(self.H, self.y, weigths=1)

    @needs_torch
    def test_a_folder_of_one_layer_is_that_layer(self):
        model = torch.nn.Sequential()
        model.add_module("body", torch.nn.Linear(4, 8))
        model.add_module("act", torch.nn.Tanh())
        for layers, refused in ((["body"], None), (["body", "act"], "layer='body' or layer='act'")):
            folder = os.path.join(self.folder, "tap%d" % len(layers))
            with torch.no_grad(), collapse.Tap(model, folder, classifier=None, layers=layers) as tap:
                model(torch.from_numpy(self.H))
                tap.labels(self.y)
            if refused:
                with self.assertRaisesRegex(ValueError, refused):
                    collapse.measure(folder)
            with torch.no_grad():
                want = collapse.measure(model.body(torch.from_numpy(self.H)), self.y, null=0, measures="all")
            got = collapse.measure(folder, null=0, measures="all", layer="body" if refused else None)
            self.assertEqual(got["measures"], want["measures"])


class NamesTest(FolderTest):
    def test_names_are_there_before_their_first_use(self):
        code = "import collapse; assert {'measure', 'Tap', '__version__'} <= set(dir(collapse)), dir(collapse); print(collapse.__version__)"
        done = subprocess.run([sys.executable, "-c", code], env=dict(os.environ, PYTHONPATH=ROOT), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.assertRegex(done.stdout, r"^\d", done.stderr)

    def test_a_type_checker_sees_the_options(self):
        self.assertTrue(os.path.exists(os.path.join(ROOT, "collapse", "py.typed")))
        signature = inspect.signature(collapse.measure)
        self.assertNotIn(inspect.Parameter.VAR_KEYWORD, [p.kind for p in signature.parameters.values()])
        self.assertIs(signature.return_annotation, collapse.Result)
