"""What the engine says of devices, which arithmetic it refuses where, and how much memory it asks for."""

import contextlib
import io
import types
import unittest
from unittest import mock

import support

if support.torch:
    import torch

    from collapse.engine import devices, memory
    from collapse.engine.errors import Refused

GPU = types.SimpleNamespace(name="NVIDIA X", total_memory=123)


@contextlib.contextmanager
def gpus(count=1, capability=(8, 0), bfloat16=True, mps=False):
    """A machine with these GPUs, as torch would tell of it."""
    with contextlib.ExitStack() as stack:
        for name, value in {"is_available": lambda: count > 0, "device_count": lambda: count, "get_device_properties": lambda i: GPU,
                            "get_device_capability": lambda d: capability, "is_bf16_supported": lambda: bfloat16, "mem_get_info": lambda d: (77, 123)}.items():
            stack.enter_context(mock.patch.object(torch.cuda, name, value))
        stack.enter_context(mock.patch.object(torch.backends.cudnn, "version", lambda: 8905))
        stack.enter_context(mock.patch.object(torch.backends, "mps", types.SimpleNamespace(is_available=lambda: mps), create=True))
        yield


def holding(**files):
    """open() of a machine whose files in /proc are these; None: there is none."""
    def opened(path, *args):
        if files[path.rpartition("/")[2]] is None:
            raise FileNotFoundError(path)
        return io.StringIO(files[path.rpartition("/")[2]])
    return mock.patch.object(devices, "open", opened, create=True)


@support.needs_torch
class Devices(unittest.TestCase):
    def test_which_there_are(self):
        cpu = {"name": "cpu", "title": devices.processor()}
        with gpus(0):
            self.assertEqual(devices.listed(), [cpu])
            self.assertEqual(devices.versions(), {"torch": torch.__version__, "cuda": torch.version.cuda or "", "cudnn": ""})
        with gpus(2, mps=True):
            self.assertEqual(devices.listed(), [cpu] + [{"name": "cuda:%d" % i, "title": "NVIDIA X", "bytes": 123} for i in (0, 1)] + [{"name": "mps", "title": "Apple GPU"}])
            self.assertEqual(devices.versions()["cudnn"], "8905")
            self.assertEqual(devices.found("cuda:1"), torch.device("cuda", 1))
            with self.assertRaisesRegex(Refused, "device 'cuda:2' is not here; there are cpu, cuda:0, cuda:1, mps"):
                devices.found("cuda:2")
        with gpus(0), self.assertRaisesRegex(Refused, "device 'mps' is not here; there are cpu$"):
            devices.found("mps")

    def test_what_the_bits_depend_on(self):
        with gpus(1), holding(cpuinfo="processor : 0\nmodel name\t: A: B\nmodel name\t: C\n"):
            self.assertEqual(devices.processor(), "A: B")
            self.assertRegex(devices.machine(torch.device("cpu"), 3), r"^torch \S+, CPU A: B, \S+, threads 3$")
            self.assertRegex(devices.machine(torch.device("cuda:0"), 3), r"^torch \S+, cuDNN 8905, NVIDIA X$")
            self.assertRegex(devices.machine(torch.device("mps"), 3), r"^torch \S+, Apple GPU$")
        for text in (None, "processor : 0\n"):
            with holding(cpuinfo=text), mock.patch.object(devices.platform, "processor", lambda: ""), mock.patch.object(devices.platform, "machine", lambda: "m68k"):
                self.assertEqual(devices.processor(), "m68k")

    def test_free_memory(self):
        with gpus(1), holding(meminfo="MemTotal: 9 kB\nMemAvailable:    7 kB\n"):
            self.assertEqual([devices.free(torch.device(name)) for name in ("cuda:0", "cpu", "mps")], [77, 7 << 10, 0])
        for text in (None, "MemTotal: 9 kB\n"):
            with holding(meminfo=text):
                self.assertEqual(devices.free(torch.device("cpu")), 0)
        with mock.patch.object(torch.cuda, "empty_cache") as emptied:
            devices.release(torch.device("cpu"))
            self.assertEqual(emptied.call_count, 0)
            devices.release(torch.device("cuda:0"))
            self.assertEqual(emptied.call_count, 1)

    def test_which_arithmetic_is_refused_where(self):
        for device, dtype, precision, words in (("cpu", "float64", "bf16", "precision bf16 is one of float32, and the run's dtype is float64"), ("mps", "float64", "float32", "mps has no float64"),
                                                ("cpu", "float32", "tf32", "tf32 is of NVIDIA's GPUs from compute capability 8.0 on; cpu has none"),
                                                ("cuda:0", "float64", "tf32", "is one of float32")):
            with gpus(1), self.assertRaisesRegex(Refused, words):
                devices.Arithmetic(torch.device(device), dtype, precision)
        with gpus(1, capability=(7, 5)), self.assertRaisesRegex(Refused, "cuda:0 has none"):
            devices.Arithmetic(torch.device("cuda:0"), "float32", "tf32")
        with gpus(1, bfloat16=False), self.assertRaisesRegex(Refused, "bf16: cuda:0 has no bfloat16"):
            devices.Arithmetic(torch.device("cuda:0"), "float32", "bf16")
        with gpus(1, bfloat16=False):
            for device, dtype, precision, wide in (("cpu", "float64", "float32", torch.float64), ("cpu", "float32", "bf16", torch.float64), ("cuda:0", "float32", "tf32", torch.float64),
                                                   ("mps", "float32", "float32", torch.float32), ("cuda:0", "float64", "float32", torch.float64)):
                got = devices.Arithmetic(torch.device(device), dtype, precision)
                self.assertEqual((got.dtype, got.wide, got.precision), (getattr(torch, dtype), wide, precision))

    def test_products_are_rounded_in_steps_alone(self):
        switches = lambda: (torch.backends.cuda.matmul.allow_tf32, torch.backends.cudnn.allow_tf32)
        before = switches()
        self.addCleanup(lambda: (setattr(torch.backends.cuda.matmul, "allow_tf32", before[0]), setattr(torch.backends.cudnn, "allow_tf32", before[1])))
        with gpus(1):
            for precision, inside in (("float32", (False, False)), ("tf32", (True, True)), ("bf16", (False, False))):
                arithmetic = devices.Arithmetic(torch.device("cuda:0"), "float32", precision)
                with self.assertRaises(KeyError), arithmetic.steps():
                    self.assertEqual(switches(), inside)
                    raise KeyError
                self.assertEqual(switches(), (False, False))
        cpu = lambda precision: devices.Arithmetic(torch.device("cpu"), "float32", precision)
        for precision, want in (("float32", torch.float32), ("bf16", torch.bfloat16)):
            with cpu(precision).half():
                self.assertEqual(torch.nn.functional.linear(torch.ones(2, 2), torch.ones(2, 2)).dtype, want)


