"""The devices that torch finds, and the arithmetic that they use."""

import contextlib
import platform
import re
import warnings

import torch

from .errors import Refused

PRECISIONS = ("float32", "tf32", "bf16")
DTYPES = {"float32": torch.float32, "float64": torch.float64}


def listed():
    """The devices in the form that hello reports."""
    devices = [{"name": "cpu", "title": processor()}]
    for i in range(torch.cuda.device_count() if torch.cuda.is_available() else 0):
        properties = torch.cuda.get_device_properties(i)
        devices.append({"name": "cuda:%d" % i, "title": properties.name, "bytes": properties.total_memory})
    if _has_mps():
        devices.append({"name": "mps", "title": "Apple GPU"})
    return devices


def _has_mps():
    mps = getattr(torch.backends, "mps", None)
    return mps is not None and mps.is_available()


def processor():
    """The name of the CPU."""
    try:
        with open("/proc/cpuinfo") as file:
            for line in file:
                if line.startswith("model name"):
                    return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def versions():
    """Versions for hello: of torch, CUDA and cuDNN; "" for what is missing."""
    cudnn = torch.backends.cudnn.version() if torch.cuda.is_available() else None
    return {"torch": torch.__version__, "cuda": torch.version.cuda or "", "cudnn": str(cudnn or "")}


def machine(device, threads):
    """What the bits depend on besides the run and this package."""
    name = "torch " + torch.__version__
    if device.type == "cuda":
        return "%s, cuDNN %s, %s" % (name, versions()["cudnn"] or "none", torch.cuda.get_device_properties(device).name)
    if device.type == "mps":
        return name + ", Apple GPU"
    used = re.search(r"CPU capability usage: (\S+)", torch.__config__.show())
    return "%s, CPU %s, %s, threads %d" % (name, processor(), used.group(1) if used else "default", threads)


def found(name):
    """The device that an order names; Refused, with the existing ones, if it is missing."""
    if name not in [d["name"] for d in listed()]:
        raise Refused("device %r is not here; there are %s" % (name, ", ".join(d["name"] for d in listed())))
    return torch.device(name)


class Arithmetic:
    """The arithmetic of a run.

    dtype   of weights, features and logits: float32 or float64.
    wide    of losses and penalties: float64, if the device has it.
    steps() is entered around the forward pass and the gradients of training steps: precision "tf32" lets products of float32 round
    their factors, "bf16" computes the network in bfloat16 with weights in float32. whole() is entered around everything else, so
    that measured values are rounded as little as the dtype allows.
    """

    def __init__(self, device, dtype, precision):
        if precision != "float32" and dtype != "float32":
            raise Refused("precision %s is one of float32, and the run's dtype is %s" % (precision, dtype))
        if device.type == "mps" and dtype == "float64":
            raise Refused("device mps has no float64; use the cpu, or run.dtype = float32")
        if precision == "tf32" and not (device.type == "cuda" and torch.cuda.get_device_capability(device) >= (8, 0)):
            raise Refused("precision tf32 is of NVIDIA's GPUs from compute capability 8.0 on; %s has none" % device)
        if precision == "bf16" and device.type == "cuda" and not torch.cuda.is_bf16_supported():
            raise Refused("precision bf16: %s has no bfloat16" % device)
        self.device, self.precision, self.dtype = device, precision, DTYPES[dtype]
        self.wide = torch.float32 if device.type == "mps" else torch.float64

    @contextlib.contextmanager
    def steps(self):
        _round_products(self.precision == "tf32")
        try:
            yield
        finally:
            _round_products(False)

    def half(self):
        """Entered around the network's forward pass in a training step."""
        if self.precision != "bf16":
            return contextlib.nullcontext()
        return torch.autocast(self.device.type, torch.bfloat16)

    def settle(self, threads):
        """Sets torch's switches: the same bits every time, and no products silently rounded."""
        torch.set_num_threads(threads)
        torch.use_deterministic_algorithms(True)
        torch.backends.cudnn.benchmark, torch.backends.cudnn.deterministic = False, True
        if hasattr(torch.utils, "deterministic"):  # from torch 2.2 on new memory would be filled before it is written: that costs time alone
            torch.utils.deterministic.fill_uninitialized_memory = False
        _round_products(False)


def _round_products(on):
    """Switches TF32 for cuBLAS and cuDNN; cuDNN's default is on."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # newer versions have other names for the switches and keep these
        torch.backends.cuda.matmul.allow_tf32 = on
        torch.backends.cudnn.allow_tf32 = on


def free(device):
    """Free bytes, 0 if not known."""
    if device.type == "cuda":
        return torch.cuda.mem_get_info(device)[0]
    try:
        with open("/proc/meminfo") as file:
            found = re.search(r"^MemAvailable:\s+(\d+) kB", file.read(), re.M)
    except OSError:
        found = None
    return int(found.group(1)) * 1024 if found and device.type == "cpu" else 0


def release(device):
    """Releases memory that torch keeps for later."""
    if device.type == "cuda":
        torch.cuda.empty_cache()
