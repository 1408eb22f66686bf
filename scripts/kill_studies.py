#!/usr/bin/env python3
"""Random kills of studies (python3 alone): scripts/kill_studies.sh says what for.

    scripts/kill_studies.py COLLAPSE_BINARY FOLDER KILLS SEED

A trial is one study in a new lab. In each of its phases a coordinator with local slots, or with an open port, or with both, and up to two
workers compute, the workers each on one of three "machines" (scratch folders); after a random time one of the processes, or all, are killed.
Workers that are not killed outlive their coordinator. The last phase is left alone. The seed decides trials, phases, delays and victims;
what a victim is doing then is the machine's part.
"""
import os, random, shutil, signal, socket, sqlite3, struct, subprocess, sys, time

STUDIES = {  # name: settings, of runs of about a second
    "steps": "run.epochs = 150\nrun.checkpoint_every = 1\nrun.measure_every = 1\n",
    "strides": "run.epochs = 240\nrun.checkpoint_every = 7\nrun.measure_every = 4\nrun.save_features = \"every=60\"\nrun.keep = \"every=70\"\n",
}
FILE = """[study]
name = "{name}"
seeds = 2
[base]
data.name = "glyphs"
data.classes = 3
data.samples_per_class = 60
data.test_samples_per_class = 20
data.pipeline = "plain"
net.depth = 2
net.width = 24
run.batch = 60
{settings}[grid]
data.noise = [0, 0.2]
"""
PATIENCE = 240  # seconds that a phase without kills may take


class Trouble(Exception):
    pass


class Machines:
    """The processes of one trial."""

    def __init__(self, collapse, folder, name, blobs, port):
        self.collapse, self.folder, self.name, self.port = collapse, folder, name, port
        self.lab, self.blobs = folder + "/lab", ["--blobs", folder + "/blobs"] if blobs else []
        self.coordinator, self.workers = None, {}
        if blobs:
            os.makedirs(folder + "/blobs")

    def start(self, log, *args):
        with open(f"{self.folder}/{log}.log", "a") as out:
            return subprocess.Popen([self.collapse, "--threads", "2", *args], stdout=out, stderr=out, start_new_session=True)

    def coordinate(self, slots, listen):
        ports = ["--listen", f"127.0.0.1:{self.port}", "--silence", "1s", *self.blobs] if listen else []
        self.coordinator = self.start("coordinator", "--lab", self.lab, "study", "run", f"{self.folder}/{self.name}.toml", "--workers", str(slots), *ports)

    def work(self, machine):
        if machine in self.workers and self.workers[machine].poll() is None:
            return
        token = self.lab + "/queue.token"
        for _ in range(1000):
            if os.path.exists(token) and os.path.getsize(token) > 0:
                break
            time.sleep(0.01)
        self.workers[machine] = self.start(machine, "worker", "--connect", f"nats://127.0.0.1:{self.port}", "--token-file", token, "--slots", "1",
                                           "--scratch", f"{self.folder}/{machine}", "--checkpoint-every", "100ms", *self.blobs)

    def kill(self, victims):
        for process in victims:
            process.send_signal(signal.SIGKILL)
        for process in victims:
            process.wait()

    def alive(self):
        return [p for p in [self.coordinator, *self.workers.values()] if p is not None and p.poll() is None]

    def ended(self):
        return self.coordinator.poll() is not None


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def phase(m, rng):
    """Starts what a phase has and says what it is."""
    slots = rng.choice([0, 1, 1, 2])
    machines = rng.sample(["one", "two", "three"], rng.choice([1, 2])) if slots == 0 or rng.random() < 0.6 else []
    if m.coordinator is None or m.ended():
        m.coordinate(slots, listen=slots == 0 or bool(machines) or len(m.workers) > 0)
    for machine in machines:
        m.work(machine)
    return f"{slots} here, {'+'.join(machines) or 'nobody'} elsewhere"


def trial(number, collapse, folder, kills, rng):
    """One study with so many kills, or fewer if it ends before. Returns their number and the study's name."""
    name = rng.choice(sorted(STUDIES))
    blobs = rng.random() < 0.5
    os.makedirs(folder)
    with open(f"{folder}/{name}.toml", "w") as f:
        f.write(FILE.format(name=name, settings=STUDIES[name]))
    m, killed, told = Machines(collapse, folder, name, blobs, free_port()), 0, []
    try:
        while killed < kills:
            what = phase(m, rng)
            time.sleep(rng.uniform(0.1, 1.6))
            if m.ended():
                if m.coordinator.returncode != 0:
                    raise Trouble(f"the coordinator ended with {m.coordinator.returncode}")
                break
            whom = rng.choice(["coordinator", "worker", "all", "all"])
            workers = [p for p in m.workers.values() if p.poll() is None]
            victims = {"coordinator": [m.coordinator], "worker": workers[:1] or [m.coordinator], "all": m.alive()}[whom]
            m.kill(victims)
            killed += 1
            told.append(f"{what}: {whom}")
        if m.ended():
            m.coordinate(rng.choice([0, 1]), listen=True)
        m.work("two")
        began = time.monotonic()
        while not m.ended():
            if time.monotonic() - began > PATIENCE:
                raise Trouble(f"the study has not ended after {PATIENCE} s without kills")
            time.sleep(0.02)
        if m.coordinator.returncode != 0:
            raise Trouble(f"the coordinator ended with {m.coordinator.returncode}")
    except Trouble as trouble:
        fail(number, folder, told, [str(trouble)])
    finally:
        m.kill(m.alive())
    return killed, name, blobs, told


