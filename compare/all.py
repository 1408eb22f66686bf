#!/usr/bin/python3
"""Runs every comparison of speed in turns, and writes the tables of docs/internal/benchmarks.md.

    $(scripts/peers_env.sh) compare/all.py --binary ./collapse --library DIR --table docs/internal/benchmarks.md
    $(scripts/peers_env.sh) compare/all.py --binary ./collapse --quick

Contenders of one comparison take turns (A B C A B C …), each in a process of its own that is ready before the first turn. A time is the
median over turns. A ratio is a contender's time over ours in the same turn: the median over turns, and in brackets the 95 % interval of
its mean by Student's t, of logarithms. DIR is a checkout of github.com/rhubarbwu/neural-collapse; what cannot run is named, with the reason.
"""
import argparse
import datetime
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile

import scipy.stats

import arrays
import process
from compare_reference import Tools
from speed import counted

HERE = os.path.dirname(os.path.abspath(__file__))
NETS = {  # name: batch, in a training step and in evaluation
    "mlp": 512, "resnet18": 128, "resnet18-cifar": 64, "vgg13": 128, "resnet18-adapt": 64,
}
MEASURED = {"small": (50_000, 512, 10), "large": (200_000, 2048, 1000)}
QUICK = {"quick": (2_000, 64, 10)}
ASIDE = ("oldest", "ours, --null 0")  # no peers of today
BEGIN, END = "<!-- compare/all.py -->\n", "<!-- end of compare/all.py -->\n"


class Ours:
    """`collapse bench train`, a process for each turn, since it starts at once."""

    name = "ours"

    def __init__(self, args, net, evaluate):
        self.command = [args.binary, "bench", "train", "--net", net, "--batch", str(NETS[net]), "--threads", str(args.threads), "--steps", str(args.steps), "--json"]
        self.command += ["--eval"] if evaluate else []

    def turn(self):
        return process.run(self.command)["answer"]["step_ms"]

    def close(self):
        pass


class Peer:
    """A script of this folder that stays, and answers each line with a time."""

    def __init__(self, name, python, *command):
        self.name, self.words = name, " ".join(command)
        self.log = tempfile.TemporaryFile()
        command = [python, os.path.join(HERE, command[0]), *command[1:], "--serve"]
        self.child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.log, text=True)
        self.about = self._answer()

    def _answer(self):
        line = self.child.stdout.readline()
        if not line:
            self.log.seek(0)
            last = self.log.read().decode(errors="replace").strip().splitlines()[-1:]
            raise RuntimeError("%s: %s" % (self.words, "".join(last) or "it ended without a word"))
        return json.loads(line)

    def turn(self):
        self.child.stdin.write("\n")
        self.child.stdin.flush()
        return self._answer()["step_ms"]

    def close(self):
        self.child.stdin.close()
        self.child.wait()


class Call:
    """A function that is timed by itself."""

    def __init__(self, name, call):
        self.name, self.turn = name, call

    def close(self):
        pass


def network(args, net, evaluate):
    """The contenders of a training step or an evaluation, and what could not start."""
    same = [net, "--batch", str(NETS[net]), "--threads", str(args.threads), "--steps", str(args.steps)] + (["--eval"] if evaluate else [])
    wanted = [("eager", sys.executable, "torch_train.py", *same), ("compiled", sys.executable, "torch_train.py", *same, "--compile")]
    if evaluate:
        wanted.append(("ONNX Runtime", sys.executable, "onnx_time.py", *(word for word in same if word != "--eval")))
    if args.oldest:
        wanted.append(("oldest", args.oldest, "torch_train.py", *same))
    contenders, failed = [Ours(args, net, evaluate)], {}
    for name, *command in wanted:
        try:
            contenders.append(Peer(name, *command))
        except (OSError, RuntimeError) as err:
            failed[name] = str(err)
    return contenders, failed


