"""measure(): the command line it makes, judged by a program that writes down how it was called."""

import json
import os
import shutil
import stat
import sys
import unittest
from unittest import mock

import numpy as np

from support import FolderTest

from collapse import MeasureError, ShardWriter, capture_info, find_binary, measure

ANSWER = {"n": 3, "measures": {"nc1_pinv": 0.5}}


def write_capture(folder, labels=True, classifier="fc", bias=True, complete=True, extra=(), layers=(), weights=0.0):
    """What a Tap leaves, without torch."""
    writer = ShardWriter(folder)
    batch = {"features": np.ones((3, 2), np.float32)}
    if labels:
        batch["labels"] = np.arange(3)
    for name in extra:
        batch[name] = np.arange(3)
    for name in layers:
        batch["layers/" + name] = np.ones((3, 4), np.float32)
    writer.append(batch)
    writer.close()
    info = {"complete": complete, "error": None if complete else "KeyboardInterrupt", "samples": 3, "classifier": classifier, "bias": bias,
            "streams": {name: {} for name in batch}}
    if classifier is not None:
        np.save(os.path.join(folder, "weight.npy"), np.arange(6, dtype=np.float32).reshape(3, 2) + weights)
        if bias:
            np.save(os.path.join(folder, "bias.npy"), np.ones(3, np.float32))
    with open(os.path.join(folder, "tap.json"), "w") as f:
        json.dump(info, f)


