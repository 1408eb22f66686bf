"""History: what is kept, drawn, logged (to stand-ins where a package is not installed) and recorded in a lab."""

import importlib.util
import json
import math
import os
import re
import subprocess
import sys
import types
import unittest
import xml.etree.ElementTree as ElementTree
from unittest import mock

import numpy as np

from support import FolderTest, needs_torch, torch

import collapse
from test_arrays import made, needs_program

collapse.Result  # loaded here: what is first loaded under a patch of sys.modules is forgotten with it, and another class later
WITHOUT_MATPLOTLIB = mock.patch.dict(sys.modules, {"matplotlib": None, "matplotlib.figure": None})


def parts(root, kind):
    """Elements of an SVG that the program drew, by their class."""
    return [e for e in root.iter() if e.get("class") == kind]


def result(**measures):
    return collapse.Result(measures=measures, missing={}, n=1, k=2, d=3, finding="x")


class HistoryTest(FolderTest):
    def test_what_is_added_is_there_again(self):
        h = collapse.History(self.folder)
        h.add(1, result(nc1_pinv=.5, test_accuracy=.9, dilation=2), loss=np.float32(.25), lr=np.array([.1]))
        h.add(3, result(nc1_pinv=.125), **{"test/loss": float("nan")})
        h.add(3, more=7)
        for again in (h, collapse.History(self.folder)):
            self.assertEqual([e for e, _ in again.epochs], [1, 3])
            self.assertEqual(again.epochs[0][1], {"train/nc1_pinv": .5, "test/accuracy": .9, "test/dilation": 2, "loss": .25, "lr": .1})
            self.assertEqual(again.curve("train/nc1_pinv"), ([1, 3], [.5, .125]))
            self.assertTrue(math.isnan(again.curve("test/loss")[1][0]))
            self.assertEqual(again.rows()[1]["more"], 7)
        with self.assertRaisesRegex(KeyError, "near: train/nc1_pinv"):
            h.curve("nc1_pinv")
        with self.assertRaisesRegex(TypeError, "loss is .*one number is wanted"):
            h.add(4, loss=[1, 2])
        with self.assertRaisesRegex(TypeError, "numbers of your own go by name"):
            h.add(4, {"loss": 1})
        h.add(4, f1=None, loss=1)
        self.assertEqual(h.epochs[-1], (4, {"loss": 1}))

    def test_going_on_from_a_checkpoint_replaces_what_follows(self):
        h = collapse.History(self.folder)
        for epoch in (1, 2, 3):
            h.add(epoch, loss=epoch)
        h = collapse.History(self.folder)
        h.add(2, loss=20)
        self.assertEqual(collapse.History(self.folder).epochs, [(1, {"loss": 1}), (2, {"loss": 20})])

    def test_half_a_line_is_not_read_and_other_files_are_refused(self):
        collapse.History(self.folder).add(1, loss=1)
        path = self.folder + "/history.jsonl"
        with open(path, "a") as f:
            f.write('{"epoch": 2, "va')
        self.assertEqual(collapse.History(self.folder).add(2, loss=2).curve("loss"), ([1, 2], [1, 2]))
        self.assertEqual(collapse.History(self.folder).curve("loss"), ([1, 2], [1, 2]))
        with open(path, "w") as f:
            f.write("nonsense\n")
        with self.assertRaisesRegex(ValueError, "line 1 is not an entry of a history"):
            collapse.History(self.folder)

    @needs_program
    def test_pictures(self):
        h = collapse.History()
        for epoch in range(1, 9):
            h.add(epoch, result(nc1_pinv=10.0 ** -epoch, cdnv=1), loss=1 / epoch)
        os.mkdir(self.folder)
        path = self.folder + "/curves.svg"
        with WITHOUT_MATPLOTLIB:
            text = h.plot(path, ["train/nc1_pinv", "loss"])
            with self.assertRaisesRegex(ImportError, "ends in .svg"):
                h.plot(self.folder + "/curves.png")
        with open(path) as f:
            self.assertEqual(f.read(), text)
        root = ElementTree.fromstring(text)
        self.assertEqual([(panel.get("data-y-scale"), float(panel.get("data-x-min")) < 1, float(panel.get("data-x-max")) > 8) for panel in parts(root, "panel")],
                         [("log", True, True), ("linear", True, True)])
        points = [[tuple(map(float, re.match("M([^ ]+) ([^h]+)h", mark.get("d")).groups())) for mark in parts(series, "mark")] for series in parts(root, "series")]
        self.assertEqual([len(line) for line in points], [8, 8])
        steps = np.diff([y for _, y in points[0]])
        self.assertGreater(steps.min(), 10)
        self.assertLess(np.ptp(steps), .2, "nc1 falls by a factor of ten each epoch: a straight line on a logarithmic axis")
        self.assertGreater(np.ptp(np.diff([y for _, y in points[1]])), 5)
        words = [e.text for e in root.iter() if e.tag.endswith("text")]
        self.assertIn("↑ NC1 (train)", words)
        self.assertIn("↑ loss", words)
        self.assertIn("epoch →", words)
        self.assertIn("<svg", h._repr_html_())

    @needs_program
    def test_pictures_of_what_is_not_finite_and_of_many_names(self):
        from collapse.drawing import svg
        text = svg([("loss", range(40), [math.nan, math.inf, -math.inf] + [2.] * 37), ("<nc1>", [0, 1], np.float32([1, 2]))], "layer", ["encoder.%d" % i for i in range(40)])
        words = [e.text for e in ElementTree.fromstring(text).iter() if e.tag.endswith("text")]
        self.assertIn("↑ <nc1>", words)
        self.assertTrue(any("layer 40: encoder.39" in word for word in words), words)
        self.assertTrue(any("3 values not drawn (not finite)" in word for word in words), words)

    @needs_program
    def test_pictures_that_the_program_refuses(self):
        from collapse.drawing import svg
        with self.assertRaisesRegex(collapse.MeasureError, "exit status 2:(.|\n)*a text has 5000 bytes"):
            svg([("x" * 5000, [1], [1])], "epoch")
        with self.assertRaisesRegex(FileNotFoundError, "not a program that can be run"):
            svg([("x", [1], [1])], "epoch", binary=self.folder)

    @unittest.skipUnless(importlib.util.find_spec("matplotlib"), "matplotlib is not installed (Debian: python3-matplotlib)")
    def test_pictures_by_matplotlib(self):
        file = os.path.join(os.path.dirname(self.folder), "x.png")
        figure = collapse.History().add(1, loss=1).add(2, loss=100).plot(file, ["loss"])
        self.assertTrue(figure.get_constrained_layout())
        self.assertEqual(list(figure.get_size_inches()), [4, 2.6])
        panel, = figure.axes
        self.assertEqual((panel.get_title(), panel.get_xlabel(), panel.get_yscale()), ("loss", "epoch", "log"))
        line, = panel.lines
        self.assertEqual((list(line.get_xdata()), list(line.get_ydata())), ([1, 2], [1, 100]))
        with open(file, "rb") as f:
            self.assertEqual(f.read(4), b"\x89PNG")

    def test_loggers(self):
        got = []
        run = types.SimpleNamespace(log=lambda numbers: got.append(("wandb", numbers)))
        writer = types.SimpleNamespace(add_scalar=lambda *a: got.append(("tensorboard",) + a), flush=lambda: None)
        mlflow = types.ModuleType("mlflow")
        mlflow.log_metrics = lambda metrics, step: got.append(("mlflow", metrics, step))  # mlflow/tracking/fluent.py: log_metrics(metrics, step=None, …)
        wandb = types.ModuleType("wandb")
        wandb.init = lambda project: types.SimpleNamespace(log=lambda numbers: got.append((project, numbers)))
        with mock.patch.dict(sys.modules, {"mlflow": mlflow, "wandb": wandb}):
            h = collapse.History().log_to(lambda epoch, numbers: got.append((epoch, numbers))).log_to(run).log_to(writer).log_to("mlflow").log_to("wandb", project="p")
        h.add(2, loss=1)
        self.assertEqual(got, [(2, {"loss": 1}), ("wandb", {"loss": 1, "epoch": 2}), ("tensorboard", "loss", 1, 2), ("mlflow", {"loss": 1}, 2), ("p", {"loss": 1, "epoch": 2})])
        with self.assertRaisesRegex(ValueError, "wanted 'tensorboard', 'wandb', 'mlflow'"):
            h.log_to("tensorbord")
        with mock.patch.dict(sys.modules, {"wandb": None}), self.assertRaisesRegex(ImportError, "needs wandb"):
            h.log_to("wandb")

    def test_frames_without_pandas(self):
        with mock.patch.dict(sys.modules, {"pandas": None}):
            with self.assertRaisesRegex(ImportError, "needs pandas.*rows"):
                collapse.History().add(1, loss=1).frame()
            with self.assertRaisesRegex(ImportError, "needs pandas.*rows"):
                result(nc1_pinv=1).to_frame()

    @needs_program
    def test_a_recorded_history_is_a_run_of_the_lab(self):
        lab = self.folder + "-lab"
        H, y, W, b = made()
        h = collapse.History(self.folder, lab=lab, name="my net")
        for epoch in (1, 2):
            h.add(epoch, collapse.measure(H / epoch, y, W, b, null=0), loss=1 / epoch)
            run = h.record()
        program = [collapse.find_binary(), "--lab", lab, "--json"]
        call = lambda *words: json.loads(subprocess.run(program + list(words), stdout=subprocess.PIPE, check=True).stdout)
        runs = call("runs", "list")
        self.assertEqual([(r["run"], r["label"], r["status"], r["last_epoch"]) for r in runs], [(run, "my net", "done", 2)])
        values = {(v["split"], v["measure"], v["step"]): v["value"] for v in call("export", run)}
        self.assertEqual(values["train", "nc1_pinv", 2], h.curve("train/nc1_pinv")[1][1])
        self.assertEqual(values["", "loss", 1], 1)
        with self.assertRaisesRegex(ValueError, "pass History.folder, lab="):
            collapse.History(self.folder).record()


