"""Trials of studies on networks: a cable that is pulled, a cluster of NATS whose servers die, workers that lie.

A study's lab ends as one to which nothing happened: kill_studies.py compares rows, checkpoints and folders.
"""
import json, os, random, re, shutil, socket, subprocess, sys, tempfile, time

from .common import HOME, must, run

sys.path.insert(0, HOME + "/scripts")
import kill_studies  # noqa: E402

PATIENCE = 240  # seconds that a study may take


class Study:
    """The processes of a study in a trial's folder."""

    def __init__(self, c, work):
        self.binary, self.work, self.processes, self.logs = c.binary, work, [], []
        with open(work + "/steps.toml", "w") as f:
            f.write(kill_studies.FILE.format(name="steps", settings=kill_studies.STUDIES["steps"]))

    def start(self, name, *args, before=()):
        with open(f"{self.work}/{name}.log", "a") as log:
            p = subprocess.Popen([*before, self.binary, "--threads", "1", *args], stdout=log, stderr=log, start_new_session=True)
        self.processes.append(p)
        return p

    def coordinator(self, *args, before=()):
        return self.start("coordinator", "--lab", self.work + "/lab", "study", "run", self.work + "/steps.toml", "--workers", "0", "--silence", "1s", *args, before=before)

    def worker(self, name, url, *args, before=()):
        return self.start(name, "worker", "--connect", url, "--slots", "1", "--scratch", f"{self.work}/{name}", "--checkpoint-every", "100ms", *args, before=before)

    def token(self):
        path = self.work + "/lab/queue.token"
        for _ in range(2000):
            if os.path.exists(path) and os.path.getsize(path):
                return path
            time.sleep(0.01)
        must(False, "no token: " + self.told())

    def told(self):
        return "".join(f"--- {name}\n{open(os.path.join(self.work, name), errors='replace').read()[-3000:]}" for name in sorted(os.listdir(self.work)) if name.endswith(".log"))

    def ends(self, coordinator):
        """The study ends well, as an undisturbed one."""
        try:
            status = coordinator.wait(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            status = "nothing yet"
        must(status == 0, f"the coordinator ended with {status}\n{self.told()}")
        with tempfile.TemporaryDirectory() as other:
            run([self.binary, "--lab", other + "/whole", "study", "run", self.work + "/steps.toml"])
            problems = kill_studies.compare(self.work + "/lab", other + "/whole")
        must(not problems, "\n".join(problems[:20]) + "\n" + self.told())

    def kill(self):
        for p in self.processes:
            if p.poll() is None:
                p.kill()
            p.wait()


def cut_network(c, seed, work):
    """Coordinator and workers in network namespaces of their own; the link between them goes down at random, for up to four seconds. Without the right to
    make namespaces this kind is skipped by name."""
    rng, tag = random.Random(seed), f"cp{os.getpid() % 10000}"
    here, there = tag + "a", tag + "b"
    if subprocess.run(["ip", "netns", "add", here], stderr=subprocess.DEVNULL).returncode:
        return {"skipped: no right to make namespaces": 1}
    study, cuts, kills = Study(c, work), 0, 0
    try:
        for line in (f"netns add {there}", f"link add {tag}v netns {here} type veth peer name {tag}w netns {there}", f"-n {here} addr add 10.231.7.1/24 dev {tag}v",
                     f"-n {there} addr add 10.231.7.2/24 dev {tag}w", f"-n {here} link set {tag}v up", f"-n {there} link set {tag}w up"):
            subprocess.run(["ip", *line.split()], check=True)
        inside = lambda space: ("ip", "netns", "exec", space)
        coordinator = study.coordinator("--listen", "10.231.7.1:4333", before=inside(here))
        join = lambda name: study.worker(name, "nats://10.231.7.1:4333", "--token-file", study.token(), before=inside(there))
        workers = {name: join(name) for name in ("one", "two")}
        for _ in range(6):
            time.sleep(rng.uniform(0.1, 1.5))
            if coordinator.poll() is not None:
                break
            subprocess.run(["ip", "-n", there, "link", "set", tag + "w", "down"], check=True)
            cuts += 1
            time.sleep(rng.choice([rng.uniform(0.05, 0.5), rng.uniform(1, 4)]))
            if rng.random() < 0.3:
                name = rng.choice(sorted(workers))
                workers[name].kill()
                workers[name] = join(name)
                kills += 1
            subprocess.run(["ip", "-n", there, "link", "set", tag + "w", "up"], check=True)
        study.ends(coordinator)
    finally:
        study.kill()
        for space in (here, there):
            subprocess.run(["ip", "netns", "del", space], stderr=subprocess.DEVNULL)
    return {"cuts": cuts, "kills": kills}


def free_ports(count):
    held = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [s.getsockname()[1] for s in held]
    for s in held:
        s.close()
    return ports


def three_servers(c, seed, work):
    """A study on a cluster of three NATS servers, which are killed and started again, one at a time."""
    rng, server = random.Random(seed), c.folder + "/nats-server"
    if not os.path.exists(server):
        run(["go", "build", "-o", server, "github.com/nats-io/nats-server/v2"], {"CGO_ENABLED": "0"})
    ports = free_ports(6)
    routes = ",".join(f"nats://127.0.0.1:{p}" for p in ports[3:])

    def serve(i):
        with open(f"{work}/server{i}.log", "a") as log:
            return subprocess.Popen([server, "-n", f"s{i}", "-a", "127.0.0.1", "-p", str(ports[i]), "-js", "-sd", f"{work}/store{i}", "-cluster_name", "campaign",
                                     "-cluster", f"nats://127.0.0.1:{ports[3 + i]}", "-routes", routes], stdout=log, stderr=log)

    servers, study, kills = [serve(i) for i in range(3)], Study(c, work), 0
    urls = ",".join(f"nats://127.0.0.1:{p}" for p in ports[:3])
    try:
        time.sleep(5)  # until they have a leader
        coordinator = study.coordinator("--nats", urls)
        for name in ("one", "two"):
            study.worker(name, urls)
        while kills < 3 and coordinator.poll() is None:
            time.sleep(rng.uniform(0.5, 3))
            i = rng.randrange(3)
            servers[i].kill()
            servers[i].wait()
            kills += 1
            time.sleep(rng.uniform(0.5, 4))
            servers[i] = serve(i)
            time.sleep(6)  # until it has caught up: only one may fail
        study.ends(coordinator)
    finally:
        study.kill()
        for p in servers:
            p.kill()
            p.wait()
    return {"kills of servers": kills}


class Liar:
    """A client that speaks NATS's protocol with a token, and says what no worker says."""

    def __init__(self, port, token):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=10)
        self.most = json.loads(self.socket.recv(1 << 16).split(b"\r\n")[0][5:])["max_payload"]
        self.socket.sendall(b"CONNECT " + json.dumps({"auth_token": token, "verbose": False, "headers": True}).encode() + b"\r\nPING\r\n")
        self.welcome = self.socket.recv(4096)

    def say(self, subject, headers, body):
        head = b"NATS/1.0\r\n" + "".join(f"{k}: {v}\r\n" for k, v in headers.items()).encode() + b"\r\n"
        self.socket.sendall(f"HPUB {subject} {len(head)} {len(head) + len(body)}\r\n".encode() + head + body + b"\r\n")

    def close(self):
        self.socket.close()