@support.needs_torch
class Memory(unittest.TestCase):
    def test_estimates(self):
        batch = 2 * 3 * 5 * 9 + 1000
        for device, members, eager, copies, context, held in (("cpu", 1, True, 1, 300, 3), ("cuda:0", 1, False, 1, 700, 5), ("cuda:0", 1, True, 1, 700, 3), ("cuda:0", 1, False, 2, 700, 7),
                                                              ("mps", 1, True, 0, 300, 2), ("cpu", 16, True, 1, 300, 48)):
            net = torch.nn.Linear(5, 3)  # 18 numbers of 4 bytes
            run = types.SimpleNamespace(model=net, device=torch.device(device), shape=(2, 3, 5), batch=10, per_sample=1000)
            self.assertEqual(memory.estimate(run, members, 240, copies, eager), int((context << 20) + held * 18 * 4 + 240 + members * 10 * batch * 1.2))

    def test_what_autograd_keeps_of_a_sample(self):
        net = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(12, 8, bias=False), torch.nn.Sigmoid(), torch.nn.Linear(8, 2, bias=False))
        # The input of the first layer and the sigmoid's result, which is the input of the last: not the weights, which are held anyway.
        self.assertEqual(memory.saved_bytes(net, (3, 2, 2)), (12 + 8) * 4)
        self.assertEqual(memory.saved_bytes(net.double(), (3, 2, 2)), (12 + 8) * 8)
        norm = torch.nn.Sequential(torch.nn.BatchNorm2d(3), torch.nn.Flatten(), torch.nn.Linear(12, 1))
        memory.saved_bytes(norm, (3, 2, 2))
        self.assertEqual((norm[0].num_batches_tracked.item(), norm[0].running_var.tolist()), (0, [1, 1, 1]))


if __name__ == "__main__":
    unittest.main()
