"""Trials of what surrounds a run: little memory, a moved or read-only lab, a machine that sleeps, a killed control group, many uploads at a time."""
import collections, glob, hashlib, http.client, os, random, resource, signal, subprocess, threading, time

from .common import RUN, log_of, must, run, start, whole
from .server import serve


def little_memory(c, seed, work):
    """RLIMIT_AS of 0.3 to 3 GB: a run ends with an error or as an undisturbed one, and continues without the limit."""
    rng, ended = random.Random(seed), collections.Counter()
    for _ in range(4):
        most = int(300e6 * 10 ** rng.random())
        started = start(c, work, "lab", before=lambda: resource.setrlimit(resource.RLIMIT_AS, (most, most)))
        ended["ended early" if started.wait(timeout=300) else "done"] += 1
    must(start(c, work, "lab").wait(timeout=120) == 0, log_of(work))
    whole(c, work, "lab")
    return dict(ended)


def moved_lab(c, seed, work):
    """The lab is moved while a run computes: the run does not fail, and goes on at the new place."""
    rng, lab, moves = random.Random(seed), "lab", 0
    for n in range(3):
        process = start(c, work, lab)
        time.sleep(rng.uniform(0.1, 0.6))
        if os.path.exists(f"{work}/{lab}"):
            os.rename(f"{work}/{lab}", f"{work}/lab{n}")
            lab, moves = f"lab{n}", moves + 1
        process.wait(timeout=120)
        said = run([c.binary, "--lab", f"{work}/{lab}", "runs", "list"], check=False)
        must("failed" not in said, "a move is taken for a failure:\n" + said + log_of(work))
    process = start(c, work, lab)
    must(process.wait(timeout=120) == 0, log_of(work))
    whole(c, work, lab)
    return {"moves": moves}


def asleep(c, seed, work):
    """A process sleeps for longer than its claim lasts, as on a suspended machine: another one takes the run, and the late one writes nothing."""
    first = start(c, work, "lab")
    while first.poll() is None and not glob.glob(work + "/lab/runs/*/ckpt/*/state.json"):
        time.sleep(0.01)
    time.sleep(random.Random(seed).uniform(0, 0.2))
    first.send_signal(signal.SIGSTOP)
    began, asleep = time.time(), first.poll() is None
    try:
        end = time.time() + 120
        while start(c, work, "lab").wait(timeout=300) and time.time() < end:
            time.sleep(3)
    finally:
        first.send_signal(signal.SIGCONT)
    slept = time.time() - began
    first.wait(timeout=120)
    must(start(c, work, "lab").wait(timeout=120) == 0, log_of(work))
    whole(c, work, "lab")
    return {"sleeps": int(asleep), "of more than a minute": int(slept > 60)}


def contents(folder):
    """One fingerprint of all files of a folder."""
    out = hashlib.sha256()
    for path, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            with open(os.path.join(path, name), "rb") as f:
                out.update(f"{path}/{name} {hashlib.sha256(f.read()).hexdigest()}\n".encode())
    return out.hexdigest()


def read_only(c, seed, work):
    """A lab on a disk that was mounted read-only: what reads works, what writes says so, and no byte changes."""
    disk = work + "/disk"
    os.makedirs(disk)
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=200m", "none", disk], stderr=subprocess.DEVNULL).returncode:
        return {"skipped: no right to mount": 1}
    try:
        process = start(c, work, "disk/lab")
        if random.Random(seed).random() < 0.5:
            process.wait(timeout=120)
        else:  # and its last writer was killed
            time.sleep(0.5)
            process.kill()
            process.wait()
        subprocess.run(["mount", "-o", "remount,ro", disk], check=True)
        before, counts = contents(disk), collections.Counter()
        for command in (["runs", "list"], ["runs", "check"], ["export", "--out", work + "/t.csv"], ["report", "--out", work + "/page"], ["lab", "check"], ["lab", "copy", work + "/copy"],
                        ["train", work + "/run.toml", "--again"], ["runs", "gc"]):
            p = subprocess.run([c.binary, "--lab", disk + "/lab", *command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120)
            counts["refused" if p.returncode else "read"] += 1
            must("panic" not in p.stdout and "goroutine " not in p.stdout, p.stdout[-3000:])
            if command[0] == "train":
                must(p.returncode and disk in p.stdout, f"{command} is not refused by name: {p.returncode}, {p.stdout[-500:]}")
        must(contents(disk) == before, "a read-only lab has changed")
        return dict(counts)
    finally:
        subprocess.run(["umount", "-l", disk])


def killed_group(c, seed, work):
    """All processes of a control group are killed at once; without control groups of version 2 this kind is skipped by name."""
    rng, kills, group = random.Random(seed), 0, f"/sys/fs/cgroup/collapse-{os.getpid()}"
    if not os.path.exists("/sys/fs/cgroup/cgroup.controllers"):
        return {"skipped: no control groups of version 2": 1}
    try:
        os.mkdir(group)
    except OSError:
        return {"skipped: no right to make a control group": 1}
    try:
        for _ in range(5):
            processes = [start(c, work, "lab") for _ in range(2)]
            for p in processes:
                with open(group + "/cgroup.procs", "w") as f:
                    f.write(str(p.pid))
            time.sleep(rng.uniform(0.05, 0.5))
            with open(group + "/cgroup.kill", "w") as f:
                f.write("1")
            kills += sum(p.wait(timeout=60) != 0 for p in processes)
    finally:
        os.rmdir(group)
    must(start(c, work, "lab").wait(timeout=120) == 0, log_of(work))
    whole(c, work, "lab")
    return {"kills": kills}


def upload(port, body, kind):
    """Posts files, and returns the status, the seconds after which to try again, and the place of the answer."""
    link = http.client.HTTPConnection("127.0.0.1", port, timeout=300)
    try:
        link.request("POST", "/measure", body, {"Content-Type": kind})
        answer = link.getresponse()
        answer.read()
        return answer.status, answer.getheader("Retry-After"), answer.getheader("Location")
    finally:
        link.close()


def uploads(c, seed, work):
    """Forty uploads at a time, some of which break off: each whole one is measured as it is alone, or told to come again."""
    rng, counts = random.Random(seed), collections.Counter()
    start(c, work, "lab", RUN.replace("epochs = 120", "epochs = 3")).wait()
    server, port = serve(c, work, "served")
    try:
        link = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        link.request("GET", "/measure/example.npz")
        example = link.getresponse().read()
        body = b'--x\r\nContent-Disposition: form-data; name="file"; filename="a.npz"\r\n\r\n' + example + b"\r\n--x--\r\n"
        kind = "multipart/form-data; boundary=x"
        alone = upload(port, body, kind)[0]
        must(alone in (200, 303), f"one upload alone: {alone}")
        wrong, lock = [], threading.Lock()

        def one(cut):
            try:
                status, again, _ = upload(port, body[:cut] if cut else body, kind)
            except OSError as trouble:
                status, again = str(trouble), None
            with lock:
                counts["broken off" if cut else "come again" if status == 503 else "measured"] += 1
                if cut and status in (200, 303) or not cut and status != alone and not (status == 503 and again):
                    wrong.append((cut, status))
        threads = [threading.Thread(target=one, args=(rng.randrange(1, len(body) - 10) if rng.random() < 0.3 else 0,)) for _ in range(40)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        must(not wrong, f"answers: {wrong}")
        must(upload(port, body, kind)[0] == alone, "no upload is measured afterwards")
        must(server.poll() is None, "the server ended")
        return dict(counts)
    finally:
        server.kill()
        server.wait()