class CommandTest(FolderTest):
    def program(self, body):
        path = self.folder + "-program"
        with open(path, "w") as f:
            f.write("#!%s\nimport json, os, sys\n%s\n" % (sys.executable, body))
        os.chmod(path, os.stat(path).st_mode | stat.S_IXUSR)
        return path

    def called_with(self, *folders, **options):
        """The arguments that reach the program, and its answer."""
        log = self.folder + "-arguments"
        program = self.program("json.dump(sys.argv[1:], open(%r, 'w')); print(%r); print('progress', file=sys.stderr)" % (log, json.dumps(ANSWER)))
        self.assertEqual(measure(*folders, binary=program, **options), ANSWER)
        with open(log) as f:
            return json.load(f)

    def test_flags_of_a_whole_capture(self):
        f = self.folder
        write_capture(f, extra=("true_labels", "corrupted"))
        self.assertEqual(self.called_with(f, arguments=["--measures", "all"]), [
            "measure", "--json", "--features", f + "/features/*.npy", "--labels", f + "/labels/*.npy", "--weights", f + "/weight.npy",
            "--bias", f + "/bias.npy", "--true-labels", f + "/true_labels/*.npy", "--corrupted", f + "/corrupted/*.npy", "--measures", "all"])

    def test_flags_without_bias_and_without_classifier(self):
        write_capture(self.folder, bias=False)
        self.assertEqual(self.called_with(self.folder)[6:], ["--weights", self.folder + "/weight.npy"])
        self.setUp()
        write_capture(self.folder, classifier=None, bias=None)
        self.assertEqual(len(self.called_with(self.folder)), 6)

    def test_flags_of_a_layer_leave_the_classifier_out(self):
        write_capture(self.folder, layers=("layer3", "a%2Fb"))
        self.assertEqual(self.called_with(self.folder, layer="a/b")[2:],
                         ["--features", self.folder + "/layers/a%2Fb/*.npy", "--labels", self.folder + "/labels/*.npy"])
        with self.assertRaisesRegex(ValueError, "no 'layers/layer9'; it has"):
            measure(self.folder, layer="layer9", binary=sys.executable)

    def test_test_and_ood_captures(self):
        test, ood = self.folder + "-test", self.folder + "-ood"
        write_capture(self.folder)
        write_capture(test)
        write_capture(ood, labels=False)
        self.assertEqual(self.called_with(self.folder, test=test, ood=ood)[-6:],
                         ["--test-features", test + "/features/*.npy", "--test-labels", test + "/labels/*.npy", "--ood", ood + "/features/*.npy"])
        with self.assertRaisesRegex(ValueError, "can only be `ood`"):
            measure(ood, binary=sys.executable)

    def test_captures_of_different_models_are_not_measured_together(self):
        other = self.folder + "-other"
        write_capture(self.folder)
        for weights, bias, refused in ((1e-3, True, True), (1e-7, True, False), (0, False, True), (float("nan"), True, True)):
            for role in ("test", "ood"):
                with self.subTest(weights=weights, bias=bias, role=role):
                    shutil.rmtree(other, ignore_errors=True)
                    write_capture(other, weights=weights, bias=bias)
                    if refused:
                        with self.assertRaisesRegex(ValueError, "hold different classifiers.*capture both with one model"):
                            measure(self.folder, binary=sys.executable, **{role: other})
                    else:
                        self.called_with(self.folder, **{role: other})
        np.save(other + "/weight.npy", np.zeros((4, 2), np.float32))
        with self.assertRaisesRegex(ValueError, "hold different classifiers"):
            measure(self.folder, binary=sys.executable, test=other)
        shutil.rmtree(other)
        write_capture(other, classifier=None, bias=None)
        self.called_with(self.folder, test=other)

    def test_pattern_characters_in_a_folder_are_not_patterns(self):
        folder = self.folder + "[1]*"
        write_capture(folder)
        self.assertIn(self.folder + "[[]1][*]/features/*.npy", self.called_with(folder))

    def test_captures_that_did_not_end_well(self):
        with self.assertRaisesRegex(FileNotFoundError, "^collapse: there is no file or folder 'nosuch.npz', or the `with` block"):
            measure("nosuch.npz", binary=sys.executable)
        os.mkdir(self.folder)
        with self.assertRaisesRegex(FileNotFoundError, "has no tap.json"):
            capture_info(self.folder)
        write_capture(self.folder, complete=False)
        with self.assertRaisesRegex(ValueError, "after 3 samples .KeyboardInterrupt.*partial=True"):
            measure(self.folder, binary=sys.executable)
        self.assertEqual(self.called_with(self.folder, partial=True)[0], "measure")

    def test_failures_of_the_program(self):
        write_capture(self.folder)
        with self.assertRaisesRegex(MeasureError, "exit status 2:\nfeatures: row 3 has NaN") as caught:
            measure(self.folder, binary=self.program("print('features: row 3 has NaN', file=sys.stderr); sys.exit(2)"))
        self.assertEqual((caught.exception.exit_code, caught.exception.stderr), (2, "features: row 3 has NaN\n"))
        with self.assertRaisesRegex(MeasureError, r"exit status 3:\n\(it said nothing\)$") as caught:
            measure(self.folder, binary=self.program("sys.exit(3)"))
        self.assertEqual((caught.exception.exit_code, caught.exception.stderr), (3, ""))
        with self.assertRaisesRegex(MeasureError, "did not answer with one JSON document.*; it began with 'nonsense(x){72}'$") as caught:
            measure(self.folder, binary=self.program("print('nonsense' + 100 * 'x'); print('and more', file=sys.stderr)"))
        self.assertEqual((caught.exception.exit_code, caught.exception.stderr), (0, "and more\n"))

    def test_where_the_program_is_found(self):
        program = self.program("pass")
        with mock.patch.dict(os.environ, {"COLLAPSE_BINARY": program, "PATH": ""}):
            self.assertEqual(find_binary(), program)
            self.assertEqual(find_binary(sys.executable), sys.executable)
            with self.assertRaisesRegex(FileNotFoundError, "argument binary is '/nowhere/collapse'"):
                find_binary("/nowhere/collapse")
        on_path = os.path.join(os.path.dirname(program), "collapse")
        os.rename(program, on_path)
        with mock.patch.dict(os.environ, {"COLLAPSE_BINARY": "", "PATH": os.path.dirname(program)}):
            self.assertEqual(find_binary(), on_path)
        with mock.patch.dict(os.environ, {"COLLAPSE_BINARY": "", "PATH": ""}):
            with self.assertRaisesRegex(FileNotFoundError, "go build ./cmd/collapse"):
                find_binary()


if __name__ == "__main__":
    unittest.main()