def measure(args, folder):
    """The contenders of measuring the arrays in a folder: whole processes of ours, the library's calls alone, vectorised numpy's calls."""
    tools = Tools(args.library, args.binary)
    threads = ("--threads", str(args.threads))
    contenders = [Call("ours", lambda: 1e3 * tools.collapse(folder, *threads)["wall"]), Call("ours, --null 0", lambda: 1e3 * tools.collapse(folder, "--null", "0", *threads)["wall"])]
    if args.library:
        contenders.append(Call("library", lambda: 1e3 * counted(tools.library(folder, "--batch", "4096"))))
    contenders.append(Call("numpy", lambda: 1e3 * counted(tools.papers(folder))))
    return contenders, {} if args.library else {"library": "--library names no checkout"}


def turns(contenders, failed, count):
    """name → the milliseconds of each turn; a contender that fails leaves, with the reason."""
    times = {c.name: [] for c in contenders}
    for _ in range(count):
        for c in list(contenders):
            try:
                times[c.name].append(c.turn())
            except (OSError, RuntimeError) as err:
                failed[c.name] = str(err)
                contenders.remove(c)
                del times[c.name]
    for c in contenders:
        c.close()
    return times


def ratio(theirs, ours):
    """The median of theirs over ours turn by turn, and the interval of the mean; bounds are None for fewer than three turns."""
    logs = [math.log(a / b) for a, b in zip(theirs, ours)]
    if len(logs) < 3:
        return math.exp(statistics.median(logs)), None, None
    half = scipy.stats.t.ppf(.975, len(logs) - 1) * statistics.stdev(logs) / math.sqrt(len(logs))
    middle = statistics.mean(logs)
    return math.exp(statistics.median(logs)), math.exp(middle - half), math.exp(middle + half)


def compared(args):
    """Every comparison, as it ends: {"what", "times", "failed", "about"}."""
    for evaluate in (False, True):
        for net in args.nets:
            contenders, failed = network(args, net, evaluate)
            about = {c.name: c.about for c in contenders if isinstance(c, Peer)}
            yield {"what": "%s, %s, batch %d" % ("evaluation" if evaluate else "training step", net, NETS[net]), "about": about, "failed": failed,
                   "times": turns(contenders, failed, args.turns)}
    for n, d, k in (QUICK if args.quick else MEASURED).values():
        with tempfile.TemporaryDirectory() as folder:
            arrays.make(folder, n, d, k)
            contenders, failed = measure(args, folder)
            yield {"what": "measure, %d × %d, K = %d" % (n, d, k), "about": {}, "failed": failed, "times": turns(contenders, failed, args.turns)}


def milliseconds(x):
    return "%.3g" % x if x < 1000 else "%.0f" % x


def row(seen, columns):
    """A line of the table: ours, then each column's time and ratio."""
    times, cells = seen["times"], [seen["what"], milliseconds(statistics.median(seen["times"]["ours"]))]
    fastest = min((name for name in columns if name in times and name not in ASIDE), key=lambda name: statistics.median(times[name]), default=None)
    for name in columns:
        if name not in times:
            cells.append("failed" if name in seen["failed"] else "–")
            continue
        middle, low, high = ratio(times[name], times["ours"])
        text = "%s: %.2f" % (milliseconds(statistics.median(times[name])), middle) + ("" if low is None else " (%.2f–%.2f)" % (low, high))
        cells.append("**%s**" % text if name == fastest else text)
    return "| " + " | ".join(cells) + " |"


