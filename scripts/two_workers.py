#!/usr/bin/env python3
"""How much more two workers on two cores do than one worker on one core (Linux, python3, taskset).

    scripts/two_workers.py COLLAPSE_BINARY [TURNS [SECONDS]]

Two studies of md-fig1, each with a lab of its own, take turns of some seconds: one is stopped while the other computes, so that a faster or
slower hour of the machine meets both. Prints the epochs a second of each, over all turns, and the ratio.
"""
import os, shutil, signal, sqlite3, statistics, subprocess, sys, tempfile, time


def epochs(lab):
    db = sqlite3.connect(f"file:{lab}/lab.sqlite?mode=ro", uri=True, timeout=10)
    try:
        return db.execute("SELECT coalesce(sum(last_epoch), 0) FROM run").fetchone()[0]
    finally:
        db.close()


def start(binary, lab, workers, cores):
    command = ["taskset", "-c", cores, binary, "--lab", lab, "--threads", str(workers), "study", "run", "md-fig1", "--seeds", "500", "--workers", str(workers)]
    with open(lab + ".log", "w") as log:
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=log)
    while not os.path.exists(lab + "/lab.sqlite") or epochs(lab) == 0:
        if process.poll() is not None:
            sys.exit("the study ended at once: " + " ".join(command) + "\n" + open(lab + ".log").read())
        time.sleep(0.1)
    process.send_signal(signal.SIGSTOP)
    return process


def main():
    binary, turns, seconds = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 60, float(sys.argv[3]) if len(sys.argv) > 3 else 3.0
    folder = tempfile.mkdtemp()
    labs = {"one": folder + "/one", "two": folder + "/two"}
    processes = {"one": start(binary, labs["one"], 1, "0"), "two": start(binary, labs["two"], 2, "0,1")}
    rates = {"one": [], "two": []}
    try:
        for turn in range(turns):
            for name in ("one", "two") if turn % 2 == 0 else ("two", "one"):
                before = epochs(labs[name])
                began = time.monotonic()
                processes[name].send_signal(signal.SIGCONT)
                time.sleep(seconds)
                processes[name].send_signal(signal.SIGSTOP)
                rates[name].append((epochs(labs[name]) - before) / (time.monotonic() - began))
    finally:
        for process in processes.values():
            process.kill()
            process.wait()
        shutil.rmtree(folder)
    one, two = statistics.mean(rates["one"]), statistics.mean(rates["two"])
    pairs = [b / a for a, b in zip(rates["one"], rates["two"])]
    print(f"one worker {one:.1f} epochs a second, two {two:.1f}: {two / one:.3f} times, ± {statistics.stdev(pairs) / len(pairs) ** 0.5:.3f} "
          f"(standard error of {len(pairs)} turns of {seconds:g} s; median of the turns {statistics.median(pairs):.3f})")


main()
