"""Trials of the server of pages: hostile requests and slow clients."""
import http.client, os, random, re, signal, socket, subprocess, time

from .common import RUN, must, start


def requests(c, seed, work):
    """Hostile requests to a server on the loopback address: none succeeds, and none leaves a descriptor or a goroutine."""
    rng = random.Random(seed)
    start(c, work, "lab", RUN.replace("epochs = 120", "epochs = 3")).wait()
    server, port = serve(c, work, "idle")
    idle = goroutines(server, work + "/idle")
    server, port = serve(c, work, "served")
    try:
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
        left = goroutines(server, work + "/served")
        must(left <= idle + 2, f"{left} goroutines, {idle} in a server that was left alone:\n" + open(work + "/served").read()[-20000:])
        return {"requests": sent, "slow clients": len(slow)}
    finally:
        server.kill()
        server.wait()


def serve(c, work, name):
    """A server that answers, and its port."""
    with socket.create_server(("127.0.0.1", 0)) as s:
        port = s.getsockname()[1]
    with open(f"{work}/{name}", "w") as log:
        server = subprocess.Popen([c.binary, "--lab", work + "/lab", "serve", "--listen", f"127.0.0.1:{port}"], stdout=log, stderr=log)
    for _ in range(200):
        if alive(port):
            return server, port
        time.sleep(0.05)
    server.kill()
    must(False, "the server did not start: " + open(f"{work}/{name}").read())


def goroutines(server, log):
    """How many goroutines a server has once connections kept open have ended: SIGQUIT makes it print them, and end."""
    time.sleep(1)
    server.send_signal(signal.SIGQUIT)
    server.wait(timeout=30)
    with open(log, errors="replace") as f:
        return len(re.findall(r"^goroutine \d+ ", f.read(), re.M))


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
