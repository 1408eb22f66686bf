"""What trials of a campaign share: commands, an undisturbed run to compare with, what a lab must hold."""
import collections, hashlib, os, re, subprocess, tempfile

HOME = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
RUN = """[data]
name = "glyphs"
classes = 4
samples_per_class = 200
test_samples_per_class = 60
noise = 0.2
pipeline = "plain"
[net]
depth = 2
width = 64
[run]
epochs = 120
checkpoint_every = 1
batch = 100
"""


class Failed(Exception):
    pass


def must(condition, says):
    if not condition:
        raise Failed(says)


def run(args, env=None, timeout=3600, check=True):
    """Runs a command, returns what it printed, and fails with that if the command does."""
    process = subprocess.run(args, cwd=HOME, env={**os.environ, **(env or {})}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", timeout=timeout)
    if check and process.returncode:
        raise Failed(f"{' '.join(args)} ended with {process.returncode}\n{process.stdout[-20000:]}")
    return process.stdout


def digest(folder):
    """One fingerprint of the last checkpoint and the features of a lab's only run."""
    name, = os.listdir(folder + "/runs")
    last = max(os.listdir(f"{folder}/runs/{name}/ckpt"), key=int)
    out = hashlib.sha256()
    for file in (f"ckpt/{last}/model.safetensors", f"ckpt/{last}/optim.safetensors", f"ckpt/{last}/state.json", "features.npz"):
        path = f"{folder}/runs/{name}/{file}"
        must(os.path.exists(path), f"{path} is missing")
        with open(path, "rb") as f:
            out.update(f.read())
    return out.hexdigest()


def of_script(*command):
    """A kind whose trial is a script that compares for itself; its last argument is the seed."""
    def trial(c, seed, work):
        text = run([*(part.replace("BINARY", c.binary) for part in command), str(seed)], {"COLLAPSE": c.binary})
        done = [int(n) for n in re.findall(r"^ok: (\d+) kills", text, re.M)] or [sum(int(n) for n in re.findall(r": (\d+)", line)) for line in re.findall(r"^ok: killed \{(.*)\}", text, re.M)]
        if done:
            return {"kills": done[-1]}
        copies = re.findall(r"^(\d+) copies, (\d+) of them with unfinished runs, (\d+) kills", text, re.M)
        must(copies, "the script counted nothing:\n" + text[-2000:])
        return {"copies": int(copies[-1][0]), "kills": int(copies[-1][2])}
    return trial


def of_test(package, test):
    """A kind whose trial is a test of the repository that compares for itself, and logs how many kills it made."""
    def trial(c, seed, work):
        text = run(["go", "test", "-count=1", "-v", "-run", f"^{test}$", package], {"COLLAPSE_LONG": "1"})
        done = re.findall(r": (\d+) kills,", text)
        must(done, "the test counted nothing:\n" + text[-2000:])
        return {"kills": int(done[-1])}
    return trial


def of_seeds(package, test, count, *more):
    """A kind whose trial is `count` seeds of a random test of the repository, and other tests, pairs of package and name. What they counted they log."""
    def trial(c, seed, work):
        counts = collections.Counter()
        for where, name in ((package, test), *more):
            text = run(["go", "test", "-count=1", "-v", "-timeout", "1h", "-run", f"^{name}$", where], {"COLLAPSE_LONG": "1", "COLLAPSE_SEEDS": f"{seed * count}:{count}"})
            must(f"--- PASS: {name} " in text, f"{name} was not run:\n" + text[-2000:])
            for line in re.findall(r": counted: (.*)", text):
                for n, what in re.findall(r"(\d+) ([^,]+)", line):
                    counts[what] += int(n)
        must(counts, "the tests counted nothing")
        return dict(counts)
    return trial


class Same:
    """The digest of an undisturbed run, computed once in a campaign's process."""
    known = {}

    @classmethod
    def of(cls, c, text):
        if text not in cls.known:
            with tempfile.TemporaryDirectory() as work:
                start(c, work, "whole", text).wait()
                cls.known[text] = digest(work + "/whole")
        return cls.known[text]


def start(c, work, lab, text=RUN, env=None, threads="2", before=None):
    with open(f"{work}/run.toml", "w") as f:
        f.write(text)
    with open(f"{work}/log", "a") as log:
        return subprocess.Popen([c.binary, "--threads", threads, "--lab", f"{work}/{lab}", "train", f"{work}/run.toml"], stdout=log, stderr=log, env={**os.environ, **(env or {})}, preexec_fn=before)


def log_of(work):
    with open(work + "/log", errors="replace") as f:
        return f.read()[-4000:]


def whole(c, work, lab):
    """A lab has what an undisturbed run has: bits, all epochs once, nothing half-written."""
    must(digest(f"{work}/{lab}") == Same.of(c, RUN), "other bits than those of an undisturbed run")
    run([c.binary, "--lab", f"{work}/{lab}", "runs", "check"])
    rows = run([c.binary, "--lab", f"{work}/{lab}", "export"], check=True).count(",accuracy,")
    with tempfile.TemporaryDirectory() as other:
        if "rows" not in Same.known:
            start(c, other, "whole").wait()
            Same.known["rows"] = run([c.binary, "--lab", other + "/whole", "export"]).count(",accuracy,")
    must(rows == Same.known["rows"], f"{rows} rows, wanted {Same.known['rows']}")
    left = [path for path, _, names in os.walk(f"{work}/{lab}") for n in names if n.endswith(".tmp")]
    must(not left, f"left behind: {left}")