def tables(args, all_seen):
    """The page's part."""
    today, oldest = versions(sys.executable), versions(args.oldest) if args.oldest else {}
    names = {"eager": "PyTorch %s, eager" % today["torch"], "compiled": "PyTorch %s, `torch.compile`" % today["torch"], "ONNX Runtime": "ONNX Runtime %s" % today["onnxruntime"],
             "oldest": "PyTorch %s, oldest supported" % oldest.get("torch"), "ours, --null 0": "ours without shuffled labels (`--null 0`)",
             "library": "the reference library's calls, PyTorch %s" % today["torch"], "numpy": "the papers' functions, numpy %s" % today["numpy"]}
    machine = process.machine()
    lines = ["`compare/all.py%s`: %s, %d processors, %d threads, float32, %s; %s. %d turns: a peer's milliseconds, then its time over ours in the same turn, the median, and the 95 %% interval of the mean; the fastest of today's peers in bold. PyTorch has the faster of its two memory formats." % (
        " --quick" if args.quick else "", machine["cpu"], machine["cores"], args.threads, ours(args.binary), datetime.date.today().strftime("%-d %B %Y"), args.turns)]
    for kind, columns in (("training step", ["eager", "compiled", "oldest"]), ("evaluation", ["eager", "compiled", "ONNX Runtime", "oldest"]), ("measure", ["ours, --null 0", "library", "numpy"])):
        columns = [c for c in columns if c != "oldest" or args.oldest]
        lines += ["", "| ms | ours | " + " | ".join(names[c] for c in columns) + " |", "|---|" + "---|" * (len(columns) + 1)]
        lines += [row(seen, columns) for seen in all_seen if seen["what"].startswith(kind) and "ours" in seen["times"]]
    failed = ["%s, %s: %s" % (seen["what"], names.get(name, name), why) for seen in all_seen for name, why in seen["failed"].items()]
    return "\n".join(lines + ["", *("- not measured: " + f for f in failed)]).strip() + "\n"


def versions(python):
    code = "import json\nout = {}\nfor name in ('torch', 'numpy', 'onnxruntime'):\n  try: out[name] = __import__(name).__version__\n  except ImportError: pass\nprint(json.dumps(out))"
    return process.run([python, "-c", code])["answer"]


def ours(binary):
    return "collapse " + process.run([binary, "version", "--json"])["answer"]["version"]


def store(path, text):
    """Puts text between the marks of a page."""
    with open(path) as f:
        page = f.read()
    if page.count(BEGIN) != 1 or page.count(END) != 1:
        raise SystemExit("%s: wanted one line %sand one line %sbehind it" % (path, BEGIN, END))
    head, rest = page.split(BEGIN)
    with open(path, "w") as f:
        f.write(head + BEGIN + text + END + rest.split(END)[1])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", default=os.environ.get("COLLAPSE_BINARY", "collapse"), help="the collapse program")
    parser.add_argument("--library", default=os.environ.get("COLLAPSE_REFERENCE"), help="checkout of the reference library")
    parser.add_argument("--oldest", default="", metavar="PYTHON", help="a Python with the oldest supported PyTorch")
    parser.add_argument("--nets", nargs="*", choices=NETS, help="default: all, with --quick resnet18-adapt")
    parser.add_argument("--turns", type=int, help="default 5, with --quick 2")
    parser.add_argument("--steps", type=int, help="of a turn; default 7, with --quick 2")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--quick", action="store_true", help="whether all of it works, in a few minutes; no measurement")
    parser.add_argument("--table", metavar="FILE", help="write the tables between the marks of this page")
    parser.add_argument("--out", metavar="FILE", help="write everything seen to this JSON file")
    args = parser.parse_args()
    args.turns, args.steps = args.turns or (2 if args.quick else 5), args.steps or (2 if args.quick else 7)
    args.nets = list(NETS) if args.nets is None and not args.quick else args.nets or ["resnet18-adapt"]
    os.environ["OMP_NUM_THREADS"] = str(args.threads)  # of numpy and the library
    all_seen = []
    for seen in compared(args):
        all_seen.append(seen)
        print("%s: %s" % (seen["what"], ", ".join("%s %s ms" % (name, milliseconds(statistics.median(t))) for name, t in seen["times"].items())), file=sys.stderr, flush=True)
        if args.out:
            with open(args.out, "w") as f:
                json.dump({"machine": process.machine(), "seen": all_seen}, f, indent=1)
    text = tables(args, all_seen)
    print(text)
    if args.table:
        store(args.table, text)
    if any("ours" in seen["failed"] for seen in all_seen) or args.quick and any(seen["failed"] for seen in all_seen if args.library or not seen["what"].startswith("measure")):
        sys.exit(1)


if __name__ == "__main__":
    main()
