#!/usr/bin/env python3
"""Kills PyTorch engines, and the programs and workers that drive them, with kill -9 at random moments, and goes on each time.

    scripts/kill_engines.py COLLAPSE_BINARY [KILLS [SEED [DEVICE]]]

needs a Python with PyTorch (COLLAPSE_PYTHON, or /usr/bin/python3). A third of the kills are of workers and their engines, in studies that
a coordinator keeps, and a third of engines that compute several runs in one batch, and of their programs. In the end the last checkpoint
and the features must have the bytes of a run that was never killed, no process may be left, and nothing half-written in the run's folder.
"""
import filecmp, os, random, shutil, signal, socket, subprocess, sys, tempfile, time

EPOCHS = 30
IN_A_STUDY = 3  # kills of a study at most: a run that fails five times is given up
SETTINGS = {"data.name": "glyphs", "data.classes": 4, "data.samples_per_class": 80, "data.test_samples_per_class": 30, "data.noise": 0.2, "data.pipeline": "plain",
            "data.augment": "crop_flip", "net.depth": 2, "net.width": 64, "run.epochs": EPOCHS, "run.checkpoint_every": 1, "run.batch": 64, "run.engine": "torch"}
CONFIG = "".join(f"{key} = {value!r}\n" for key, value in SETTINGS.items())
STUDY = "[study]\nname = \"killed\"\n[base]\n" + CONFIG
ENSEMBLE = STUDY + "[grid]\nrun.seed = [1, 2]\nloss.kind = [\"ce\", \"mse\"]\n"  # four runs of one batch


class Trial:
    def __init__(self, collapse, work, device):
        self.collapse, self.work, self.device = collapse, work, device
        # Engines are told by the folder that their package lies in: it is this trial's alone.
        self.temporary = work + "/temporary"
        os.mkdir(self.temporary)
        self.env = {"COLLAPSE_PYTHON": "/usr/bin/python3", **os.environ, "TMPDIR": self.temporary}
        for name, text in (("run", CONFIG), ("study", STUDY), ("ensemble", ENSEMBLE)):
            with open(f"{work}/{name}.toml", "w") as f:
                f.write(text)

    def start(self, lab):
        return self.call("log", "w", "--lab", f"{self.work}/{lab}", "train", self.work + "/run.toml", "--device", self.device)

    def start_study(self, lab):
        return self.call("log", "w", "--lab", f"{self.work}/{lab}", "study", "run", self.work + "/ensemble.toml", "--device", self.device, "--ensemble", "4", "--workers", "4")

    def coordinate(self, lab):
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            self.port = s.getsockname()[1]
        return self.call("log", "w", "--lab", f"{self.work}/{lab}", "study", "run", self.work + "/study.toml", "--workers", "0",
                         "--listen", f"127.0.0.1:{self.port}", "--silence", "2s")

    def join(self, lab):
        token = f"{self.work}/{lab}/queue.token"
        while not (os.path.exists(token) and os.path.getsize(token)):
            time.sleep(0.01)
        return self.call("worker.log", "a", "worker", "--connect", f"nats://127.0.0.1:{self.port}", "--token-file", token, "--slots", "1", "--name", "one",
                         "--scratch", self.work + "/scratch", "--checkpoint-every", "100ms", "--device", self.device)

    def call(self, log, mode, *args):
        with open(f"{self.work}/{log}", mode) as out:
            return subprocess.Popen([self.collapse, "--threads", "1", *args], stdout=subprocess.DEVNULL, stderr=out, env=self.env)

    def engines(self):
        found = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{pid}/environ", "rb") as env, open(f"/proc/{pid}/cmdline", "rb") as line:
                    if f"PYTHONPATH={self.temporary}".encode() in env.read() and b"collapse.engine" in line.read():
                        found.append(int(pid))
            except OSError:
                pass  # it has ended
        return found

    def none_left(self, seconds):
        end = time.time() + seconds
        while self.engines():
            if time.time() > end:
                sys.exit(f"engines {self.engines()} are left behind")
            time.sleep(0.05)

    def log(self):
        with open(self.work + "/log") as f:
            return f.read()

    def unbroken(self, lab, start=None):
        if (start or self.start)(lab).wait():
            sys.exit("a run without kills failed: " + self.log())
        self.none_left(15)


