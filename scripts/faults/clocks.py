"""Trials with clocks that jump: the wall clock of every process, coordinator, worker and NATS server is off by up to two days, each time by another amount.

A static program asks the kernel for the time, so no library can lie to it; the programs of these trials are built with another package time.
"""
import json, os, subprocess

from .common import must, of_script, run
from .network import three_servers
from .runs import twice

NOW = "sec, nsec, mono := runtimeNow()\n"
JUMP = """
// jump is how far the wall clock is off: another amount every 0.7 seconds, the same for all processes of a machine.
func jump(mono int64) int64 {
	x := uint64(mono/700_000_000+1) * 0x9e3779b97f4a7c15
	x = (x ^ x>>31) * 0xbf58476d1ce4e5b9
	return int64(x>>33)%(4*86400) - 2*86400
}
"""


class Jumping:
    """A campaign whose programs have such a clock. They are built once in a process, from the sources as they are."""
    built = set()

    def __init__(self, campaign):
        self.folder = campaign.folder + "/clocks"
        self.binary = self.folder + "/collapse"
        if self.folder not in self.built:
            os.makedirs(self.folder, exist_ok=True)
            overlay = self.overlay()
            for out, package in ((self.folder + "/nats-server", "github.com/nats-io/nats-server/v2"), (self.binary, "./cmd/collapse")):
                run(["go", "build", "-overlay", overlay, "-o", out, package], {"CGO_ENABLED": "0"})
            self.built.add(self.folder)

    def overlay(self):
        original = os.path.join(subprocess.run(["go", "env", "GOROOT"], capture_output=True, text=True, check=True).stdout.strip(), "src/time/time.go")
        with open(original) as f:
            text = f.read()
        must(text.count(NOW) == 1, "time.Now of this Go is another: scripts/faults/clocks.py must be adapted")
        with open(self.folder + "/time.go", "w") as f:
            f.write(text.replace(NOW, NOW + "\tsec += jump(mono)\n") + JUMP)
        with open(self.folder + "/overlay.json", "w") as f:
            json.dump({"Replace": {original: self.folder + "/time.go"}}, f)
        return self.folder + "/overlay.json"


TRIALS = [of_script("scripts/kill_resume.sh", "10"), twice, of_script("scripts/kill_studies.sh", "5"), of_script("python3", "scripts/kill_engines.py", "BINARY", "3"), three_servers]


def clocks(c, seed, work):
    """Another trial, with clocks that jump; only its kills are counted."""
    counts = TRIALS[seed % len(TRIALS)](Jumping(c), seed, work)
    return {"kills": sum(n for what, n in counts.items() if what.startswith("kills"))}
