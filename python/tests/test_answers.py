"""measure() around the program: what goes with what, which flags it is asked with, and its answers in Python's words."""

import sys
import types
import unittest
from unittest import mock

import numpy as np

from test_arrays import made

import collapse
from collapse import measuring
from collapse.arrays import Labels


class AnswersTest(unittest.TestCase):
    """What the program says, in Python's words, without the program."""

    def result(self, said="", exit_code=0, names=None, path="/proc/self/fd/7", **document):
        helper = types.SimpleNamespace(arena=types.SimpleNamespace(path=path))
        return measuring._result({"exit": exit_code, "said": said, "document": document}, helper, names or Labels())

    def test_failures(self):
        for said, want in (("collapse: /proc/self/fd/7: row 3 holds NaN; --drop-nonfinite leaves it out", "collapse: the arrays: row 3 holds NaN; drop_nonfinite=True leaves it out"),
                           ("--class-names, --classes=3 and --ignore-label -1", "collapse: classes=, classes==3 and ignore_index= -1"),
                           ("see --null and --nullable, --measures-of", "collapse: see null= and --nullable, --measures-of"),
                           ("--min-count --imbalance --rcond --threads --measures", "collapse: min_count= imbalance= rcond= threads= measures=")):
            with self.assertRaises(collapse.MeasureError) as caught:
                self.result(said, 2)
            self.assertEqual((str(caught.exception), caught.exception.exit_code, caught.exception.stderr), (want, 2, said))
        with self.assertRaisesRegex(collapse.MeasureError, "^collapse: no$"):
            self.result("no", 2, path=None)  # of states alone

    def test_inputs_and_notes(self):
        got = self.result(k=2, inputs=[{"role": "features", "files": ["/proc/self/fd/7", "h.npy"]}, {"files": ["/proc/self/fd/77"]}], notes=["/proc/self/fd/7 has a class of one sample"])
        self.assertEqual([of["files"] for of in got.inputs], [["memory", "h.npy"], ["/proc/self/fd/77"]])
        self.assertEqual(got.notes, ["the arrays has a class of one sample"])
        self.assertNotIn("labels", got)
        self.assertEqual((self.result(k=2).notes, self.result(k=2, path=None, notes=["a note"]).notes), ([], ["a note"]))
        names = Labels()
        names.numbers(np.array([0, 1]), 2, "y")
        names.ignored(["cat", 3])
        self.assertEqual(self.result(names=names, k=2).notes, ["ignore_index cat: no sample has this label"])

    def test_names_of_classes(self):
        names = Labels(["a", "b", "c"])
        for labels, want in ((["0", "2"], ["a", "c"]), (None, ["a", "b"]), (["3", "-1", "x", "1"], ["3", "-1", "x", "b"])):
            got = self.result(names=names, k=2, labels=labels, left_out=[{"classes": [1, "2", 3, "x"]}, {}])
            self.assertEqual((got["labels"], got["left_out"]), (want, [{"classes": ["b", "c", "3", "x"]}, {"classes": []}]))

    def test_flags(self):
        for options, want in (({}, []), ({"measures": ["a", "b"]}, ["--measures=a,b"]), ({"measures": "all"}, ["--measures=all"]),
                              ({"classes": 3}, ["--classes=3"]), ({"classes": np.int64(3)}, ["--classes=3"]), ({"classes": ["x", "y"]}, ["--class-names=x,y"]),
                              ({"ignore_index": [-1, "cat"]}, ["--ignore-label=-1", "--ignore-label=cat"]), ({"drop_nonfinite": True}, ["--drop-nonfinite"]),
                              ({"min_count": 2, "null": 0, "rcond": None}, ["--min-count=2", "--null=0"])):
            self.assertEqual(measuring.measure_flags(**options), want)
        with self.assertRaisesRegex(ValueError, "a name in classes has a comma"):
            measuring.measure_flags(classes=["x", "y,z"])

    def test_which_features_are_too_large_for_this_machine(self):
        on = lambda device, nbytes: types.SimpleNamespace(value=types.SimpleNamespace(detach=0, layout=0, device=types.SimpleNamespace(type=device)), nbytes=nbytes)
        with mock.patch.object(measuring, "available_memory", lambda: 100):
            self.assertEqual([measuring._too_large(on(*of)) for of in (("cuda", 51), ("cuda", 50), ("cpu", 51))], [True, False, False])
        with mock.patch.object(measuring, "available_memory", lambda: None):
            self.assertFalse(measuring._too_large(on("cuda", 51)))
        self.assertFalse(measuring._too_large(types.SimpleNamespace(value=np.zeros(3), nbytes=1 << 60)))

    def test_what_goes_with_what(self):
        H, y, _, _ = made()
        for words, arguments, options in (("features without labels", (H,), {}), ("layer and partial are of folders", (H, y), {"layer": "fc"}),
                                          ("layer and partial are of folders", (H, y), {"partial": True}),
                                          ("true does not go with 'none', which is a folder or a file", ("none",), {"true": y}),
                                          ("corrupted does not go with", ("none",), {"corrupted": y}), ("W does not go with 'none'", ("none", None, H), {}),
                                          ("b does not go with", ("none", None, None, y), {}), ("test does not go with '%s'" % __file__, (__file__,), {"test": "x"}),
                                          ("ood does not go with", (__file__,), {"ood": "x"}), ("layer does not go with", (__file__,), {"layer": "x"}),
                                          ("partial does not go with", (__file__,), {"partial": True}),
                                          ("is a file, and weights is a ndarray; pass files, or arrays", (__file__, __file__, H), {}),
                                          ("and bias is a list", (__file__, __file__, __file__, [1]), {})):
            with self.subTest(words), self.assertRaisesRegex(TypeError, words):
                collapse.measure(*arguments, binary=sys.executable, **options)


if __name__ == "__main__":
    unittest.main()