def fail(number, folder, told, problems):
    print(f"trial {number} FAILED: " + "; ".join(told))
    for line in problems[:30]:
        print("   ", line)
    for name in sorted(os.listdir(folder)):
        if name.endswith(".log"):
            with open(f"{folder}/{name}") as f:
                print(f"--- {name}\n" + "".join(f.readlines()[-40:]))
    keep = f"/tmp/kill_studies-{os.getpid()}"
    shutil.copytree(folder, keep, symlinks=True)
    print(f"the trial's folder is kept in {keep}")
    sys.exit(1)


def rows(lab):
    """The bits of all values, of those that tell the time only that they are there: {run: {(series, split, layer, measure, step): bits}}."""
    db = sqlite3.connect(f"file:{lab}/lab.sqlite?mode=ro", uri=True, timeout=30)
    try:
        out = {h: {"status": s, "last_epoch": e} for h, s, e in db.execute("SELECT hash, status, last_epoch FROM run")}
        for run, series, split, layer, measure, step, value, missing in db.execute("SELECT run, series, split, layer, measure, step, value, missing FROM tidy"):
            if series == "report":
                out[run][series, split, layer, measure, step] = "seconds"
            elif measure not in ("images_per_s", "core_seconds"):
                out[run][series, split, layer, measure, step] = missing if value is None else struct.pack("<d", value)
        return out
    finally:
        db.close()


def files(folder):
    """The bytes of all files below a folder, by path."""
    out = {}
    for home, _, names in os.walk(folder):
        for name in names:
            with open(os.path.join(home, name), "rb") as f:
                out[os.path.relpath(os.path.join(home, name), folder)] = f.read()
    return out


def attempts(lab):
    """How often runs were begun in all."""
    db = sqlite3.connect(f"file:{lab}/lab.sqlite?mode=ro", uri=True, timeout=30)
    try:
        return db.execute("SELECT count(*) FROM attempt").fetchone()[0]
    finally:
        db.close()


def checkpoints(run):
    return {int(path.split("/")[1]) for path in run if path.startswith("ckpt/") and path.split("/")[1].isdigit()}


def compare(lab, whole):
    """What is not in a lab as it is in one that nothing happened to."""
    problems = []
    got, want = rows(lab), rows(whole)
    if got.keys() != want.keys():
        problems.append(f"runs {sorted(got)}, wanted {sorted(want)}")
    for run in got.keys() & want.keys():
        gone, new = want[run].keys() - got[run].keys(), got[run].keys() - want[run].keys()
        other = [k for k in want[run].keys() & got[run].keys() if want[run][k] != got[run][k]]
        for what, keys in (("missing", gone), ("more", new), ("different", other)):
            if keys:
                epochs = sorted({k[4] for k in keys if isinstance(k, tuple)})
                problems.append(f"run {run[:12]}: {len(keys)} rows {what}, epochs {epochs[:5]}…{epochs[-3:]}, such as {sorted(map(str, keys))[0]}")
        problems += folder_problems(f"{lab}/runs/{run}", f"{whole}/runs/{run}", run)
    if sorted(os.listdir(lab + "/runs")) != sorted(want):
        problems.append(f"folders {sorted(os.listdir(lab + '/runs'))}")
    return problems


def folder_problems(got, want, run):
    """A run that ended on a worker elsewhere leaves its newest checkpoint and those that run.keep names, one that ended here the one before, too."""
    a, b = files(got), files(want)
    last = sorted(checkpoints(b))
    if checkpoints(a) not in (set(last), set(last) - set(last[-2:-1])):
        return [f"run {run[:12]}: checkpoints {sorted(checkpoints(a))}, wanted {last}"]
    b = {p: text for p, text in b.items() if not p.startswith("ckpt/") or int(p.split("/")[1]) in checkpoints(a)}
    out = [f"run {run[:12]}: {p} is missing" for p in sorted(b.keys() - a.keys())] + [f"run {run[:12]}: {p} is left over" for p in sorted(a.keys() - b.keys())]
    return out + [f"run {run[:12]}: {p} differs" for p in sorted(a.keys() & b.keys()) if a[p] != b[p]]


def main():
    collapse, work, kills, seed = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
    print(f"seed {seed}")
    for name, settings in STUDIES.items():
        with open(f"{work}/{name}.toml", "w") as f:
            f.write(FILE.format(name=name, settings=settings))
        subprocess.run([collapse, "--lab", f"{work}/whole-{name}", "study", "run", f"{work}/{name}.toml"], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    done, number, began = 0, 0, time.monotonic()
    while done < kills:
        number += 1
        rng = random.Random(f"{seed}/{number}")
        folder = f"{work}/trial"
        killed, name, blobs, told = trial(number, collapse, folder, min(kills - done, rng.randint(3, 7)), rng)
        problems = compare(folder + "/lab", f"{work}/whole-{name}")
        if blobs:
            problems += [f"left in the folder of blobs: {path}" for path in sorted(os.listdir(folder + "/blobs")) + sorted(files(folder + "/blobs"))]
        if problems:
            fail(number, folder, told, problems)
        done += killed
        print(f"trial {number} ({name}{', --blobs' if blobs else ''}): {killed} kills [{'; '.join(told)}], {attempts(folder + '/lab')} attempts: "
              f"as undisturbed ({done} kills, {time.monotonic() - began:.0f} s)", flush=True)
        shutil.rmtree(folder)
    print(f"ok: {done} kills, and the same rows, checkpoints and folders")


if __name__ == "__main__":
    main()
