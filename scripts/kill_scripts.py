#!/usr/bin/env python3
"""Kills, edits, deletions and moves beneath studies of somebody's own script (python3 alone).

    scripts/kill_scripts.py COLLAPSE_BINARY KILLS EDITS [SEED]

A trial is one study of four runs of TRAINER in a new lab, computed here, by a worker elsewhere, or by both. In the first trials the program,
a script, a worker or all are killed with kill -9 at random moments, until there were KILLS kills; the last start of each study is left alone.
In EDITS more, the files of the code are changed, deleted or moved while the study runs, some of which are killed and resumed as well. Every
stored value and checkpoint must be that of a study to which nothing happened. The seed decides what is done and when.
"""
import contextlib, os, random, shutil, signal, sqlite3, subprocess, sys, tempfile, time

import kill_studies
from kill_studies import Machines, Trouble

FILE = """[study]
name = "own"
seeds = 2
[trainer]
command = ["{python}", "train.py"]
epochs = 20
[grid]
lr = [0.1, 0.3]
"""
# The trainer imports a module when it begins and one when it is nearly done; every number follows from the seed, the settings and all of the code.
CODE = {
    "train.py": """import json, random, time
import collapse, model

SCALE = 1.5  # a constant
run = collapse.run()
weights = [random.Random(run.seed).random() for _ in range(5)]
if run.state:
    with open(run.state + "/weights.json") as f:
        weights = json.load(f)
for epoch in run.epochs():
    noise = random.Random("%d/%d" % (run.seed, epoch))
    weights = [model.step(w, SCALE * noise.random(), run.setting("lr")) for w in weights]
    time.sleep(0.03)
    if epoch % EVERY == 0:
        with run.checkpoint(epoch) as folder, open(folder + "/weights.json", "w") as f:
            json.dump(weights, f)
    values = {"train/loss": sum(w * w for w in weights), "weight": weights[0]}
    if epoch >= 18:
        import score
        values["val/f1"] = score.f1(weights)
    run.report(epoch, values)
run.done()
""",
    "model.py": "RATE = 0.5\n\ndef step(w, noise, lr):\n    return w - lr * RATE * (w - noise)\n",
    "score.py": "THRESHOLD = 0.6\n\ndef f1(weights):\n    return sum(w for w in weights if w > THRESHOLD) / len(weights)\n",
}
EVERY = {"steps": 1, "strides": 5}  # studies by how often they save
HERE = os.path.dirname(os.path.abspath(__file__))


class Scripts(Machines):
    """The processes of a study of scripts, which start below the folder of its code."""

    def __init__(self, collapse, folder, name, blobs, port):
        super().__init__(collapse, folder, name, blobs, port)
        self.code = folder + "/code"
        write(self.code, name)
        self.env = environment(folder)

    def start(self, log, *args):
        with open(f"{self.folder}/{log}.log", "a") as out:
            return subprocess.Popen([self.collapse, "--threads", "2", *args], stdout=out, stderr=out, env=self.env, start_new_session=True)

    def coordinate(self, slots, listen):
        """By its file until the lab knows the study, later by its name: the file may have changed or gone."""
        ports = ["--listen", f"127.0.0.1:{self.port}", "--silence", "1s", *self.blobs] if listen else []
        os.makedirs(self.code, exist_ok=True)  # --allow-scripts wants it
        what = ["resume", "own", "--allow-scripts", self.code] if self.known() else ["run", self.code + "/own.toml"]
        self.coordinator = self.start("coordinator", "--lab", self.lab, "study", *what, "--workers", str(slots), *ports)

    def known(self):
        if not os.path.exists(self.lab + "/lab.sqlite"):
            return False
        with contextlib.closing(sqlite3.connect(f"file:{self.lab}/lab.sqlite?mode=ro", uri=True, timeout=30)) as db:
            return db.execute("SELECT count(*) FROM study").fetchone()[0] == 1

    def scripts(self):
        """The processes of the scripts: children of ours."""
        ours, found = {p.pid for p in self.alive()}, []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{pid}/stat") as f:
                    parent = int(f.read().rsplit(")", 1)[1].split()[1])
                with open(f"/proc/{pid}/cmdline", "rb") as f:
                    if parent in ours and b"train.py" in f.read():
                        found.append(int(pid))
            except (OSError, ValueError):  # it has ended
                pass
        return sorted(found)


def environment(folder):
    """With a cache of the trial's own, and the package of this tree."""
    return dict(os.environ, XDG_CACHE_HOME=folder + "/cache", PYTHONPATH=os.path.join(HERE, "..", "python"))


def write(folder, name):
    os.makedirs(folder)
    for file, text in dict(CODE, **{"own.toml": FILE.format(python=sys.executable)}).items():
        with open(f"{folder}/{file}", "w") as f:
            f.write(text.replace("EVERY", str(EVERY[name])))


def work(m, machine):
    """A worker that may start scripts of the same folder."""
    blobs, m.blobs = m.blobs, [*m.blobs, "--allow-scripts", m.code]
    os.makedirs(m.code, exist_ok=True)
    m.work(machine)
    m.blobs = blobs


def begin(m, rng):
    slots = rng.choice([0, 1, 2, 2])
    elsewhere = slots == 0 or rng.random() < 0.4
    if m.coordinator is None or m.ended():
        m.coordinate(slots, listen=elsewhere or bool(m.workers))
    if elsewhere:
        work(m, rng.choice(["one", "two"]))
    return f"{slots} here, {'one' if elsewhere else 'nobody'} elsewhere"


