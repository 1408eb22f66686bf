#!/usr/bin/env python3
"""Gives `collapse` inputs of less than 10 MB that are made to be dear, and prints what each costs.

    scripts/shapes.py COLLAPSE [WORD ...]

COLLAPSE is the program (go build ./cmd/collapse); of WORDs, only inputs whose line has one of them are tried. Needs numpy. `measure`, `serve`,
`measure --merge` and `train` get files of the nastiest shapes; an input that is refused in words is fine. Ends with 1 if one takes more
than 60 s of processor or 1 GB, or ends in another way. Seconds of processor are those of all threads and mean most on a quiet machine. The
limits that keep them low are tested by counts: TestUnaskedWork and its neighbours, TestStatesShareABudget, TestSmallFilesOfMuchMemory.
"""
import gzip
import hashlib
import os
import resource
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
import zlib

import numpy as np

rng = np.random.default_rng(1)
F16, F32, I8 = np.float16, np.float32, np.int8


def x(n, d, t):
    if t is I8:
        return rng.integers(-90, 90, (n, d), dtype=I8)
    return rng.standard_normal((n, d), dtype=F32).astype(t)


def shape(n, d, k, t, rows=0, dependent=False, test=False):
    """n samples of width d in k classes, and a classifier of so many rows; dependent: the second half of the coordinates is the first."""
    arrays = {"features": x(n, d, t), "labels": (np.arange(n) % k).astype(np.int32)}
    if dependent:
        arrays["features"][:, d // 2 : d // 2 * 2] = arrays["features"][:, : d // 2]
    if rows:
        arrays["weight"] = x(rows, d, t)
    if test:
        arrays["test_features"], arrays["test_labels"] = x(n, d, t), arrays["labels"]
    return arrays


def packed(n, d, k):
    """A file of few bytes that unpacks to many: every row is put together from a few pieces, which lie within the 32 KB that deflate looks back."""
    width = min(d, 250)
    pieces = x(4_000 // width, width, I8)
    rows = pieces[rng.integers(0, len(pieces), (n, d // width))].reshape(n, d)
    return {"features": rows, "labels": (np.arange(n) % k).astype(np.uint16)}


SHAPES = {
    "60,000 classes of a number": lambda: shape(120_000, 1, 60_000, F32),
    "200,000 classes of a number": lambda: shape(400_000, 1, 200_000, F32),
    "950,000 classes of a number": lambda: shape(1_900_000, 1, 950_000, I8),
    "pairs just asked": lambda: shape(39_800, 1, 19_900, F32),
    "30,000 classes of 32 numbers": lambda: shape(60_000, 32, 30_000, F16),
    "30,000 classes of 32 numbers, five samples": lambda: shape(150_000, 32, 30_000, I8),
    "100,000 classes of 16 numbers": lambda: shape(200_000, 16, 100_000, F16),
    "a million samples, each its class and row": lambda: shape(1_000_000, 1, 1_000_000, F16, 1_000_000),
    "two classes beside a million rows": lambda: shape(900_000, 1, 2, F16, 1_000_000),
    "100 classes beside 100,000 rows": lambda: shape(100, 48, 100, F16, 100_000),
    "12,000 classes and rows of 64 numbers": lambda: shape(24_000, 64, 12_000, F16, 12_000),
    "9,900 classes of 64 numbers": lambda: shape(99_000, 64, 9_900, I8),
    "square, a sample each": lambda: shape(3100, 3100, 3100, I8),
    "square, dependent": lambda: shape(3100, 3100, 3100, I8, dependent=True),
    "square, two samples each": lambda: shape(3100, 3100, 1550, I8),
    "square, two samples each, dependent": lambda: shape(3100, 3100, 1550, I8, dependent=True),
    "square, with test samples": lambda: shape(2200, 2200, 1100, I8, test=True),
    "square, float32": lambda: shape(1580, 1580, 1580, F32),
    "2,200 classes of 4,400 numbers": lambda: shape(2200, 4400, 2200, I8),
    "one sample": lambda: shape(1, 4_900_000, 1, F16),
    "two samples of two classes": lambda: shape(2, 4_900_000, 2, I8),
    "four samples of two classes": lambda: shape(4, 2_400_000, 2, I8),
    "50 samples of 196,000 numbers": lambda: shape(50, 196_000, 2, I8),
    "98 classes of 98,000 numbers": lambda: shape(98, 98_000, 98, I8),
    "100 samples of 98,000 numbers": lambda: shape(100, 98_000, 50, I8),
    "many samples of a number": lambda: shape(1_900_000, 1, 100, I8),
    "packed: 1,500,000 samples of 100 numbers": lambda: packed(1_500_000, 100, 30_000),
    "packed: 100,000 samples of 4,000 numbers": lambda: packed(100_000, 4_000, 3_000),
    "packed: 60,000 samples of 4,000 numbers": lambda: packed(60_000, 4_000, 1_500),
}

# What a browser may send: the page also draws eigenvalues, and keeps class means.
SERVED = ["950,000 classes of a number", "pairs just asked", "a million samples, each its class and row", "square, a sample each",
          "square, two samples each, dependent", "98 classes of 98,000 numbers",
          "packed: 100,000 samples of 4,000 numbers", "packed: 60,000 samples of 4,000 numbers"]


def moments(k, d, pooled=False, values=None, claim=None):
    """A .ncs file of a first pass; claim: what its header says of K and d."""
    flags = (1 if pooled else 0) | 2 | (4 if values is not None else 0)
    b = b"NCS2" + struct.pack("<IIII", 1, flags, *(claim or (k, d))) + bytes(8)
    if values is not None:
        b += values.astype("<i8").tobytes()
    b += np.full(k, 2, "<i8").tobytes() + np.abs(rng.standard_normal(k)).tobytes()
    b += rng.standard_normal(k * d).astype(F32).astype("<f8").tobytes() + np.abs(rng.standard_normal(d)).tobytes()
    if pooled:
        a = rng.standard_normal((d, d))
        b += (a @ a.T)[np.tril_indices(d)].tobytes()
    return b + hashlib.sha256(b).digest()


STATES = {
    "400,000 classes of a number": lambda: [moments(400_000, 1, True)],
    "19,900 classes of a number": lambda: [moments(19_900, 1, True)],
    "240,000 classes of 3 numbers": lambda: [moments(240_000, 3, True)],
    "10,000 classes of 100 numbers": lambda: [moments(10_000, 100, True)],
    "1,000 classes of 1,000 numbers": lambda: [moments(1_000, 1_000)],
    "1,000 classes, pooled": lambda: [moments(400, 1_000, True)],
    "two classes of 1,500 numbers, pooled": lambda: [moments(2, 1_500, True)],
    "a class of 600,000 numbers": lambda: [moments(1, 600_000)],
    "40 states, no class in two": lambda: [moments(7_500, 1, True, np.arange(7_500) * 40 + i) for i in range(40)],
    "2,000,000,000 classes, claimed": lambda: [moments(2, 2, claim=(2_000_000_000, 2))],
    "width 2,000,000,000, claimed": lambda: [moments(2, 2, claim=(2, 2_000_000_000))],
    "a pooled scatter of 2,000,000,000, claimed": lambda: [moments(1, 1, True, claim=(1, 2_000_000_000))],
}

GLYPHS = '[data]\nname = "glyphs"\nsamples_per_class = 20\ntest_samples_per_class = 10\n[run]\nepochs = 1\nbatch = 32\n'
SMALL = "[net]\ndepth = 1\nwidth = 16\n"
CONFIGS = {
    "a network of 10¹⁵ weights": GLYPHS + "[net]\ndepth = 1000\nwidth = 1000000\n",
    "a network of 16 GB": GLYPHS + "[net]\ndepth = 2\nwidth = 60000\n",
    "width beyond all limits": GLYPHS + "[net]\nwidth = 1000000000\n",
    "2,000,000,000 classes": GLYPHS.replace("[run]", "classes = 2000000000\n[run]"),
    "10⁷ samples of a class": GLYPHS.replace("= 20", "= 10000000") + SMALL,
    "a million in a batch of wide layers": GLYPHS.replace("= 20", "= 2000").replace("= 32", "= 1000000") + "[net]\ndepth = 100\nwidth = 20000\n",
    "features of a million numbers": GLYPHS + "[net]\ndepth = 1\nwidth = 16\nfeature_dim = 1000000\n",
    "a history of a thousand": GLYPHS + "[net]\ndepth = 2\nwidth = 4096\n[optim]\nkind = \"lbfgs\"\n[optim.lbfgs]\nhistory = 1000\n",
    "channels of a stem": GLYPHS + "[net]\nkind = \"resnet18-adapt\"\nstem_width = 4096\n",
    "a list of 300,000 milestones": GLYPHS + SMALL + "[optim.schedule]\nkind = \"multistep\"\nmilestones = [" + ",".join(str(i) for i in range(1, 140_000)) + "]\n",
    "a list of 100,000 taps": GLYPHS.replace("[run]", "[run]\ntaps = [" + ",".join('"h1"' for _ in range(150_000)) + "]") + SMALL,
    "a million epochs to save": GLYPHS + 'save_features = "' + ",".join(str(i) for i in range(1, 140_000)) + '"\n' + SMALL,
    "100,000 unknown keys": GLYPHS + "".join(f"k{i} = 1\n" for i in range(90_000)) + SMALL,
    "a key of a megabyte": GLYPHS + "k" * 1_000_000 + " = 1\n" + SMALL,
    "10,000 sections": GLYPHS + "".join(f"[s{i}]\na = 1\n" for i in range(60_000)),
    "deep sections": "[" + ".".join("a" for _ in range(500_000)) + "]\nb = 1\n",
    "deep lists": "a = " + "[" * 500_000 + "]" * 500_000 + "\n",
    "deep tables": "a = " + "{a=" * 250_000 + "1" + "}" * 250_000 + "\n",
    "a list of tables": "[[a]]\n" * 170_000,
    "9 MB of text": "# " + "x" * 9_000_000,
}


def idx(sizes, body, zipped=False):
    b = bytes([0, 0, 8, len(sizes)]) + b"".join(struct.pack(">I", n) for n in sizes) + body
    return gzip.compress(b, 9) if zipped else b


def mnist(folder, train, labels, zipped=False):
    os.makedirs(os.path.join(folder, "mnist"))
    end = ".gz" if zipped else ""
    for name, b in {"train-images-idx3-ubyte": train, "train-labels-idx1-ubyte": labels, "t10k-images-idx3-ubyte": idx((20, 28, 28), bytes(15680), zipped),
                    "t10k-labels-idx1-ubyte": idx((20,), bytes(i % 2 for i in range(20)), zipped)}.items():
        write(os.path.join(folder, "mnist", name + end), b)


def png(path, side):
    """A square image of one colour: thousands of times smaller than its pixels."""
    def chunk(kind, body):
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
    rows = zlib.compress((b"\0" + bytes(3 * side)) * side, 9)
    write(path, b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)) + chunk(b"IDAT", rows) + chunk(b"IEND", b""))


def images(folder, side, each):
    for split in ("train", "test"):
        for c in ("a", "b"):
            os.makedirs(os.path.join(folder, split, c))
            first = os.path.join(folder, split, c, "0.png")
            png(first, side)
            for i in range(1, each):
                shutil.copy(first, os.path.join(folder, split, c, f"{i}.png"))


def cifar(folder, records):
    os.makedirs(os.path.join(folder, "cifar-10"))
    body = b"".join(bytes([i % 2]) + bytes(3072) for i in range(records))
    write(os.path.join(folder, "cifar-10", "data_batch_1.bin"), body)
    write(os.path.join(folder, "cifar-10", "test_batch.bin"), body[: 3073 * 20])


DATA = {
    "IDX: four billion images, claimed": ("mnist", "", lambda d: mnist(d, idx((2**32 - 1, 28, 28), bytes(784)), idx((2,), bytes(2)))),
    "IDX: an image of 10¹⁹ pixels, claimed": ("mnist", "", lambda d: mnist(d, idx((1, 2**32 - 1, 2**32 - 1), bytes(784)), idx((1,), bytes(1)))),
    "IDX: a million images, packed": ("mnist", "", lambda d: mnist(d, idx((1_000_000, 28, 28), bytes(784_000_000), True), idx((1_000_000,), bytes(1_000_000), True), True)),
    "IDX: 160,000 images, packed": ("mnist", "", lambda d: mnist(d, idx((160_000, 28, 28), bytes(784 * 160_000), True), idx((160_000,), bytes(i % 2 for i in range(160_000)), True), True)),
    "CIFAR: 3,200 black images": ("cifar-10", "", lambda d: cifar(d, 3_200)),
    "images of 16 million pixels": ("folder", "", lambda d: images(d, 4096, 2)),
    "20,000-fold images, resized": ("folder", "size = 32\n", lambda d: images(d, 4000, 10)),
    "images beyond all limits": ("folder", "size = 32\n", lambda d: images(d, 5000, 1)),
}


def write(path, b):
    with open(path, "wb") as f:
        f.write(b)


def limited():
    resource.setrlimit(resource.RLIMIT_AS, (16 << 30, 16 << 30))


class Tries:
    def __init__(self, program, words):
        self.program, self.words, self.over = program, words, False

    def wanted(self, name):
        return not self.words or any(w in name for w in self.words)

    def say(self, name, size, seconds, megabytes, outcome, fine):
        bad = seconds > 60 or megabytes > 1000 or not fine
        self.over |= bad
        print(f"{name:62} {size / 1e6:5.1f} MB  {seconds:6.1f} s of processor  {megabytes:6.0f} MB  {outcome}{'  OVER' if bad else ''}", flush=True)

    def run(self, name, size, *args):
        """Runs the program to its end."""
        with tempfile.TemporaryFile() as err:
            child = subprocess.Popen([self.program, *args], stdout=subprocess.DEVNULL, stderr=err, preexec_fn=limited)
            end = time.monotonic() + 900
            while True:
                pid, status, used = os.wait4(child.pid, os.WNOHANG)
                if pid:
                    break
                if time.monotonic() > end or cpu(child.pid) > 100:
                    child.kill()
                time.sleep(0.02)
            child.returncode = code = os.waitstatus_to_exitcode(status)
            err.seek(0)
            said = err.read().decode(errors="replace").strip().split("\n")[-1]
        refused = code in (1, 2) and said.startswith("collapse: ")
        self.say(name, size, used.ru_utime + used.ru_stime, used.ru_maxrss / 1e3, "done" if code == 0 else f"refused: {said[10:120]}" if refused else f"exit code {code}: {said[:100]}", code == 0 or refused)

    def serve(self, name, path):
        """Uploads a file to a server of its own."""
        size = os.path.getsize(path)
        with tempfile.TemporaryDirectory() as lab:
            server = subprocess.Popen([self.program, "--lab", lab, "serve", "--listen", "127.0.0.1:0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, preexec_fn=limited)
            try:
                url = server.stdout.readline().decode().split()[0]
                with open(path, "rb") as f:
                    body = b"--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"x.npz\"\r\n\r\n" + f.read() + b"\r\n--b--\r\n"
                try:
                    with urllib.request.urlopen(urllib.request.Request(url + "measure", body, {"Content-Type": "multipart/form-data; boundary=b"}), timeout=900) as answer:
                        answer.read()
                        said = answer.status
                except urllib.error.HTTPError as e:
                    said = e.code
                before = -1.0
                while cpu(server.pid) > before:  # what goes on after the answer counts, too
                    before = cpu(server.pid)
                    time.sleep(2)
                self.say(name, size, cpu(server.pid), peak(server.pid), f"answer {said}", said in (200, 400, 422, 503))
            finally:
                server.send_signal(signal.SIGINT)
                server.wait()


def cpu(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as f:
            fields = f.read().rsplit(") ", 1)[1].split()
    except OSError:
        return 0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def peak(pid):
    with open(f"/proc/{pid}/status", encoding="utf-8") as f:
        return next(int(line.split()[1]) for line in f if line.startswith("VmHWM")) / 1e3


def measured(tries, folder):
    path, state = os.path.join(folder, "shape.npz"), os.path.join(folder, "shape.ncs")
    for name, make in SHAPES.items():
        names = [f"measure: {name}", f"serve: {name}", f"measure --merge of its state: {name}", f"measure --csv: {name}"]
        if not any(tries.wanted(n) for n in names):
            continue
        (np.savez_compressed if name.startswith("packed") else np.savez)(path, **make())
        size = os.path.getsize(path)
        assert size < 10.1e6, f"{name}: {size} bytes are no small file"
        if tries.wanted(names[0]):
            tries.run(names[0], size, "measure", path)
        if name not in SERVED:
            continue
        if tries.wanted(names[1]):
            tries.serve(names[1], path)
        if tries.wanted(names[3]):
            tries.run(names[3], size, "measure", "--csv", os.path.join(folder, "out.csv"), path)
        if tries.wanted(names[2]):
            subprocess.run([tries.program, "measure", "--state-out", state, path], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
            if os.path.exists(state) and os.path.getsize(state) < 10e6:  # a state holds class means in float64: larger files are other inputs
                tries.run(names[2], os.path.getsize(state), "measure", "--merge", state)


def merged(tries, folder):
    for name, make in STATES.items():
        if tries.wanted(f"measure --merge: {name}"):
            paths = []
            for i, b in enumerate(make()):
                paths.append(os.path.join(folder, f"{i}.ncs"))
                write(paths[i], b)
            tries.run(f"measure --merge: {name}", sum(os.path.getsize(p) for p in paths), "measure", "--merge", *paths)


def trained(tries, folder):
    config, lab = os.path.join(folder, "run.toml"), os.path.join(folder, "lab")
    for name, text in CONFIGS.items():
        if tries.wanted(f"train: {name}"):
            write(config, text.encode())
            tries.run(f"train: {name}", len(text), "--lab", lab, "train", config)
    if tries.wanted("train --trace"):
        write(config, (GLYPHS + SMALL).encode())
        tries.run("train --trace: a million steps", 100, "--lab", lab, "train", config, "--trace", os.path.join(folder, "trace"), "--trace-steps", "1000000")
    for name, (kind, more, make) in DATA.items():
        if not tries.wanted(f"train: {name}"):
            continue
        data = os.path.join(folder, "data")
        make(data)
        write(config, (f'[data]\nname = "{kind}"\ndir = "{data}"\n{more}[run]\nepochs = 1\nbatch = 512\n' + SMALL).encode())
        size = sum(os.path.getsize(os.path.join(d, f)) for d, _, files in os.walk(data) for f in files)
        tries.run(f"train: {name}", size, "--lab", lab, "train", config)
        shutil.rmtree(data)


def main():
    tries = Tries(sys.argv[1], sys.argv[2:])
    for part in (measured, merged, trained):
        with tempfile.TemporaryDirectory() as folder:
            part(tries, folder)
    return tries.over


if __name__ == "__main__":
    sys.exit(main())
