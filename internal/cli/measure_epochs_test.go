package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// namedStates is statesFolder under a name.
func namedStates(t *testing.T, dir, name string, at float64) string {
	t.Helper()
	folder := filepath.Join(dir, name)
	if err := os.Rename(statesFolder(t, at), folder); err != nil {
		t.Fatal(err)
	}
	return folder
}

// TestEpochsBecomeColumnsAndARun measures captures of three epochs, named in another order, and keeps them in a lab.
func TestEpochsBecomeColumnsAndARun(t *testing.T) {
	dir := t.TempDir()
	lab := filepath.Join(dir, "lab")
	var want []float64
	for i, n := range []int{2, 10} {
		folder := namedStates(t, dir, fmt.Sprintf("epoch-%d", n), float64(i))
		want = append(want, measureJSON(t, folder).Measures["nc2_norm_cv"])
	}
	stdout, stderr := called(t, exitOK, "--lab", lab, "--json", "measure", "--by-epoch", filepath.Join(dir, "epoch-*"), "--record", "resnet")
	var doc struct {
		Layers []struct {
			Layer    string
			Measures map[string]float64
		}
	}
	decodeOnly(t, stdout, &doc)
	if len(doc.Layers) != 2 || doc.Layers[0].Layer != "epoch 2" || doc.Layers[1].Layer != "epoch 10" || !strings.Contains(stderr, "recorded as run") {
		t.Fatalf("columns %+v, said %q", doc.Layers, stderr)
	}
	for i := range want {
		if got := doc.Layers[i].Measures["nc2_norm_cv"]; got != want[i] {
			t.Errorf("%s: nc2_norm_cv is %g, alone it is %g", doc.Layers[i].Layer, got, want[i])
		}
	}
	if want[0] == want[1] {
		t.Error("both epochs have the same numbers, which shows nothing")
	}
	stdout, _ = called(t, exitOK, "--lab", lab, "--json", "runs", "list")
	var rows []runRow
	if err := json.Unmarshal([]byte(stdout), &rows); err != nil || len(rows) != 1 || rows[0].Label != "resnet" || *rows[0].Epoch != 10 {
		t.Fatalf("%v: runs %s", err, stdout)
	}
	stdout, _ = called(t, exitOK, "--lab", lab, "export", rows[0].Run)
	if !strings.Contains(stdout, fmt.Sprint(want[1])) {
		t.Errorf("the exported table lacks %g:\n%.600s", want[1], stdout)
	}
	called(t, exitOK, "--lab", lab, "report", rows[0].Run, "--out", filepath.Join(dir, "page"))
}

func TestEpochsSayWhatTheyAre(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"first", "epoch-1", "again-1"} {
		namedStates(t, dir, name, 0)
	}
	for args, said := range map[string]string{
		"--by-epoch DIR/first": "does not end in the number of its epoch", "--by-epoch DIR/epoch-1 DIR/again-1": "both of epoch 1",
		"--by-epoch DIR/nothing-*": "matches", "DIR/epoch-1 --record x": "--record has no effect here", "--by-epoch DIR/epoch-1 --labels y.npy": "--labels has no effect here",
	} {
		if _, stderr := called(t, exitUsage, append([]string{"measure"}, strings.Fields(strings.ReplaceAll(args, "DIR", dir))...)...); !strings.Contains(stderr, said) {
			t.Errorf("%s: %q, want %q", args, stderr, said)
		}
	}
}
