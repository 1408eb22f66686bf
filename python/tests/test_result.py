"""A result's attributes, rows and words, and a figure's parts, each against a document written here."""

import math
import unittest

from support import ROOT  # noqa: F401, it sets the import path

import collapse
from collapse import drawing


def document(**changed):
    return collapse.Result({"n": 60, "k": 3, "d": 6, "finding": "It has collapsed", "class_counts": [10, 20, 30],
                            "measures": {"nc1_pinv": 0.123456789, "accuracy": 0.5, "test_accuracy": 0.25, "vci": 2.0},
                            "missing": {"nc3_centred": "there is no classifier"}, "readings": {"nc1_pinv": "small <1"},
                            "null": {"nc1_pinv": {"low": 1.5, "high": 2.5}}, "reason": {"nc1_pinv": "digits"},
                            "uncertainty": {"nc1_pinv": 0.01, "vci": 7}, "input_rounding": {"nc1_pinv": 0.02}, "per_class": {"norm": [1, 2, 3]}, **changed})


class ResultTest(unittest.TestCase):
    def test_attributes(self):
        r = document()
        self.assertEqual((r.n, r.nc1_pinv, r.measures["vci"], r.class_names), (60, 0.123456789, 2.0, ["0", "1", "2"]))
        self.assertEqual(document(labels=["a", "b", "c"]).class_names, ["a", "b", "c"])
        for name, words in (("nc3_centred", "^collapse: nc3_centred has no value: there is no classifier$"), ("nc1", "^collapse: a result has no 'nc1'; near: nc1_pinv"), ("acuracy", "near: accuracy"),
                            ("zzzz", "^collapse: a result has no 'zzzz'$"), ("m", "near: measures, missing$"), ("__wrapped__", "^__wrapped__$")):
            with self.assertRaisesRegex(AttributeError, words):
                getattr(r, name)
        self.assertEqual((r["n"], r["nc1_pinv"], "nc1_pinv" in r, r.get("nc1_pinv")), (60, 0.123456789, False, None))
        for name, words in (("nc3_centred", "nc3_centred has no value: there is no classifier"), ("nc1", "a result has no 'nc1'; near: nc1_pinv"), (7, "a result has no 7")):
            with self.assertRaisesRegex(KeyError, words):
                r[name]
        self.assertTrue({"n", "nc1_pinv", "rows", "open", "finding"} <= set(dir(r)))
        self.assertFalse(hasattr(collapse.Result(), "n"))

    def test_how_far_rounding_may_reach(self):
        r = document()
        self.assertEqual((r.open("nc1_pinv"), r.open("vci"), r.open("none")), (0.03, 0.0, 0.0))
        self.assertEqual(document(input_rounding={}).open("nc1_pinv"), 0.01)
        self.assertEqual(document(uncertainty={}).open("nc1_pinv"), 0.02)

    def test_rows(self):
        r = document()
        self.assertEqual(r.rows()[0], {"measure": "nc1_pinv", "value": 0.123456789, "plus_minus": 0.03, "null_low": 1.5, "null_high": 2.5, "reading": "small <1"})
        self.assertEqual(r.rows()[1], {"measure": "accuracy", "value": 0.5, "plus_minus": 0.0, "null_low": None, "null_high": None, "reading": ""})
        self.assertEqual(len(document(null=None).rows()), 4)
        self.assertEqual(r.class_rows(), [{"class": str(k), "count": 10 * (k + 1), "norm": k + 1} for k in range(3)])
        self.assertEqual(r.properties(), {"NC1": 0.123456789})
        plain = r.to_dict()
        plain["measures"]["vci"] = 9
        self.assertEqual((type(plain), r.vci), (dict, 2.0))

    def test_as_text(self):
        self.assertEqual(repr(document()).split("\n"), ["It has collapsed.", "60 samples, 3 classes, d = 6", "  NC1            0.123 ± 0.03 within-class variability", "  accuracy       0.5",
                                                       "  test accuracy  0.25", "  4 measures in .rows(), 1 without a value in .missing"])
        self.assertEqual(repr(document(measures={"vci": 2.0}, readings={"vci": "two"})).split("\n")[2:], ["  vci  2            two", "  1 measures in .rows(), 1 without a value in .missing"])
        self.assertEqual([repr(document(finding="a" * n + " " + "b" * 40)).split("\n")[0] for n in (38, 39)], ["a" * 38 + " " + "b" * 40 + ".", "a" * 39])  # 80 characters a line
        self.assertEqual(repr(collapse.Result(a=1)), "{'a': 1}")
        self.assertTrue(repr(document(measures={}, missing={})).endswith("d = 6\n  0 measures in .rows(), 0 without a value in .missing"))

    def test_as_a_page(self):
        text = document(finding="a < b")._repr_html_()
        for part in ("<b>a &lt; b.</b><br>60 samples, 3 classes, d = 6</p>", "<th style='text-align:left'>nc1_pinv</th><td>0.123457 ± 0.03</td><td style='text-align:left'>small &lt;1</td>",
                     "<summary>1 measures have no value</summary><ul><li><b>nc3_centred</b>: there is no classifier</li></ul>"):
            self.assertIn(part, text)
        self.assertNotIn("<details>", document(missing={})._repr_html_())


