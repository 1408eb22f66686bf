"""Trials of files that change while they are measured."""
import array, os, random, shutil, struct, subprocess, time

from .common import Failed, must

N, D, K = 60000, 100, 10


def write(folder):
    """Features (N×D float32) and labels as npy."""
    rng = random.Random(1)
    block = [rng.gauss(0, 1) for _ in range(D * 997)]
    for name, kind, shape, values in (("features", "<f4", (N, D), array.array("f", [block[i % len(block)] for i in range(N * D)])),
                                      ("labels", "<i4", (N,), array.array("i", [i % K for i in range(N)]))):
        header = repr({"descr": kind, "fortran_order": False, "shape": shape}).encode()
        header += b" " * (-(len(header) + 11) % 64) + b"\n"
        with open(f"{folder}/{name}.npy", "wb") as f:
            f.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + values.tobytes())


class Known:
    folder = None
    said = None


def measured(c, folder):
    return subprocess.run([c.binary, "measure", "--json", "--features", folder + "/features.npy", "--labels", folder + "/labels.npy"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=300)


def changed_files(c, seed, work):
    """A file is cut, lengthened or written to while it is measured: the command names it, or has what the whole file gives."""
    rng, refused, whole = random.Random(seed), 0, 0
    home = c.folder + "/mapped"
    if not os.path.exists(home + "/labels.npy"):
        os.makedirs(home, exist_ok=True)
        write(home)
    if Known.said is None:
        began = time.time()
        Known.said = measured(c, home).stdout
        Known.seconds = time.time() - began
        must(Known.said, "the undisturbed measurement failed")
    for _ in range(20):
        shutil.copy(home + "/features.npy", work)
        shutil.copy(home + "/labels.npy", work)
        target = work + "/" + rng.choice(["features.npy", "features.npy", "labels.npy"])
        size = os.path.getsize(target)
        p = subprocess.Popen([c.binary, "measure", "--json", "--features", work + "/features.npy", "--labels", work + "/labels.npy"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        time.sleep(rng.uniform(0, Known.seconds))
        how = rng.choice(["cut", "cut", "gone", "grown"])
        if how == "cut":
            os.truncate(target, rng.randrange(size))
        elif how == "gone":
            os.truncate(target, 0)
        else:
            with open(target, "ab") as f:
                f.write(b"x" * rng.randint(1, 100000))
        out, err = p.communicate(timeout=300)
        text = err.decode(errors="replace")
        must("panic" not in text and "goroutine" not in text and "SIGBUS" not in text, text[-3000:])
        if p.returncode:
            must(os.path.basename(target) in text, f"{how}: the error does not name {target}: {text[-500:]}")
            refused += 1
        elif same(out, work, home):
            whole += 1
        else:
            raise Failed(f"{how} of {target}: other numbers, and no error")
    return {"files named": refused, "files whole": whole}


def same(out, work, home):
    return out.replace(work.encode(), home.encode()) == Known.said
