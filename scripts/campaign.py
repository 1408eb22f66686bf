#!/usr/bin/env python3
"""A campaign of faults (python3 alone): kills, stops, full disks, hostile requests, fuzzing, each trial compared with an undisturbed run.

    scripts/campaign.py FOLDER [--hours H] [--seed S] [--only KIND,…] [--binary COLLAPSE]
    scripts/campaign.py FOLDER --report

Needs go. Every trial appends a line to FOLDER/trials.jsonl: its kind, seed, counts, seconds, and whether all was as it must be. Called again with
the same folder it goes on with new seeds, so a campaign may be stopped at any time. Kinds are taken in turn, the one that has had least time
first. A trial that fails keeps its output in FOLDER/failed-N.log; the campaign goes on, and ends with status 1.
"""
import argparse, collections, hashlib, http.client, json, os, random, re, shutil, signal, socket, subprocess, sys, tempfile, threading, time

HOME = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
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
batch = 100
"""
NETS = {  # of the table of bits
    "mlp": RUN,
    "conv": RUN.replace('pipeline = "plain"', 'pipeline = "plain"\naugment = "crop_flip"').replace("depth = 2\nwidth = 64", 'kind = "resnet18-adapt"\nstem_width = 8').replace("epochs = 120", "epochs = 2").replace("samples_per_class = 200", "samples_per_class = 50"),
}


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


def start(c, work, lab, text=RUN, env=None, threads="2"):
    with open(f"{work}/run.toml", "w") as f:
        f.write(text)
    with open(f"{work}/log", "a") as log:
        return subprocess.Popen([c.binary, "--threads", threads, "--lab", f"{work}/{lab}", "train", f"{work}/run.toml"], stdout=log, stderr=log, env={**os.environ, **(env or {})})


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


def stopped(c, seed, work):
    """A run is suspended, for longer than others wait for its claim; another process asks for the same run meanwhile."""
    rng, stops = random.Random(seed), 0
    first = start(c, work, "lab")
    time.sleep(rng.uniform(0.1, 0.6))
    while first.poll() is None and stops < 3:
        first.send_signal(signal.SIGSTOP)
        second = start(c, work, "lab")
        time.sleep(rng.uniform(0.2, 2))
        first.send_signal(signal.SIGCONT)
        stops += 1
        second.wait(timeout=120)
        time.sleep(rng.uniform(0, 0.3))
    first.wait(timeout=120)
    must(start(c, work, "lab").wait(timeout=120) == 0, log_of(work))
    whole(c, work, "lab")
    return {"stops": stops}


def twice(c, seed, work):
    """Three processes compute the same run in one lab; two of them are killed at random moments."""
    rng = random.Random(seed)
    all_three = [start(c, work, "lab") for _ in range(3)]
    for victim in rng.sample(all_three, 2):
        time.sleep(rng.uniform(0, 0.4))
        victim.kill()
    for process in all_three:
        process.wait(timeout=120)
    must(start(c, work, "lab").wait(timeout=120) == 0, log_of(work))
    whole(c, work, "lab")
    return {"kills": 2, "processes": 3}


def full_disk(c, seed, work):
    """A lab on a file system with too little space, which is enlarged later; without the right to mount one, this kind is skipped by name."""
    size = random.Random(seed).randint(150, 1500)
    disk = work + "/disk"
    os.makedirs(disk)
    if subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}k", "none", disk], stderr=subprocess.DEVNULL).returncode:
        return {"skipped: no right to mount": 1}
    try:
        status = start(c, work, "disk/lab").wait(timeout=120)
        must(status != 0 or size > 1000, f"a run on a disk of {size} kB said that it was done")
        must(status == 0 or "no space" in log_of(work) or "disk is full" in log_of(work), "the error does not name the disk: " + log_of(work))
        subprocess.run(["mount", "-o", "remount,size=200m", disk], check=True)
        must(start(c, work, "disk/lab").wait(timeout=120) == 0, log_of(work))
        whole(c, work, "disk/lab")
    finally:
        subprocess.run(["umount", "-l", disk])
    return {"disks": 1}


def cut_files(c, seed, work):
    """Checkpoints are cut, lengthened or changed by a bit after a kill: the run says so or goes on from an older one, and ends in the same bits."""
    rng, cut = random.Random(seed), 0
    for _ in range(4):
        process = start(c, work, "lab")
        time.sleep(rng.uniform(0.1, 0.6))
        process.kill()
        process.wait()
        files = [os.path.join(path, n) for path, _, names in os.walk(work + "/lab/runs") for n in names if "ckpt" in path]
        if not files:
            continue
        path = rng.choice(sorted(files))
        with open(path, "r+b") as f:
            size, how = os.path.getsize(path), rng.choice(["cut", "grown", "bit"])
            if how == "cut":
                f.truncate(rng.randrange(size + 1))
            elif how == "grown":
                f.seek(0, 2)
                f.write(rng.randbytes(rng.randint(1, 5000)))
            elif size:
                at = rng.randrange(size)
                f.seek(at)
                old = f.read(1)[0]
                f.seek(at)
                f.write(bytes([old ^ 1 << rng.randrange(8)]))
        cut += 1
    status = start(c, work, "lab").wait(timeout=120)
    if status:  # both checkpoints were damaged: said, and begun anew by hand
        must("checkpoint" in log_of(work), log_of(work))
        shutil.rmtree(work + "/lab")
        must(start(c, work, "lab").wait(timeout=120) == 0, log_of(work))
    whole(c, work, "lab")
    return {"files": cut, "refused": int(status != 0)}


def bits(c, seed, work):
    """One seed on several numbers of threads, resumed or not, with each kernel of this machine: the same bits for each kernel."""
    counted, rng = 0, random.Random(seed)
    for net, text in NETS.items():
        for kernel in ("avx512", "avx2", "neon", "generic"):
            seen = {}
            for threads in ("1", "2", "4", "7"):
                env = {"COLLAPSE_KERNEL": kernel, "GOMAXPROCS": threads}
                lab = f"{net}-{kernel}-{threads}"
                process = start(c, work, lab, text, env, threads)
                if rng.random() < 0.5:
                    time.sleep(rng.uniform(0.1, 1))
                    process.kill()
                    process.wait()
                    process = start(c, work, lab, text, env, threads)
                if process.wait(timeout=600):
                    if f'COLLAPSE_KERNEL="{kernel}" cannot run on this machine' in log_of(work):
                        break
                    raise Failed(log_of(work))
                seen[threads] = digest(f"{work}/{lab}")
                counted += 1
            must(len(set(seen.values())) <= 1, f"{net}, {kernel}: {seen}")
    return {"runs": counted}


def requests(c, seed, work):
    """Hostile requests to a server on the loopback address: none succeeds, and none leaves anything open."""
    rng = random.Random(seed)
    start(c, work, "lab", RUN.replace("epochs = 120", "epochs = 3")).wait()
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    with open(work + "/served", "w") as log:
        server = subprocess.Popen([c.binary, "--lab", work + "/lab", "serve", "--listen", f"127.0.0.1:{port}"], stdout=log, stderr=log)
    try:
        for _ in range(200):
            if alive(port):
                break
            time.sleep(0.05)
        must(alive(port), "the server did not start: " + open(work + "/served").read())
        before, sent = descriptors(server.pid), 0
        for _ in range(500):
            sent += 1
            hostile(rng, port)
        slow = [socket.create_connection(("127.0.0.1", port)) for _ in range(50)]
        for s in slow:
            s.sendall(b"GET / HTTP/1.1\r\nHost: ")
        must(alive(port), "slow clients block the server")
        for s in slow:
            s.close()
        end = time.time() + 20
        while descriptors(server.pid) > before + 2 and time.time() < end:
            time.sleep(0.1)
        must(descriptors(server.pid) <= before + 2, f"{descriptors(server.pid)} descriptors, {before} before")
        must(server.poll() is None, "the server ended")
        return {"requests": sent, "slow clients": len(slow)}
    finally:
        server.terminate()
        server.wait(timeout=30)


def descriptors(pid):
    return len(os.listdir(f"/proc/{pid}/fd"))


def alive(port):
    try:
        h = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
        h.request("GET", "/")
        return h.getresponse().status == 200
    except OSError:
        return False


def hostile(rng, port):
    """One request that must not succeed: status 200 with something of the lab or the machine in it is a failure."""
    kind = rng.choice(["host", "origin", "path", "method", "header", "garbage", "body"])
    host, path, method, headers, body = f"127.0.0.1:{port}", "/", "GET", {}, None
    if kind == "host":
        host = rng.choice(["evil.example", "localhost.evil.example", "127.0.0.1.nip.io", "[::1]evil", ""])
    elif kind == "origin":
        method, path, headers = "POST", rng.choice(["/measure", "/study/remark", "/control"]), {"Origin": "http://evil.example", "Sec-Fetch-Site": "cross-site"}
    elif kind == "path":
        path = rng.choice(["/../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "/runs/..%2f..%2flab.sqlite", "/static/../../go.mod", "/run/%00", "//etc/passwd", "/run/" + "a" * 5000, "/run/<script>"])
    elif kind == "method":
        method, path = rng.choice(["PUT", "DELETE", "TRACE", "CONNECT", "PATCH", "FOO"]), rng.choice(["/", "/lab.sqlite", "/run/x"])
    elif kind == "header":
        headers = {"X-Long": "a" * rng.choice([100_000, 2_000_000])}
    elif kind == "body":
        method, path, body = "POST", "/measure", rng.randbytes(rng.randint(0, 100_000))
        headers = {"Content-Type": rng.choice(["multipart/form-data; boundary=x", "application/json", "text/plain"])}
    try:
        if kind == "garbage":
            with socket.create_connection(("127.0.0.1", port), timeout=5) as s:
                s.sendall(rng.randbytes(rng.randint(1, 3000)) + b"\r\n\r\n")
                must(b"200 OK" not in s.recv(1000), "garbage was answered with 200")
            return
        h = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
        h.putrequest(method, path, skip_host=True)
        h.putheader("Host", host)
        for name, value in headers.items():
            h.putheader(name, value)
        if body is not None:
            h.putheader("Content-Length", str(len(body)))
        h.endheaders(body)
        answer = h.getresponse()
        text = answer.read(2_000_000)
    except (OSError, http.client.HTTPException):
        return  # refused
    must(answer.status != 200, f"{kind}: {method} {path} with {headers.keys()} and host {host!r} was answered with 200")
    must(b"root:" not in text and b"SQLite" not in text[:100], f"{kind}: {path} gave a file away")


FUZZ = re.compile(r"^func (Fuzz\w*)", re.M)
FUZZED = 60  # seconds of a trial


def fuzz(c, seed, work):
    """One target for a minute; the seed decides which."""
    targets = []
    for path, _, names in os.walk(HOME):
        for name in names:
            if name.endswith("_test.go"):
                with open(os.path.join(path, name)) as f:
                    targets += [(os.path.relpath(path, HOME), t) for t in FUZZ.findall(f.read())]
    package, target = sorted(targets)[seed % len(targets)]
    shm = {"GOTMPDIR": tempfile.gettempdir(), "TMPDIR": "/dev/shm"} if os.access("/dev/shm", os.W_OK) else {}
    text = run(["go", "test", "./" + package, "-run", "^$", "-fuzz", f"^{target}$", "-fuzztime", f"{FUZZED}s", "-fuzzminimizetime", "10x", "-parallel", "1"], shm)
    done = re.findall(r"execs: (\d+)", text)
    must(done, text[-2000:])
    return {f"{package}.{target}": int(done[-1]), "executions": int(done[-1])}


KINDS = {
    "train": of_script("scripts/kill_resume.sh", "50"),
    "studies": of_script("scripts/kill_studies.sh", "15"),
    "engines": of_script("python3", "scripts/kill_engines.py", "BINARY", "9"),
    "copies": of_script("scripts/copy_labs.sh", "20"),
    "stopped": stopped, "twice": twice, "full disk": full_disk, "cut files": cut_files, "bits": bits, "requests": requests, "fuzz": fuzz,
}


class Campaign:
    def __init__(self, folder, binary):
        self.folder, self.binary = os.path.abspath(folder), os.path.abspath(binary) if binary else None
        os.makedirs(self.folder, exist_ok=True)
        self.path = self.folder + "/trials.jsonl"

    def trials(self):
        if not os.path.exists(self.path):
            return []
        with open(self.path) as f:
            return [json.loads(line) for line in f if line.endswith("\n")]

    def build(self):
        if self.binary is None:
            self.binary = self.folder + "/collapse"
            run(["go", "build", "-o", self.binary, "./cmd/collapse"], {"CGO_ENABLED": "0"})

    def one(self, kind, seed):
        began, row = time.time(), {"kind": kind, "seed": seed, "date": time.strftime("%Y-%m-%d")}
        with tempfile.TemporaryDirectory(prefix="campaign-") as work:
            try:
                row.update(ok=True, counts=KINDS[kind](self, seed, work))
            except (Failed, subprocess.SubprocessError, OSError, ValueError) as trouble:
                row.update(ok=False, counts={}, says=str(trouble)[-20000:])
                with open(f"{self.folder}/failed-{len(self.trials())}.log", "w") as f:
                    f.write(str(trouble))
        row["seconds"] = round(time.time() - began, 1)
        with open(self.path, "a") as f:
            f.write(json.dumps(row) + "\n")
        return row

    def report(self):
        """A table of what was done: trials, counts, hours, failures."""
        rows, fuzzed = collections.defaultdict(lambda: [0, collections.Counter(), 0.0, 0]), collections.Counter()
        for t in self.trials():
            row = rows[t["kind"]]
            row[0] += 1
            row[2] += t["seconds"] / 3600
            row[3] += not t["ok"]
            for what, n in t["counts"].items():
                (fuzzed if "." in what else row[1])[what] += n
        print("| kind | trials | counted | hours | failed |\n|---|---|---|---|---|")
        for kind in [k for k in KINDS if k in rows]:
            n, counts, hours, failed = rows[kind]
            print(f"| {kind} | {n} | {', '.join(f'{v:,} {k}' for k, v in sorted(counts.items())) or '–'} | {hours:.2f} | {failed} |")
        if fuzzed:
            print("\n| fuzz target | executions |\n|---|---|")
            for what, n in sorted(fuzzed.items()):
                print(f"| {what} | {n:,} |")
        return any(row[3] for row in rows.values())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("--hours", type=float, default=1)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default=",".join(KINDS))
    parser.add_argument("--binary")
    parser.add_argument("--report", action="store_true")
    a = parser.parse_args()
    kinds, c = a.only.split(","), Campaign(a.folder, a.binary)
    unknown = [k for k in kinds if k not in KINDS]
    if unknown:
        parser.error(f"no kind {', '.join(unknown)}; wanted some of {', '.join(KINDS)}")
    if not a.report:
        c.build()
        end = time.time() + 3600 * a.hours
        while time.time() < end:
            spent = collections.Counter()
            for t in c.trials():
                spent[t["kind"]] += t["seconds"]
            kind = min(kinds, key=lambda k: spent[k])
            seed = a.seed * 1_000_000 + sum(t["kind"] == kind for t in c.trials())
            row = c.one(kind, seed)
            print(f"{kind} {seed}: {'ok' if row['ok'] else 'FAILED'} {row['counts']} {row['seconds']} s", flush=True)
    sys.exit(c.report())


if __name__ == "__main__":
    main()
