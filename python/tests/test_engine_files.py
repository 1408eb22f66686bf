"""Files that collapse.engine reads and writes: what is wrong with them is said, and never believed."""

import hashlib
import json
import os
import struct
import types
import unittest
import unittest.mock

import numpy as np
import support

if support.torch:
    import torch
    from engine_support import CLASSES, SAMPLES, FolderTest

    from collapse.engine import alone, npy, safetensors, weights
    from collapse.engine.errors import InputError
else:
    FolderTest = unittest.TestCase


def header(text, body=b"", version=1):
    return b"\x93NUMPY" + bytes([version, 0]) + struct.pack("<H" if version == 1 else "<I", len(text)) + text.encode("latin-1") + body


def npy_text(shape, descr="<f4", order="False"):
    return "{'descr': '%s', 'fortran_order': %s, 'shape': %s, }\n" % (descr, order, shape)


def tensors_file(entries, body=b"", length=None):
    text = entries if isinstance(entries, bytes) else json.dumps(entries).encode()
    return struct.pack("<Q", len(text) if length is None else length) + text + body


@support.needs_torch
class Files(FolderTest):
    def setUp(self):
        self.made = self.folder()
        self.path = os.path.join(self.made.path, "file")

    def hold(self, content):
        with open(self.path, "wb") as file:
            file.write(content)

    def refused(self, read, content):
        self.hold(content)
        with self.assertRaises(InputError, msg=content[:80]) as raised:
            read()
        self.assertIn(self.path, str(raised.exception))
        self.assertLess(len(str(raised.exception)), 5000)

    def test_arrays_that_are_wrong(self):
        read = lambda: npy.read(self.path, np.float32, (2, None))
        for content in (b"", b"\x93NUMPY", b"PK\x03\x04" + b"\0" * 50, header(npy_text("(2, 3)"), b"\0" * 23), header(npy_text("(2, 3)"), b"\0" * 25),
                        header(npy_text("(3, 3)"), b"\0" * 36), header(npy_text("(6,)"), b"\0" * 24), header(npy_text("(2, 3)", "<f8"), b"\0" * 48),
                        header(npy_text("(2, 3)", ">f4"), b"\0" * 24), header(npy_text("(2, 3)", "|O"), b"\0" * 24),
                        header(npy_text("(2, 3)", order="True"), b"\0" * 24), header(npy_text("(2, -3)"), b""), header(npy_text("(2, 10**9)"), b""),
                        header(npy_text("(2, 4611686018427387904)"), b"\0" * 8), header(npy_text("(2, True)"), b"\0" * 8), header(npy_text("[2, 3]"), b"\0" * 24),
                        header("(" * 4000), header("[]"), header("{'descr': __import__('os').getcwd()}"), header("{}" + " " * 9000), header("{}", version=3),
                        header(npy_text("(2, 3)"), version=2)[:11], b"\x93NUMPY\x02\0" + b"\xff" * 8):
            self.refused(read, content)
        self.hold(header(npy_text("(2, 3)"), np.arange(6, dtype="<f4").tobytes(), 2))
        self.assertEqual(read().tolist(), [[0, 1, 2], [3, 4, 5]])

    def test_what_was_found_and_what_was_wanted(self):
        for content, words in ((header(npy_text("(2, 3)", order="True"), b"\0" * 24), "holds <f4 of shape (2, 3), by columns; wanted <f4 of shape (2, any)"),
                               (header(npy_text("(3, 3)", "<f8"), b"\0" * 72), "holds <f8 of shape (3, 3); wanted <f4 of shape (2, any)"),
                               (header(npy_text("(2, 3)"), b"\0" * 20), "holds 20 bytes behind its header; <f4 of shape (2, 3) takes 24"),
                               (header("{}" + " " * 4095), "has a header of 4097 bytes; wanted at most 4096"), (header("{}" + " " * 4094), "has a damaged header"),
                               (b"PK", "is not a .npy file of version 1 or 2")):
            self.hold(content)
            with self.assertRaises(InputError) as raised:
                npy.read(self.path, np.float32, (2, None))
            self.assertEqual(str(raised.exception), self.path + " " + words)

    def test_what_is_no_file(self):
        os.mkfifo(self.path)
        for path in (self.path, self.made.path, self.made.path + "/none"):
            for read in (lambda: npy.read(path, np.float32, (1,)), lambda: safetensors.read(path, 100)):
                with self.assertRaises(InputError):
                    read()

    def test_arrays_are_whole_or_not_there(self):
        with self.assertRaises(ValueError):
            with npy.Writer(self.path, "<f4", (3, 2)) as out:
                out.append(np.zeros((2, 2)))
        with self.assertRaises(KeyError):
            with npy.Writer(self.path, "<f4", (1, 2)) as out:
                out.append(np.zeros((1, 2)))
                raise KeyError()
        self.assertEqual([n for n in os.listdir(self.made.path) if n.startswith("file")], [])
        npy.write(self.path, np.arange(6.0).reshape(2, 3))
        self.assertEqual(np.load(self.path).tolist(), [[0, 1, 2], [3, 4, 5]])

    def test_tensors_that_are_wrong(self):
        entry = lambda **changed: {"a": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8], **changed}}
        read = lambda: safetensors.read(self.path, 1000)
        for content in (b"", b"\0" * 7, tensors_file(entry(), b"\0" * 7), tensors_file(entry(), b"\0" * 8, length=1 << 60), tensors_file(b"{" * 5000),
                        tensors_file(b"[" * 200000), tensors_file(b"[]"), tensors_file(b"7 "), tensors_file(entry(dtype="F16"), b"\0" * 8),
                        tensors_file(entry(dtype=3), b"\0" * 8), tensors_file(entry(shape=[-2]), b"\0" * 8), tensors_file(entry(shape=[3]), b"\0" * 8),
                        tensors_file(entry(shape=2), b"\0" * 8), tensors_file(entry(shape=[True, 2]), b"\0" * 8), tensors_file(entry(shape=[2**62, 4]), b"\0" * 8),
                        tensors_file(entry(data_offsets=[0]), b"\0" * 8), tensors_file(entry(data_offsets=[8, 0]), b"\0" * 8),
                        tensors_file(entry(data_offsets=[4, 12]), b"\0" * 8), tensors_file({"a": 3}, b""), b"\0" * (9 << 20),
                        tensors_file(b'{"a":{"dtype":"F32","shape":[0],"data_offsets":[0,0]},"a":{"dtype":"F32","shape":[0],"data_offsets":[0,0]}}')):
            self.refused(read, content)

    def test_the_largest_file_that_is_read(self):
        safetensors.write(self.path, {"f": torch.zeros(2)})
        self.assertEqual(list(safetensors.read(self.path, 8)), ["f"])
        content = tensors_file({"f": {"dtype": "U8", "shape": [100], "data_offsets": [0, 100]}}, b"\0" * 100)
        with open(self.path, "wb") as file:
            file.write(content)
            file.write(b"\0" * (safetensors.HEADER + 100 - len(content)))
        self.assertEqual(list(safetensors.read(self.path, 100)), ["f"])  # as large as may be
        with open(self.path, "ab") as file:
            file.write(b"\0")
        with self.assertRaisesRegex(InputError, "has %d bytes; wanted at most %d" % (safetensors.HEADER + 101, safetensors.HEADER + 100)):
            safetensors.read(self.path, 100)

    def test_tensors_of_another_run(self):
        wanted = {"t%d" % i: (torch.float32, (2,)) for i in range(23)}
        weights.check(wanted, {name: torch.zeros(2) for name in wanted}, "model")
        with self.assertRaises(InputError) as refused:
            weights.check(wanted, {}, "model")
        self.assertTrue(str(refused.exception).endswith("t19 is missing, and 3 more"), refused.exception)
        with self.assertRaises(InputError) as refused:
            weights.check(dict(list(wanted.items())[:20]), {}, "model")
        self.assertTrue(str(refused.exception).endswith("; t19 is missing"), refused.exception)

    def test_reports_of_an_epoch(self):
        said = []
        with unittest.mock.patch("time.monotonic", side_effect=[0.0, 0.0, alone.BETWEEN_LOOKS / 2, 4 * alone.BETWEEN_LOOKS]):
            reports = alone.Reports(said.append)
            tally = types.SimpleNamespace(samples=8, steps=2, loss=4.0, correct=6)
            reports.told(tally)
            reports.told(tally)
        self.assertEqual(said, [{"step": 2, "loss": 0.5, "correct": 6, "images_per_s": 8 / (4 * alone.BETWEEN_LOOKS)}])

    def test_tensors_come_back(self):
        tensors = {"f": torch.arange(6.0).reshape(2, 3).T, "n": torch.tensor(7), "e": torch.empty(0, 2), "d": torch.tensor([float("nan")]).double()}
        said = safetensors.write(self.path, tensors)
        with open(self.path, "rb") as file:
            content = file.read()
        self.assertEqual(said, {"sha256": hashlib.sha256(content).hexdigest(), "bytes": len(content)})
        back = safetensors.read(self.path, 1000)
        self.assertEqual(list(back), ["n", "d", "f", "e"])  # 8-byte numbers first
        for name, t in tensors.items():
            self.assertTrue(torch.equal(torch.nan_to_num(back[name], 5), torch.nan_to_num(t, 5)) and back[name].shape == t.shape, name)

    def test_a_disk_that_is_full(self):
        os.symlink("/dev/full", self.path + ".part")
        with self.assertRaises(OSError):
            safetensors.write(self.path, {"a": torch.zeros(100)})
        self.assertEqual([n for n in os.listdir(self.made.path) if n.startswith("file")], [])


