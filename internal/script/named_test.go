package script

import "testing"

// TestNamed: a script is called by its file, whatever interpreter runs it.
func TestNamed(t *testing.T) {
	for want, command := range map[string][]any{
		"fit.py": {"/home/me/.venv/bin/python3.11", "-u", "src/fit.py", "x.npz"}, "train.sh": {"sh", "train.sh"}, "a.out": {"./a.out", "b.txt"},
		"script": {"make", "train"}, "t.jl": {"julia", "--threads=1.5", "t.jl"},
	} {
		if got := Named(command); got != want {
			t.Errorf("%v: %s, wanted %s", command, got, want)
		}
	}
}
