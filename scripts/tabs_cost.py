#!/usr/bin/env python3
"""What ten tabs of one browser take from four workers (Linux, two cores, chromium, go).

    scripts/tabs_cost.py run|study|studies [PAIRS]

Starts BenchmarkTenTabs with the named page in front, keeps the workers and the server on the first core and the browser on the second, and
compares windows of five seconds with the browser awake and stopped, in turns: the processor time that the workers get, and the epochs they finish.
"""
import os, signal, sqlite3, statistics, subprocess, sys, tempfile, time

WINDOW, SETTLE = 5.0, 1.5


def processes(binary):
    """The pids of the workers, of the server, of the browser and of what drives it."""
    found = {"worker": [], "server": [], "browser": [], "driver": []}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            command = open(f"/proc/{pid}/cmdline").read()
            environment = open(f"/proc/{pid}/environ").read().split("\0")
        except OSError:
            continue  # it has ended
        role = next((e.split("=", 1)[1] for e in environment if e.startswith("COLLAPSE_TEST_BESIDE=")), "driver")
        if command.startswith(binary):
            found[role].append(int(pid))
        elif "chromium" in command:
            found["browser"].append(int(pid))
    return found


def seconds(pids):
    """Processor time of all threads."""
    total = 0
    for pid in pids:
        for task in os.listdir(f"/proc/{pid}/task"):
            try:
                total += int(open(f"/proc/{pid}/task/{task}/schedstat").read().split()[0])
            except OSError:
                pass
    return total / 1e9


def epochs(lab):
    db = sqlite3.connect(f"file:{lab}/lab.sqlite?mode=ro", uri=True)
    try:
        return db.execute("SELECT sum(last_epoch) FROM run").fetchone()[0]
    finally:
        db.close()


def window(found, lab):
    """The workers' and the server's processor time and the epochs of one window, a second."""
    def now():
        return time.time(), seconds(found["worker"]), seconds(found["server"]), epochs(lab)
    before = now()
    time.sleep(WINDOW)
    after = now()
    return [(b - a) / (after[0] - before[0]) for a, b in zip(before[1:], after[1:])]


def compare(binary, pairs):
    found = processes(binary)
    setting = open(f"/proc/{found['worker'][0]}/environ").read().split("\0")
    lab = next(e.split("=", 1)[1] for e in setting if e.startswith("COLLAPSE_TEST_BESIDE_LAB="))
    for role, core in {"worker": 0, "server": 0, "browser": 1, "driver": 1}.items():
        for pid in found[role]:
            subprocess.run(["taskset", "-a", "-p", "-c", str(core), str(pid)], check=True, stdout=subprocess.DEVNULL)
    os.sched_setaffinity(0, {1})
    got = {True: [], False: []}
    for i in range(pairs):
        for awake in (True, False) if i % 2 == 0 else (False, True):
            for pid in processes(binary)["browser"]:
                os.kill(pid, signal.SIGCONT if awake else signal.SIGSTOP)
            time.sleep(SETTLE)
            got[awake].append(window(found, lab))
    for pid in processes(binary)["browser"]:
        os.kill(pid, signal.SIGCONT)
    return got


def report(page, got):
    mean = {awake: [statistics.mean(column) for column in zip(*rows)] for awake, rows in got.items()}
    lost = [100 * (1 - a[2] / b[2]) for a, b in zip(got[True], got[False])]
    print(f"{page}: the workers get {mean[True][0]:.4f} s a second, {mean[False][0]:.4f} without: {100 * (1 - mean[True][0] / mean[False][0]):.2f} % less; "
          f"the server takes {mean[True][1]:.4f} s, {mean[False][1]:.4f} without")
    print(f"{page}: {mean[True][2]:.1f} epochs a second, {mean[False][2]:.1f} without: {statistics.mean(lost):.2f} % less, "
          f"± {statistics.stdev(lost) / len(lost) ** 0.5:.2f} (standard error of {len(lost)} pairs)")


def main():
    page, pairs = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 16
    with tempfile.TemporaryDirectory() as folder:
        binary = folder + "/serve.test"
        subprocess.run(["go", "test", "-c", "-o", binary, "./internal/serve"], check=True)
        bench = subprocess.Popen([binary, "-test.run", "xxx", "-test.bench", f"TenTabs/front={page}$", "-test.benchtime", "1000x"],
                                 stdout=subprocess.DEVNULL, start_new_session=True)
        try:
            while len(processes(binary)["worker"]) < 4 or len(processes(binary)["browser"]) < 12:
                if bench.poll() is not None:
                    sys.exit("the benchmark ended before it began: run it alone to see why")
                time.sleep(0.5)
            time.sleep(15)  # ten tabs open
            report(page, compare(binary, pairs))
        finally:
            os.killpg(bench.pid, signal.SIGKILL)


main()