def main(collapse, kills, seed, device):
    random.seed(seed)
    print(f"seed {seed}")
    work = tempfile.mkdtemp(prefix="kill-engines-")
    try:
        trial = Trial(os.path.abspath(collapse), work, device)
        begin = time.time()
        trial.unbroken("whole")
        took = time.time() - begin
        print(f"unbroken: {took:.1f} s", flush=True)
        counts = dict.fromkeys(("engine", "program", "both", "worker", "its engine"), 0)
        of_a_program(trial, kills - 2 * (kills // 3), took, counts, trial.start)
        print(f"killed {counts}: the same bytes", flush=True)
        shutil.rmtree(work + "/whole")
        begin = time.time()
        trial.unbroken("whole", trial.start_study)
        of_a_program(trial, sum(counts.values()) + kills // 3, time.time() - begin, counts, trial.start_study)
        print(f"killed {counts}, the last {kills // 3} in ensembles: the same bytes", flush=True)
        shutil.rmtree(work + "/whole")
        trial.unbroken("whole")
        while counts["worker"] + counts["its engine"] < kills // 3:
            of_a_worker(trial, min(IN_A_STUDY, kills // 3 - counts["worker"] - counts["its engine"]), took, counts)
        print(f"ok: killed {counts}, and the same bytes")
    finally:
        shutil.rmtree(work, ignore_errors=True)


def of_a_program(trial, kills, took, counts, start):
    """Kills what start has started and its engine, alone or together, until there were so many kills. What is through begins anew, and so does
    a study whose runs failed: those that fail five times are given up."""
    number = 0
    while sum(counts.values()) < kills:
        victim, number = random.choice(("engine", "program", "both")), number + 1
        if start == trial.start_study and number % 4 == 0:
            victim = "program"
        through = attempt(trial, victim, random.uniform(0, took if number % 4 else took / 8), start)
        counts[victim] += not through
        if through:
            compare(trial)
            shutil.rmtree(trial.work + "/killed", ignore_errors=True)
    trial.unbroken("killed", start)
    compare(trial)
    shutil.rmtree(trial.work + "/killed")


def attempt(trial, victim, delay, start):
    """Runs on, kills the victim after a delay, and says whether the run was through before."""
    program = start("killed")
    end = time.time() + delay
    while time.time() < end and program.poll() is None:
        time.sleep(0.01)
    if program.poll() is not None:
        if program.returncode:
            sys.exit("a run that nobody killed failed: " + trial.log())
        return True
    engines = trial.engines()
    if victim != "program":
        kill(engines)
    if victim != "engine" or not engines:
        program.kill()
    status = program.wait(timeout=120)
    trial.none_left(15)
    return victim == "engine" and bool(engines) and status == 0  # it had answered all that was asked of it


def of_a_worker(trial, kills, took, counts):
    """Kills a study's only worker, or its engine alone, so many times at most; another worker on the same folder goes on."""
    coordinator, worker = trial.coordinate("killed"), trial.join("killed")
    try:
        for _ in range(kills):
            end = time.time() + random.uniform(0, took)
            while time.time() < end and coordinator.poll() is None:
                time.sleep(0.01)
            if coordinator.poll() is not None:
                break
            engines = trial.engines()
            if engines and random.random() < 0.4:
                kill(engines)
                counts["its engine"] += 1
                continue
            worker.kill()
            worker.wait()
            counts["worker"] += 1
            trial.none_left(15)
            worker = trial.join("killed")
        if coordinator.wait(timeout=60 + 20 * took):
            sys.exit("a study failed: " + trial.log())
        worker.terminate()
        worker.wait(timeout=60)
        trial.none_left(15)
        compare(trial)
        left = [path for path, _, names in os.walk(trial.work + "/scratch") if "/.engine" in path or any(n.endswith(".tmp") for n in names)]
        if left:
            sys.exit(f"the worker left behind {left}")
    finally:
        for process in (coordinator, worker):
            process.kill()
            process.wait()
    shutil.rmtree(trial.work + "/killed")
    shutil.rmtree(trial.work + "/scratch")


def kill(pids):
    for pid in pids:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass


def compare(trial):
    whole, killed = (f"{trial.work}/{lab}/runs" for lab in ("whole", "killed"))
    files = [f"ckpt/{EPOCHS}/{name}" for name in ("model.safetensors", "optim.safetensors", "state.json")] + ["features.npz"]
    for run in os.listdir(whole):
        for name in files:
            if not filecmp.cmp(f"{whole}/{run}/{name}", f"{killed}/{run}/{name}", shallow=False):
                sys.exit(f"{name} of {run} differs")
        left = [name for name in os.listdir(f"{killed}/{run}") if name.startswith(".") or name.endswith(".tmp")]
        if left:
            sys.exit(f"left behind: {left}")


if __name__ == "__main__":
    if not 2 <= len(sys.argv) <= 5:
        sys.exit(__doc__)
    _, binary, kills, seed, device, *_ = [*sys.argv, *["100", str(random.randrange(1 << 30)), "cpu"][len(sys.argv) - 2:]]
    main(binary, int(kills), int(seed), device)
