package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const tinyGrid = `id = "grid"
title = "A grid"
paper = "Someone 2022, Fig. 3"
kind = "training"
[base]
data = { name = "glyphs", samples_per_class = 20, test_samples_per_class = 10, pipeline = "plain" }
net = { depth = 1, width = 8 }
run = { batch = 15, epochs = 1 }
[full]
seeds = 1
[quick]
seeds = 3
[quick.grid]
"data.noise" = [0.0, 0.2]
[[claim]]
id = "noise"
says = "Wrong labels lower accuracy"
kind = "less"
early = true
left = 'final("train.accuracy", {"data.noise": 0.2})'
right = 'final("train.accuracy", {"data.noise": 0.0})'
source = "ours"
`

// TestABudgetLeavesTheRestForLater: what it allows is judged, what is missing is said, and the same call goes on.
func TestABudgetLeavesTheRestForLater(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "grid.toml"), []byte(tinyGrid), 0o666); err != nil {
		t.Fatal(err)
	}
	reproduce := func(args ...string) (found reproduced) {
		t.Helper()
		out, _ := called(t, 0, append([]string{"--lab", filepath.Join(dir, "lab"), "--json", "reproduce", "grid", "--recipes", dir}, args...)...)
		if err := json.Unmarshal([]byte(out), &found); err != nil {
			t.Fatal(err, out)
		}
		return found
	}
	first := reproduce("--budget", "1ns")
	if notes := strings.Join(first.Notes, "\n"); !strings.Contains(notes, "0 of 6 runs are finished: each of 2 settings has 0 of 3 seeds. The same command goes on") ||
		len(first.Claims) != 1 || first.Claims[0].Reason != "2 settings of the recipe have no finished run yet" {
		t.Errorf("%+v", first)
	}
	last := reproduce("--budget", "10m")
	if notes := strings.Join(last.Notes, "\n"); strings.Contains(notes, "finished") || last.Failed != 0 || last.Runs != 6 || strings.Contains(last.Claims[0].Reason, "setting") {
		t.Errorf("%+v", last)
	}
	for _, args := range [][]string{{"--all", "--budget", "1m"}, {"tb-fig1", "--budget", "1m"}, {"grid", "--recipes", dir, "--budget", "1m", "--dry-run"}, {"grid", "--recipes", dir, "--budget", "-1m"}} {
		called(t, exitUsage, append([]string{"--lab", filepath.Join(dir, "lab"), "reproduce"}, args...)...)
	}
}
