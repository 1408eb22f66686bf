"""Trials of single runs: suspended, asked for twice, on a full disk, with damaged checkpoints, on any number of threads."""
import collections, os, random, shutil, signal, subprocess, time

from .common import RUN, Failed, digest, log_of, must, start, whole

NETS = {  # of the table of bits
    "mlp": RUN,
    "conv": RUN.replace('pipeline = "plain"', 'pipeline = "plain"\naugment = "crop_flip"').replace("depth = 2\nwidth = 64", 'kind = "resnet18-adapt"\nstem_width = 8').replace("epochs = 120", "epochs = 2").replace("samples_per_class = 200", "samples_per_class = 50"),
}


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
    counts, rng = collections.Counter(), random.Random(seed)
    for net, text in NETS.items():
        for kernel in ("avx512", "avx2", "neon", "generic"):
            seen = {}
            for threads in ("1", "2", "4", "7"):
                env = {"COLLAPSE_KERNEL": kernel, "GOMAXPROCS": threads}
                lab = f"{net}-{kernel}-{threads}"
                process = start(c, work, lab, text, env, threads)
                resumed = rng.random() < 0.5
                if resumed:
                    time.sleep(rng.uniform(0.1, 1))
                    process.kill()
                    process.wait()
                    process = start(c, work, lab, text, env, threads)
                if process.wait(timeout=600):
                    if f'COLLAPSE_KERNEL="{kernel}" cannot run on this machine' in log_of(work):
                        break
                    raise Failed(log_of(work))
                seen[threads] = digest(f"{work}/{lab}")
                counts[f"{net} with {kernel}"] += 1
                counts["resumed"] += resumed
            must(len(set(seen.values())) <= 1, f"{net}, {kernel}: {seen}")
    return dict(counts)