class ResultTest(unittest.TestCase):
    def test_attributes_tables_and_words(self):
        r = collapse.Result({"n": 4, "k": 2, "d": 3, "finding": "Collapsed <&>", "measures": {"nc1_pinv": .5, "cdnv": 2}, "missing": {"accuracy": "no classifier"},
                             "readings": {"nc1_pinv": "small < one"}, "uncertainty": {"nc1_pinv": .25, "cdnv": 1}, "reason": {"nc1_pinv": "why"},
                             "null": {"nc1_pinv": {"low": 1, "median": 2, "high": 3}}, "class_counts": [2, 2], "per_class": {"mean_norm": [1, 2]}, "labels": ["a", "b"]})
        self.assertEqual((r.nc1_pinv, r["measures"]["nc1_pinv"], r.n, r.class_names), (.5, .5, 4, ["a", "b"]))
        self.assertEqual(r.rows(), [{"measure": "nc1_pinv", "value": .5, "plus_minus": .25, "null_low": 1, "null_high": 3, "reading": "small < one"},
                                    {"measure": "cdnv", "value": 2, "plus_minus": 0, "null_low": None, "null_high": None, "reading": ""}])
        self.assertEqual(r.class_rows()[1], {"class": "b", "count": 2, "mean_norm": 2})
        with self.assertRaisesRegex(AttributeError, "accuracy has no value: no classifier"):
            r.accuracy
        with self.assertRaisesRegex(AttributeError, "near: nc1_pinv"):
            r.nc1_pin
        html = r._repr_html_()
        self.assertIn("0.5 ± 0.25", html)
        self.assertIn("Collapsed &lt;&amp;&gt;", html)
        self.assertNotIn("small < one", html)
        self.assertIn("no classifier", html)
        ElementTree.fromstring("<x>%s</x>" % html.replace("<br>", "<br/>"))
        self.assertEqual(repr(r).splitlines(), ["Collapsed <&>.", "4 samples, 2 classes, d = 3", "  NC1  0.5 ± 0.25   within-class variability",
                                                "  2 measures in .rows(), 1 without a value in .missing"])
        self.assertEqual(r.properties(), {"NC1": .5})
        with self.assertRaisesRegex(AttributeError, "^collapse: a result has no 'nc1'; near: nc1_pinv$"):
            r.nc1
        alone = collapse.Result(r, measures={"cdnv": 2})
        self.assertIn("  cdnv  2", repr(alone))
        plain = r.to_dict()
        plain["measures"]["nc1_pinv"] = 9
        self.assertEqual((type(plain), r.nc1_pinv), (dict, .5))
        import copy, pickle
        self.assertEqual(pickle.loads(pickle.dumps(r)), copy.deepcopy(r))


if __name__ == "__main__":
    unittest.main()