def kill(m, rng, spared):
    """Kills somebody and says whom. The lab gives a run up whose script is killed five times: some are spared."""
    whom = rng.choice(["program", "worker", "script", "script", "all"])
    scripts = m.scripts() if whom == "script" and not spared else []
    if scripts:
        try:
            os.kill(rng.choice(scripts), signal.SIGKILL)
        except ProcessLookupError:
            return None
        return "script"
    workers = [p for p in m.workers.values() if p.poll() is None]
    victims = {"worker": workers[:1] or [m.coordinator], "all": m.alive()}.get(whom, [m.coordinator])
    m.kill(victims)
    return "all" if whom == "all" else "worker" if workers and whom == "worker" else "program"


def change(m, rng):
    """Does to the code what people do to it, and says what."""
    def edit(file, old, new):
        with open(f"{m.code}/{file}") as f:
            text = f.read()
        with open(f"{m.code}/{file}", "w") as f:
            f.write(text.replace(old, new))

    what = rng.choice(["comment", "constant", "import", "late import", "script deleted", "module deleted", "late module deleted", "moved"])
    try:
        {"comment": lambda: edit("train.py", "# a constant", "# another word"), "constant": lambda: edit("train.py", "1.5", "2.5"),
         "import": lambda: edit("model.py", "0.5", "0.7"), "late import": lambda: edit("score.py", "0.6", "0.1"),
         "script deleted": lambda: os.remove(m.code + "/train.py"), "module deleted": lambda: os.remove(m.code + "/model.py"),
         "late module deleted": lambda: os.remove(m.code + "/score.py"), "moved": lambda: os.rename(m.code, m.code + "-moved")}[what]()
    except FileNotFoundError:  # deleted or moved before
        return what + " (gone before)"
    return what


def disturb(m, rng, kills, edits):
    """One study. Returns how many were killed and what was done."""
    killed, done, shot = 0, [], 0
    while killed < kills or edits:
        done.append(begin(m, rng))
        time.sleep(rng.uniform(0.05, 1.5) if killed or edits == 0 else rng.expovariate(3))
        if m.ended():
            break
        if edits:
            while not m.known() and not m.ended():
                time.sleep(0.01)
            for _ in range(edits):
                done.append(change(m, rng))
                time.sleep(rng.uniform(0, 0.4))
            edits = 0
        if killed < kills:
            whom = kill(m, rng, spared=shot >= 3)
            killed, shot = killed + (whom is not None), shot + (whom == "script")
            done.append(f"kill {whom}")
    return killed, done


def settle(m, rng):
    """Lets the study end."""
    began = time.monotonic()
    if m.ended() and m.coordinator.returncode < 0:  # killed
        m.coordinate(rng.choice([1, 2]), listen=bool(m.workers))
    if m.workers and not any(p.poll() is None for p in m.workers.values()):
        work(m, "two")
    while not m.ended():
        if time.monotonic() - began > kill_studies.PATIENCE:
            raise Trouble(f"the study has not ended after {kill_studies.PATIENCE} s without kills")
        time.sleep(0.02)
    if m.coordinator.returncode != 0:
        raise Trouble(f"the program ended with {m.coordinator.returncode}")


def trial(number, collapse, work, kills, edits, rng):
    name, folder = rng.choice(sorted(EVERY)), f"{work}/trial"
    m = Scripts(collapse, folder, name, rng.random() < 0.3, kill_studies.free_port())
    killed, done = 0, []
    try:
        killed, done = disturb(m, rng, kills, edits)
        settle(m, rng)
    except Trouble as trouble:
        kill_studies.fail(number, folder, done, [str(trouble)])
    finally:
        m.kill(m.alive())
    problems = [p for p in kill_studies.compare(folder + "/lab", f"{work}/whole-{name}/lab") if "script.log" not in p]
    if problems:
        kill_studies.fail(number, folder, done, problems)
    print(f"trial {number} ({name}) [{'; '.join(done)}], {kill_studies.attempts(folder + '/lab')} attempts: as undisturbed", flush=True)
    shutil.rmtree(folder)
    return killed


def main():
    collapse, kills, edits = os.path.abspath(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    seed = int(sys.argv[4]) if len(sys.argv) > 4 else random.randrange(100_000)
    print(f"seed {seed}", flush=True)
    work = tempfile.mkdtemp()
    try:
        for name in EVERY:
            whole = f"{work}/whole-{name}"
            write(whole, name)
            subprocess.run([collapse, "--lab", whole + "/lab", "study", "run", whole + "/own.toml"], check=True, env=environment(whole), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        number = killed = 0
        while killed < kills:
            number += 1
            rng = random.Random(f"{seed}/{number}")
            killed += trial(number, collapse, work, min(kills - killed, rng.randint(3, 6)), 0, rng)
        for _ in range(edits):
            number += 1
            rng = random.Random(f"{seed}/{number}")
            trial(number, collapse, work, rng.choice([0, 0, 1]), rng.choice([1, 1, 2]), rng)
        print(f"ok: {killed} kills, {edits} studies whose code was changed, deleted or moved: the same values and checkpoints")
    finally:
        shutil.rmtree(work, ignore_errors=True)


if __name__ == "__main__":
    main()
