"""Runs a program and watches its memory."""

import json
import os
import subprocess
import tempfile
import threading
import time

SAMPLE_EVERY = 0.005  # seconds between looks at the program's memory


def run(command, env=None):
    """Runs a command that prints one JSON document.

    Returns {"answer": document, "wall": s, "cpu": s of all threads, "rss_mb": peak resident, "anon_mb": peak resident less mapped files}.
    anon_mb is sampled, every 5 ms, so that a shorter peak can escape it; rss_mb is the kernel's own count.
    Raises RuntimeError with the program's last words if it fails.
    """
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        begin = time.perf_counter()
        child = subprocess.Popen(command, stdout=out, stderr=err, env=env)
        anon = []
        watcher = threading.Thread(target=_watch, args=(child.pid, anon), daemon=True)
        watcher.start()
        _, status, usage = os.wait4(child.pid, 0)
        wall = time.perf_counter() - begin
        child.returncode = os.waitstatus_to_exitcode(status)
        watcher.join()
        out.seek(0), err.seek(0)
        if child.returncode != 0:
            raise RuntimeError("%s: exit status %d: %s" % (" ".join(command), child.returncode, err.read().decode(errors="replace").strip()[-500:]))
        answer = json.loads(out.read().decode().strip())
    return {"answer": answer, "wall": wall, "cpu": usage.ru_utime + usage.ru_stime, "rss_mb": usage.ru_maxrss / 1024, "anon_mb": max(anon, default=0) / 1024}


def _watch(pid, anon):
    try:
        while True:
            with open("/proc/%d/status" % pid) as f:
                lines = [line for line in f if line.startswith("RssAnon:")]
            if not lines:
                return  # it has ended and waits to be counted
            anon.append(int(lines[0].split()[1]))
            time.sleep(SAMPLE_EVERY)
    except OSError:
        return


def machine():
    """What the numbers depend on, in one line each."""
    cpu = "?"
    with open("/proc/cpuinfo") as f:
        for line in f:
            if line.startswith("model name"):
                cpu = line.split(":")[1].strip()
                break
    return {"cpu": cpu, "cores": os.cpu_count(), "load": os.getloadavg()[0], "blas": blas()}


def blas():
    """The BLAS that numpy and torch multiply with. Debian's default is the slow reference version."""
    import numpy as np
    np.ones((64, 64)) @ np.ones((64, 64))
    with open("/proc/self/maps") as f:
        paths = {os.path.realpath(line.split()[-1]) for line in f if "blas" in line or "mkl" in line}
    return ", ".join(sorted(os.path.basename(p) for p in paths)) or "inside numpy"


def blas_is_slow():
    return not any(name in blas() for name in ("openblas", "mkl", "blis", "inside numpy"))
