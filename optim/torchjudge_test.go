package optim

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// written is the file of an account.
func written(t *testing.T, a account) string {
	t.Helper()
	text, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "account.json")
	if err := os.WriteFile(file, text, 0o666); err != nil {
		t.Fatal(err)
	}
	return file
}

// judgeScript judges every account that it is given by scripts/replay_optim.py. PyTorch takes seconds to import, so one process does
// all; without PyTorch it ends at once, with a status of its own.
const judgeScript = `
import importlib.util, runpy, sys
if importlib.util.find_spec("torch") is None:
    sys.exit(77)
main = runpy.run_path(sys.argv[1])["main"]
for path in sys.argv[2:]:
    print("status", main(path))
`

type verdict struct {
	out string
	bad bool // by the exit status
}

// judge returns what PyTorch has to say of accounts, with a Python that has it.
func judge(t *testing.T, accounts ...string) []verdict {
	t.Helper()
	for _, python := range []string{"/usr/bin/python3", "python3"} {
		args := []string{"-c", judgeScript, filepath.Join("..", "scripts", "replay_optim.py")}
		cmd := exec.Command(python, append(args, accounts...)...)
		cmd.Env = append(os.Environ(), "OMP_NUM_THREADS=1") // tensors are small
		out, err := cmd.CombinedOutput()
		var missing *exec.Error
		if errors.As(err, &missing) || cmd.ProcessState.ExitCode() == 77 {
			continue
		}
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		var verdicts []verdict
		for text := string(out); text != ""; {
			one, rest, _ := strings.Cut(text, "status ")
			status, rest, found := strings.Cut(rest, "\n")
			if !found {
				t.Fatalf("no status after %q", one)
			}
			verdicts, text = append(verdicts, verdict{one, status != "0"}), rest
		}
		if len(verdicts) != len(accounts) {
			t.Fatalf("%d verdicts of %d accounts: %s", len(verdicts), len(accounts), out)
		}
		return verdicts
	}
	t.Skip("no python3 with PyTorch (Debian: python3-torch)")
	return nil
}
