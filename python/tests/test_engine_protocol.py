"""collapse.engine as a process: what it says, and what it makes of orders and lines that are wrong."""

import json
import os
import signal
import subprocess
import sys
import time
import unittest

import support

from collapse.engine.errors import Refused
from collapse.engine.service import refuse_old

if support.torch:
    from engine_support import SAMPLES, FolderTest, Process, image_net, mlp
else:
    FolderTest = unittest.TestCase


@support.needs_torch
class Protocol(FolderTest):
    def setUp(self):
        self.process = Process(self)
        self.hello = self.process.answer()["hello"]

    def opened(self, **changed):
        folder = self.folder(**changed)
        self.assertEqual(self.process.order(**folder.open).get("done"), "open")
        return folder

    def loaded(self, **changed):
        folder = self.opened(**changed)
        self.assertEqual(self.process.order(do="load", model="m0", optim="o0"), {"done": "load"})
        return folder

    def wrong(self, kind, *words, **order):
        """Sends an order that must fail; the process must go on."""
        error = self.process.order(**order)["error"]
        self.assertEqual(error["kind"], kind, error)
        for word in words:
            self.assertIn(word, error["message"])
        return error["message"]

    def test_hello(self):
        self.assertEqual((self.hello["protocol"], self.hello["engine"]), ("collapse-engine 2", "torch"))
        self.assertEqual(self.hello["torch"], support.torch.__version__)
        self.assertEqual(self.hello["devices"][0]["name"], "cpu")
        self.assertRegex(self.hello["version"], "^[0-9a-f]{16}$")
        self.assertEqual(self.process.end(), 0)

    def test_a_whole_run_and_the_next(self):
        for _ in range(2):
            folder = self.folder()
            opened = self.process.order(**folder.open)
            self.assertIn("torch " + support.torch.__version__, opened["machine"])
            self.assertGreater(opened["bytes"], 1 << 20)
            self.assertEqual(self.process.order(do="load", model="m0", optim="o0"), {"done": "load"})
            epoch = self.process.order(do="epoch", epoch=0, lr=0.1, views=True, keep=True)
            self.assertEqual((epoch["done"], epoch["steps"], epoch["samples"], epoch["bad"]), ("epoch", 3, SAMPLES, None))
            evaluated = self.process.order(do="evaluate", splits=["train", "test"], set=1, layers=False, samples=0)
            self.assertEqual(len(evaluated["penalty_squares"]), 10)
            saved = self.process.order(do="save", model="m1", optim="o1")
            self.assertEqual(saved["model"]["bytes"], os.path.getsize(folder.path + "/m1"))
            self.assertEqual(self.process.order(do="close"), {"done": "close"})
        self.assertEqual(self.process.end(), 0)
        self.assertEqual([n for n in os.listdir(folder.path) if n.endswith(".part")], [])

    def test_lines_that_are_no_orders(self):
        for line in (b"\n", b"garbage\n", b"\xff\xfe\x00\n", b"[]\n", b"{}\n", b'{"do": 3}\n', b'{"do": "dance"}\n', b"[" * 100000 + b"\n",
                     b'{"do": "epoch", "lr": NaN}\n', b'{"do": "' + b"x" * (3 << 20) + b'"}\n', b'{"do": "%s"}\n' % (b"y" * 900000)):
            self.process.send(line)
            answer = self.process.answer()
            self.assertEqual(answer["error"]["kind"], "input", line[:50])
            self.assertLess(len(json.dumps(answer)), 10000)
        self.loaded(frozen=None, taps=None)  # as Go writes empty lists
        self.process.send(b'{"do": "close"')  # the program died while it wrote
        self.assertEqual(self.process.end(), 0)
        self.assertIsNone(self.process.answer())

    def test_orders_out_of_turn(self):
        self.wrong("input", "no run is open", do="epoch", epoch=0, lr=0.1, views=False, keep=False)
        self.opened()
        self.wrong("input", "load first", do="save", model="m", optim="o")
        self.process.order(do="load", model="m0", optim="o0")
        for fields in ({"lr": "nan"}, {"lr": -1}, {"lr": True}, {"keep": 1}, {"views": None}, {"epoch": -1}):
            self.wrong("input", "epoch." + next(iter(fields)), **{"do": "epoch", "epoch": 0, "lr": 0.1, "views": False, "keep": False, **fields})
        self.wrong("input", "evaluate.splits", do="evaluate", splits=["validation"], set=0, layers=False, samples=0)
        self.wrong("input", "evaluate.set", do="evaluate", splits=["test"], set=2, layers=False, samples=0)
        for name in ("../m", "/etc/m", "", "..", "a/b", "a\0b"):
            self.wrong("input", "not a name of a file", do="save", model=name, optim="o")

    def test_settings_that_are_refused(self):
        folder = self.folder()
        for changed, word in (({"device": "cuda:9"}, "cuda:9"), ({"dtype": "float16"}, "float16"), ({"precision": "tf32", "dtype": "float32"}, "tf32"),
                              ({"precision": "bf16"}, "float64"), ({"loss": {"kind": "hinge"}}, "hinge"), ({"optim": {"kind": "lion"}}, "lion"),
                              ({"net": {**folder.net, "kind": "vit"}}, "vit"), ({"decay": {**folder.open["decay"], "kind": "some"}}, "some"),
                              ({"taps": [{"name": "layer9", "pool": "average"}]}, "layer9"), ({"taps": [{"name": "fc", "pool": "max"}]}, "max")):
            self.wrong("refused", word, **{**folder.open, **changed})
        for changed, word in (({"dir": "relative"}, "dir"), ({"threads": 0}, "threads"), ({"batch": "16"}, "batch"), ({"frozen": ["fc"]}, "frozen"),
                              ({"splits": ["test"]}, "splits"), ({"inputs": 3}, "inputs"), ({"net": mlp(inputs=35)}, "1×6×6"),
                              ({"net": {**image_net("vgg13"), "channels": 1, "height": 6, "width": 6}}, "1×6×6"), ({"classes": 4}, "classes"), ({"net": []}, "net"),
                              ({"optim": {"kind": "sgd"}}, "momentum"), ({"taps": ["fc"]}, "taps"), ({"pad": 200}, "pad")):
            self.wrong("input", word, **{**folder.open, **changed})
        self.assertEqual(self.process.order(**folder.open).get("done"), "open")

    def test_memory_that_is_not_there(self):
        net = self.folder().net
        net["layers"][0]["out"] = net["layers"][1]["out"] = net["layers"][3]["in"] = 1 << 24
        net["layers"][0]["in"] = 1 << 24
        folder = self.folder()
        self.wrong("memory", "memory of cpu is short at batches of 16", **{**folder.open, "net": net})
        self.assertEqual(self.process.order(**folder.open).get("done"), "open")

    def test_what_prints_to_standard_output_harms_nothing(self):
        code = ("import sys; sys.argv = ['engine']\n"
                "import builtins, runpy, os\n"
                "found = __import__\n"
                "def noisy(name, *rest, **more):\n"
                "    if name == 'torch': print('hello from a library'); os.write(1, b'and from C\\n')\n"
                "    return found(name, *rest, **more)\n"
                "builtins.__import__ = noisy\n"
                "runpy.run_module('collapse.engine', run_name='__main__', alter_sys=True)\n")
        process = Process(self, code=code)
        self.assertIn("hello", process.answer(), process.errors)
        self.assertEqual(process.end(), 0)
        self.assertIn(b"hello from a library", process.errors)
        self.assertIn(b"and from C", process.errors)

    def test_interrupts_are_the_programs_to_handle(self):
        self.process.process.send_signal(signal.SIGINT)
        self.loaded()

    def test_the_end_of_orders_stops_an_epoch(self):
        folder = self.loaded(batch=2)
        folder.draw(0)
        order = {"do": "settle", "passes": 10**6, "views": False}
        self.process.send(json.dumps(order).encode() + b"\n")
        time.sleep(0.3)  # it is in the middle by now, or has not begun: either way it leaves
        self.assertEqual(self.process.end(), 0)

    def test_a_program_that_is_gone(self):
        """Nobody reads the answers any more."""
        process = subprocess.Popen([sys.executable, "-m", "collapse.engine"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   env={**os.environ, "PYTHONPATH": support.ROOT})
        process.stdout.readline()
        process.stdout.close()
        process.stdin.write(b'{"do": "close"}\n')
        process.stdin.flush()
        self.assertEqual(process.wait(30), 0)
        self.assertNotIn(b"Traceback", process.stderr.read())
        process.stdin.close()
        process.stderr.close()

    def test_a_failure_ends_the_process(self):
        folder = self.loaded()
        code = ("import runpy\nfrom collapse.engine import evaluation\n"
                "def broken(*_): raise KeyError('invented')\n"
                "evaluation.penalty_squares = broken\nrunpy.run_module('collapse.engine', run_name='__main__', alter_sys=True)\n")
        process = Process(self, code=code)
        process.answer()
        process.order(**folder.open)
        process.order(do="load", model="m0", optim="o0")
        error = process.order(do="evaluate", splits=[], set=0, layers=False, samples=0)["error"]
        self.assertEqual(error["kind"], "failed")
        self.assertIn("invented", error["message"])
        self.assertEqual(process.end(), 1)
        self.assertIn(b"run r:", process.errors)
        self.assertIn(b"Traceback", process.errors)


class OldTorch(unittest.TestCase):
    def test_is_refused_before_it_is_used(self):
        code = ("import sys, types; sys.modules['torch'] = types.SimpleNamespace(__version__='1.12.1+cu113')\n"
                "import runpy; runpy.run_module('collapse.engine', run_name='__main__', alter_sys=True)\n")
        done = subprocess.run([sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": support.ROOT}, input=b"", capture_output=True, timeout=60)
        error = json.loads(done.stdout)["error"]
        self.assertEqual((done.returncode, error["kind"]), (1, "refused"))
        self.assertEqual(error["message"], "torch 1.12.1+cu113 is too old; the engine needs 1.13 or newer")

    def test_versions(self):
        for version in ("1.13.0a0", "1.13.1+cpu", "2.0.0", "2.11.0+cu130", "10.0.0"):
            refuse_old(version)
        for version in ("1.12.1", "0.4.1", "1.9.0+cu102"):
            with self.assertRaisesRegex(Refused, "too old"):
                refuse_old(version)


class WithoutTorch(unittest.TestCase):
    def test_says_what_is_missing(self):
        code = ("import sys; sys.modules['torch'] = None\n"
                "import runpy; runpy.run_module('collapse.engine', run_name='__main__', alter_sys=True)\n")
        done = subprocess.run([sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": support.ROOT}, input=b"", capture_output=True, timeout=60)
        error = json.loads(done.stdout)["error"]
        self.assertEqual((done.returncode, error["kind"]), (1, "refused"))
        self.assertIn("pip install torch", error["message"])
        self.assertIn(sys.executable, error["message"])


if __name__ == "__main__":
    unittest.main()