def lie(rng, liar, ids):
    """One message that must change nothing: of a job that is not there, of another version, without sense, or where workers may not write."""
    job = rng.choice([*ids, "0" * 64, "x", "a" * 500, "no-job"])
    body = rng.choice([b"", b"{}", b"null", b"[" * 10000, rng.randbytes(rng.randint(1, 5000)), rng.randbytes(liar.most - 300), b'{"version":999,"rows":[]}'])
    headers = rng.choice([{}, {"Type": "done"}, {"Collapse-Type": "\x1b[2J"}, {"Nats-Msg-Id": "a" * 300}, {"Nats-Rollup": "all"}, {"Nats-Expected-Last-Sequence": "0"}])
    subject = rng.choice([f"collapse.res.{job}", "collapse.notice", f"$KV.collapse-claims.claim.{'y' * rng.randint(1, 200)}", "$O.collapse-blobs.C.../../etc/passwd",
                          "$O.collapse-blobs.M.Li4vLi4vZXRj", "collapse.stop", "collapse.job.p0.bad", "$JS.API.STREAM.DELETE.collapse-jobs", "$JS.API.STREAM.PURGE.collapse-results",
                          "$KV.collapse-claims.info", "$SYS.REQ.SERVER.PING"])
    liar.say(subject, headers, body)


def lying_workers(c, seed, work):
    """While honest workers compute, others with wrong tokens try to join, and one with the right token sends what no worker sends."""
    rng, study, port = random.Random(seed), Study(c, work), free_ports(1)[0]
    told = refused = 0
    try:
        coordinator = study.coordinator("--listen", f"127.0.0.1:{port}")
        token = open(study.token()).read().strip()
        url = f"nats://127.0.0.1:{port}"
        for name in ("one", "two"):
            study.worker(name, url, "--token-file", study.token())
        while coordinator.poll() is None and told < 400:
            try:
                wrong = Liar(port, rng.choice(["", token[:-1], token[::-1], token + "0", "a" * 5000]))
                must(wrong.welcome.startswith(b"-ERR") or wrong.welcome == b"", f"a wrong token was answered with {wrong.welcome[:200]}")
                wrong.close()
                refused += 1
                liar = Liar(port, token)
                ids = os.listdir(work + "/lab/runs") if os.path.isdir(work + "/lab/runs") else []
                for _ in range(40):
                    lie(rng, liar, ids)
                    told += 1
                liar.close()
            except (OSError, ValueError, IndexError, KeyError):
                pass  # it hung up
            time.sleep(0.05)
        study.ends(coordinator)
        for name in ("coordinator", "one", "two"):
            text = open(f"{work}/{name}.log", "rb").read()
            must(b"\x1b[2J" not in text and b"panic" not in text and not re.search(rb"goroutine \d+ \[", text), f"{name}'s log: {text[-2000:]}")
    finally:
        study.kill()
    return {"messages": told, "wrong tokens": refused}
