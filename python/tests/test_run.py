"""A script's side of a run, without a lab and with one that the tests play."""

import contextlib
import io
import json
import math
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import types
import unittest

import support
from support import collapse, needs_torch, torch

from collapse import script
from collapse.script import Left


def resumed():
    """A run whose script goes on from its checkpoint, as it has to."""
    run = collapse.run()
    run.state
    return run


class Lab(unittest.TestCase):
    """Plays the lab: a workspace as it makes one."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.dir = folder.name
        self.info = {"format": "collapse-script 1", "run": "abc", "generation": 3, "settings": {"lr": 0.5, "wd": 0}, "seed": 7, "epochs": 5, "horizon": 9,
                     "from_epoch": 2, "checkpoint": os.path.join(self.dir, "ckpt", "2"), "dir": self.dir, "events": self.at("events.jsonl"),
                     "heartbeat": self.at("heartbeat"), "captures": self.at("captures"), "threads": 1, "device": ""}
        self.tell()
        for name in ("events.jsonl", "heartbeat"):
            open(self.at(name), "w").close()
        os.environ["COLLAPSE_RUN"] = self.at("run.json")
        self.addCleanup(os.environ.pop, "COLLAPSE_RUN", None)

    def at(self, name):
        return os.path.join(self.dir, name)

    def tell(self):
        with open(self.at("run.json"), "w") as f:
            json.dump(self.info, f)

    def events(self):
        """What was said, but for the modules that are loaded."""
        return [{name: value for name, value in event.items() if name != "loaded"} for event in self.said()]

    def said(self):
        with open(self.at("events.jsonl")) as f:
            return [json.loads(line, parse_constant=self.fail) for line in f]

    def beat(self, seconds):
        """Sets the time of the heartbeat, counted from now."""
        at = time.time() + seconds
        os.utime(self.at("heartbeat"), (at, at))

    def listen(self, seconds):
        """Has scripts listen for so long before they leave a silent lab."""
        self.addCleanup(setattr, collapse.script, "_LISTEN", collapse.script._LISTEN)
        collapse.script._LISTEN = seconds

    def until(self, true):
        over = time.time() + 30
        while not true():
            self.assertLess(time.time(), over, "waited in vain")
            time.sleep(0.02)

    def test_a_number_of_epochs_that_is_not_the_labs_is_told(self):
        for default, told in ((100, True), (5, False), (9, False), (None, False)):
            with contextlib.redirect_stderr(io.StringIO()) as said:
                self.assertEqual(list(resumed().epochs(default)), [3, 4, 5])
            self.assertEqual("run.epochs(100), and the lab's run is made for 9 epochs" in said.getvalue(), told, said.getvalue())
            self.assertEqual(said.getvalue() == "", not told)

    def test_settings_and_epochs(self):
        run = resumed()
        self.assertEqual((run.setting("lr", 0.1), run.setting("wd", 1), run.setting("depth", 4), run.setting("seed", 1)), (0.5, 0, 4, 7))
        self.assertEqual((list(run.epochs(100)), run.from_epoch, run.horizon(), run.state), ([3, 4, 5], 2, 9, self.info["checkpoint"]))

    def test_a_block_ends_with_done(self):
        with resumed() as run:
            run.report(3, {"x": 1})
        self.assertEqual([e.get("done", False) for e in self.events()], [False, True])
        with resumed() as run:
            run.done()
        self.assertEqual(sum(e.get("done", False) for e in self.events()), 2)
        with self.assertRaises(ZeroDivisionError), resumed():
            1 / 0
        self.assertEqual(sum(e.get("done", False) for e in self.events()), 2)
        del os.environ["COLLAPSE_RUN"]
        with resumed() as run:
            self.assertEqual(list(run.epochs(2)), [1, 2])

    def test_a_script_that_ignores_its_checkpoint_is_stopped(self):
        run = collapse.run()
        self.assertEqual(list(run.epochs(5)), [3, 4, 5])
        with self.assertRaisesRegex(RuntimeError, "goes on after epoch 2, and nothing has read run.state"):
            run.report(3, {"x": 1})
        self.assertEqual(self.events(), [])
        self.assertEqual(run.state, self.info["checkpoint"])
        run.report(3, {"x": 1})
        self.info.update(from_epoch=0, checkpoint="")
        self.tell()
        collapse.run().report(1, {"x": 1})  # at the beginning there is nothing to read
        self.assertEqual([e["epoch"] for e in self.events()], [3, 1])

    def test_checkpoints_that_are_never_read_are_told(self):
        self.info.update(from_epoch=0, checkpoint="")
        self.tell()
        for look in (False, True):
            run = collapse.run()
            dict(run.settings)
            if look:
                self.assertIsNone(run.state)
            with run.checkpoint(1):
                pass
            run.done()
        self.assertEqual([e.get("unasked") for e in self.events()], [["run.state"], None])

    def test_reports(self):
        run = resumed()
        self.assertEqual(run.info["settings"], self.info["settings"])  # whoever reads it has all
        run.report(3, {"test/loss": 1, "lr": math.nan, "a": -math.inf})
        run.done()
        self.assertEqual(self.events(), [{"epoch": 3, "values": {"test/loss": 1.0, "lr": "NaN", "a": "-Infinity"}, "features": {}, "generation": 3},
                                         {"done": True, "generation": 3}])

    def test_an_epoch_is_a_whole_number(self):
        run = resumed()
        for bad in (3.5, math.nan):
            with self.assertRaises(ValueError):
                run.report(bad, {})
        run.report(4.0, {})
        self.assertEqual([(event["epoch"], type(event["epoch"])) for event in self.events()], [(4, int)])

    def test_none_is_missing_and_a_text_is_refused_by_name(self):
        run = resumed()
        run.report(3, {"test/auc": None})
        for bad in ("0.5", b"1", [1, 2], object()):
            with self.assertRaisesRegex(TypeError, "'test/f1' is "):
                run.report(4, {"test/f1": bad})
        self.assertEqual([event["values"] for event in self.events()], [{"test/auc": None}])

    def test_own_modules_are_told_once(self):
        home = os.getcwd()
        self.addCleanup(os.chdir, home)
        os.chdir(self.dir)
        elsewhere = os.path.realpath(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, elsewhere)
        here = os.getcwd()
        package, installed, target, parent = [os.path.join(elsewhere, name) for name in ("some_package", "site-packages", "target", "parent")]
        for folder in (package, installed, target, parent):
            os.mkdir(folder)
        os.symlink(target, "linked")
        below = os.path.join(here, "env", "site-packages")
        os.makedirs(below)
        for folder in (below, here, os.path.join(here, "..", os.path.basename(elsewhere), "parent"), elsewhere, installed, os.path.join(here, "linked")):
            sys.path.insert(0, folder)
            self.addCleanup(sys.path.remove, folder)
        for name, folder in (("early_module", here), ("late_module", here), ("outer_module", elsewhere), ("parent_module", parent), ("__init__", package), ("part", package),
                             ("installed_module", installed), ("installed_below", below), ("linked_module", target)):
            with open(os.path.join(folder, name + ".py"), "w") as f:
                f.write("x = 1\n")
            self.addCleanup(sys.modules.pop, name, None)
        looked = []

        class Lazy(types.ModuleType):
            def __getattr__(self, name):
                looked.append(name)
                raise ImportError("no optional backend: " + name)

        sys.modules["lazy_module"] = Lazy("lazy_module")
        del sys.modules["lazy_module"].__dict__["__spec__"]
        self.addCleanup(sys.modules.pop, "lazy_module", None)
        made = types.ModuleType("json.generated")  # as torch.compile names what it writes
        made.__file__ = os.path.join(elsewhere, "generated.py")
        for name in ("some_package", "some_package.part", made.__name__):
            self.addCleanup(sys.modules.pop, name, None)
        __import__("early_module")
        __import__("linked_module")
        run = resumed()
        run.report(3, {})
        for name in ("late_module", "parent_module", "outer_module", "some_package.part", "installed_module", "installed_below", "colorsys"):
            __import__(name)
        sys.modules[made.__name__] = made
        run.report(4, {})
        sys.modules["another_name"] = sys.modules["early_module"]
        self.addCleanup(sys.modules.pop, "another_name", None)
        run.report(5, {})
        told = [event.get("loaded") for event in self.said()]
        self.assertEqual(looked, [], "a lazy module is left alone")
        self.assertLessEqual({"early_module.py", os.path.join("linked", "linked_module.py")}, set(told[0]))
        self.assertFalse([name for name in told[0] if "-packages" in name or os.path.basename(name) in ("os.py", "json.py", "script.py")])
        self.assertEqual(told[1:], [sorted([os.path.join(elsewhere, "outer_module.py"), os.path.join(parent, "parent_module.py"), os.path.join(package, "__init__.py"),
                                            os.path.join(package, "part.py"), "late_module.py"]), None])

    def test_libraries_below_the_folder_of_a_script_are_not_its_own(self):
        for name in ("json", "collapse"):
            file = os.path.realpath(sys.modules[name].__file__)
            for home in (os.path.dirname(os.path.dirname(file)), os.sep + file.split(os.sep)[1]):
                self.assertIsNone(script._own(name, home))

    def test_settings_that_were_never_asked_for_are_told(self):
        run = resumed()
        run.setting("lr", 0.1)
        run.done()
        self.assertEqual(self.events(), [{"done": True, "unasked": sorted(set(self.info["settings"]) - {"lr"} | {"seed"}), "generation": 3}])
        self.info["seed"] = None
        self.tell()
        run = resumed()
        run.setting("lr", 0.1)
        run.done()
        resumed().done()
        self.assertEqual(self.events()[1:], [{"done": True, "unasked": names, "generation": 3} for names in (["wd"], ["lr", "wd"])])

    def test_settings_as_a_map_and_the_seed(self):
        run = resumed()
        self.assertEqual((run.seed, dict(run.settings), run.settings.get("depth", 4)), (7, {"lr": 0.5, "wd": 0, "seed": 7}, 4))
        with self.assertRaises(KeyError):
            run.settings["depth"]
        run.done()
        self.assertEqual(self.events()[-1], {"done": True, "generation": 3})  # all were asked for
        run = resumed()
        self.assertEqual((run.settings["wd"], "lr" in run.settings), (0, True))
        self.assertEqual(run._asked, {"wd", "lr"})

    def test_checkpoints_have_their_name_when_they_are_whole(self):
        run = resumed()
        for _ in range(2):  # the second takes the place of the first
            with run.checkpoint(3) as folder:
                with open(os.path.join(folder, "s"), "w") as f:
                    f.write("state")
        with self.assertRaises(KeyError):
            with run.checkpoint(4):
                raise KeyError
        self.assertEqual(os.listdir(self.at("ckpt/3")), ["s"])
        self.assertFalse(os.path.exists(self.at("ckpt/4")))

    def test_leaves_a_run_that_is_another_process_s(self):
        run = resumed()
        self.info["generation"] = 4
        self.tell()
        with self.assertRaises(Left):
            with run.checkpoint(3):
                pass
        self.assertFalse(os.path.exists(self.at("ckpt/3")))
        with self.assertRaises(Left):
            run.report(3, {})
        with self.assertRaises(Left):
            run.done()
        self.assertEqual(self.events(), [])

    def test_leaves_a_lab_that_is_dead(self):
        run = resumed()
        self.beat(-61)
        self.listen(0.2)
        with self.assertRaises(Left):
            run.report(3, {})
        os.remove(self.at("run.json"))
        with self.assertRaises(Left):
            run.report(3, {})
        self.assertEqual(self.events(), [])

    def test_stays_after_the_machine_slept_or_its_clock_was_set(self):
        run = resumed()
        for epoch, age in ((3, -3600), (4, 3600)):
            self.beat(age)
            beat = threading.Timer(0.3, self.beat, [0])
            beat.start()
            run.report(epoch, {})
            self.assertFalse(beat.is_alive())  # it has waited for the heartbeat
        self.assertEqual([e["epoch"] for e in self.events()], [3, 4])

    def test_leaves_while_it_listens(self):
        run = resumed()
        self.beat(-3600)
        self.info["generation"] = 4
        threading.Timer(0.3, self.tell).start()
        with self.assertRaisesRegex(Left, "another process"):
            run.report(3, {})

    def test_another_format(self):
        self.info["format"] = "collapse-script 2"
        self.tell()
        with self.assertRaisesRegex(ValueError, "collapse-script 2"):
            resumed()

    @needs_torch
    def test_a_split_is_captured_once_an_epoch(self):
        run, model = resumed(), torch.nn.Sequential(torch.nn.Linear(4, 3)).eval()

        def capture(split):
            with torch.no_grad(), run.tap(model, 3, split) as tap:
                model(torch.randn(8, 4))
                if split != "ood":
                    tap.labels(torch.arange(8) % 3)
        for split in ("train", "test", "ood"):
            capture(split)
            with self.assertRaisesRegex(ValueError, "%s features were captured twice before run.report" % split):
                capture(split)
        with self.assertRaisesRegex(ValueError, "split is 'val'; it must be train, test or ood"):
            capture("val")
        run.report(3, {})
        self.assertEqual(self.events()[0]["features"], {split: self.at("captures/3-" + split) for split in ("train", "test", "ood")})

    @needs_torch
    def test_a_model_that_diverged(self):
        """NaN in any batch: nothing is captured, the block goes on to its end, and the epoch is reported."""
        for wrong in (0, 1):  # the first batch that holds NaN
            self.setUp()
            run, model, ran = resumed(), torch.nn.Sequential(torch.nn.Linear(4, 5), torch.nn.Linear(5, 3)).eval(), []
            with torch.no_grad(), contextlib.redirect_stderr(io.StringIO()) as said, run.tap(model, 3, layers=["0"]) as tap:
                for batch in range(3):
                    x = torch.full((8, 4), float("nan")) if batch == wrong else torch.randn(8, 4)
                    ran.append(model(x))
                    tap.labels(torch.arange(8) % 3)
            self.assertEqual(len(ran), 3)
            self.assertEqual(said.getvalue(), "collapse: epoch 3: the model returns NaN or infinity; no train features are taken\n")
            self.assertFalse(os.path.exists(self.at("captures/3-train")) and os.listdir(self.at("captures/3-train")))
            run.report(3, {"test/loss": float("nan")})
            self.assertEqual([(e["features"], e["values"]) for e in self.events()], [({}, {"test/loss": "NaN"})])
        run, other = resumed(), torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.Tanh()).eval()
        with self.assertRaises(collapse.ClassifierError), torch.no_grad(), run.tap(other, 4):  # other refusals stay
            other(torch.randn(8, 4))

    @needs_torch
    def test_waits_while_two_captures_are_unread(self):
        run = resumed()
        model = torch.nn.Sequential(torch.nn.Linear(4, 3))
        reported = []

        def train():
            for epoch in (3, 4, 5):
                with torch.no_grad(), run.tap(model, epoch) as tap:
                    model(torch.randn(8, 4))
                    tap.labels(torch.arange(8) % 3)
                run.report(epoch, {})
                reported.append(epoch)

        thread = threading.Thread(target=train)
        thread.start()
        self.until(lambda: len(self.events()) == 2)
        time.sleep(0.3)
        self.assertEqual(reported, [3])  # the second report waits
        self.assertEqual(sorted(os.listdir(self.at("captures"))), ["3-train", "4-train"])
        shutil.rmtree(self.at("captures/3-train"))
        self.until(lambda: len(self.events()) == 3)
        self.assertEqual(reported, [3, 4])
        shutil.rmtree(self.at("captures/4-train"))
        thread.join(10)
        self.assertEqual(self.events()[0]["features"], {"train": self.at("captures/3-train")})
        self.assertEqual(len(self.events()), 3)


class WithoutALab(unittest.TestCase):
    def test_defaults_and_no_files(self):
        run = collapse.run()
        self.assertEqual((run.setting("lr", 0.1), list(run.epochs(3)), run.from_epoch, run.state, run.horizon(3)), (0.1, [1, 2, 3], 0, None, 3))
        with run.tap(None, 1) as tap:
            tap.labels([1])
        with run.checkpoint(1) as folder:
            open(os.path.join(folder, "s"), "w").close()
        self.assertFalse(os.path.exists(folder))
        run.report(1, {"loss": 1})
        run.done()
        self.assertEqual((run.setting("lr"), run.settings, run.seed, run.horizon(), run.info, list(run.epochs(1))), (None, {}, None, None, None, [1]))
        with self.assertRaisesRegex(ValueError, "outside a lab the number of epochs is not known; write run.epochs"):
            run.epochs()

    def test_torch_is_not_imported(self):
        code = "import sys, collapse; r = collapse.run(); r.report(1, {}); sys.exit('torch' in sys.modules)"
        environment = dict(os.environ, PYTHONPATH=support.ROOT)
        self.assertEqual(subprocess.call([sys.executable, "-c", code], env=environment), 0)


if __name__ == "__main__":
    unittest.main()