@support.needs_torch
class Data(FolderTest):
    """What open, load and epoch make of wrong files; each time the next good order works."""

    def wrong(self, word, act):
        with self.assertRaises(InputError) as raised:
            act()
        self.assertIn(word, str(raised.exception))

    def test_images(self):
        folder = self.folder()
        good = {name: folder.read(name) for name in ("train.pixels", "train.labels", "table")}
        for name, values in (("train.pixels", good["train.pixels"][:0]), ("train.pixels", good["train.pixels"][:, :, :5]),
                             ("train.pixels", np.repeat(good["train.pixels"], 2, 1)), ("train.pixels", good["train.pixels"].astype("<i2")),
                             ("train.labels", good["train.labels"][:-1]), ("train.labels", good["train.labels"] + 1), ("train.labels", good["train.labels"] - 1),
                             ("train.labels", good["train.labels"].astype("<i8")), ("table", good["table"][:, :255]), ("table", good["table"].astype("<f8")),
                             ("table", good["table"] * np.inf)):
            folder.write(name, values)
            self.wrong(name + ".npy", lambda: self.engine(folder))
            folder.write(name, good[name])
        os.unlink(folder.path + "/test.pixels.npy")
        self.wrong("test.pixels.npy", lambda: self.engine(folder))
        folder.open["splits"] = ["train"]
        self.engine(folder)

    def test_orders_and_views(self):
        folder = self.folder()
        engine = self.engine(folder)
        order, views = folder.read("order"), folder.read("views")
        epoch = lambda: self.do(engine, "epoch", epoch=0, lr=0.1, views=True, keep=False)
        twice = order.copy()
        twice[0] = twice[1]
        for values in (order[:-1], order + 1, order - 1, twice, order.astype("<i8")):
            folder.write("order", values)
            self.wrong("order.npy", epoch)
        folder.write("order", order)
        for values in (views[:-1], views[:, :2], views + np.array([[5, 0, 0]], "i1"), views - np.array([[0, 5, 0]], "i1"), views + np.array([[0, 0, 2]], "i1")):
            folder.write("views", values)
            self.wrong("views.npy", epoch)
        folder.write("views", views)
        self.assertEqual(epoch()["samples"], SAMPLES)

    def test_checkpoints(self):
        folder = self.folder(frozen=["fc.bias"])
        engine = self.engine(folder)
        model, optim = folder.tensors("m0"), folder.tensors("o0")
        first = self.saved(engine, folder, 9)
        load = lambda: self.do(engine, "load", model="m1", optim="o1")
        without = lambda tensors, name: {n: t for n, t in tensors.items() if n != name}
        for m, o, word in ((without(model, "fc.weight"), optim, "fc.weight is missing"), ({**model, "extra": torch.zeros(1)}, optim, "extra is unknown"),
                           ({**model, "fc.weight": torch.zeros(2, 2).double()}, optim, "fc.weight is F64 [2, 2], wanted F64 [3, 4]"),
                           ({**model, "fc.weight": model["fc.weight"].float()}, optim, "fc.weight is F32"), (model, without(optim, "steps"), "steps is missing"),
                           (model, {**optim, "steps": torch.tensor(-1)}, "-1 steps"), (model, {**optim, "steps": torch.tensor([1])}, "steps is I64 [1]"),
                           (model, {**optim, "fc.bias.momentum_buffer": torch.zeros(CLASSES).double()}, "fc.bias.momentum_buffer is unknown")):
            safetensors.write(folder.path + "/m1", m)
            safetensors.write(folder.path + "/o1", o)
            self.wrong(word, load)
            self.wrong("load first", lambda: self.do(engine, "save", model="m2", optim="o2"))
            self.do(engine, "load", model="m0", optim="o0")
        counters = {n: t for n, t in model.items() if not n.endswith("num_batches_tracked")}
        safetensors.write(folder.path + "/m1", counters)  # checkpoints older than PyTorch 0.4.1 have no counters
        safetensors.write(folder.path + "/o1", optim)
        load()
        self.assert_same(self.saved(engine, folder, 2), first)


if __name__ == "__main__":
    unittest.main()