class FigureTest(unittest.TestCase):
    def test_titles(self):
        for name, want in (("train/nc1_pinv", "NC1 (train)"), ("nc1_pinv", "NC1"), ("a/b/accuracy", "accuracy (a/b)"), ("test/loss", "test/loss"), ("loss", "loss")):
            self.assertEqual(drawing._title(name), want)

    def test_scales(self):
        for y, want in (([1, 20], False), ([1, 20.5], True), ([0, 50], False), ([-1, 50], False), ([1, math.inf], False), ([math.nan, 1, 30], True), ([], False), ([math.nan], False)):
            self.assertIs(drawing._logarithmic(y), want)

    def test_parts(self):
        curves = [("loss", range(30), [1.0] * 30), ("train/nc1_pinv", range(29), [1.0] * 28 + [100.0]), ("a", [1], [math.nan]), ("b", [1], [2])]
        figure = drawing._figure(curves, "epoch", None)
        self.assertEqual([(p["id"], p["x"], p["y"], p["series"][0]["kind"]) for p in figure["panels"]],
                         [("panel-1", {"label": "epoch"}, {"label": "loss", "scale": ""}, "line"), ("panel-2", {"label": "epoch"}, {"label": "NC1 (train)", "scale": "log"}, "line+points"),
                          ("panel-3", {"label": "epoch"}, {"label": "a", "scale": ""}, "line+points"), ("panel-4", {"label": "epoch"}, {"label": "b", "scale": ""}, "line+points")])
        self.assertEqual((figure["columns"], figure["notes"], figure["panels"][2]["series"][0]["y"]), (3, [], [None]))
        self.assertEqual([drawing._figure(curves[:n], "epoch", None)["columns"] for n in (0, 1, 2)], [1, 1, 2])

    def test_names_of_ticks_that_fit_and_that_do_not(self):
        for words, fits in ((["a" * 19, "b" * 19], True), (["a" * 19, "b" * 20], False), (["x"] * 20, True), (["x"] * 21, False)):
            figure = drawing._figure([("loss", [0, 1], [1, 2])], "layer", words)
            ticks = [(tick["value"], tick["label"]) for tick in figure["panels"][0]["x"]["ticks"]]
            self.assertEqual(ticks, list(enumerate(words if fits else [str(i + 1) for i in range(len(words))])))
            self.assertEqual(figure["notes"], [] if fits else ["layer %d: %s" % (i + 1, word) for i, word in enumerate(words)])


if __name__ == "__main__":
    unittest.main()
