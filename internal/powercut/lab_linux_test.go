package powercut_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"collapse.example/collapse/internal/faulttest"
	"collapse.example/collapse/internal/longtest"
	"collapse.example/collapse/internal/powercut"
	"collapse.example/collapse/internal/rundir"
	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/internal/upkeep"
)

const labEpochs = 4

// numbered is the n-th run of roleLab.
func numbered(n int) store.Spec {
	return store.Spec{Kind: store.Measure, Config: map[string]any{"seed": n}, Program: store.Program{Version: "1", Kernel: "generic", GOOS: "linux", GOARCH: "amd64"}}
}

// configOf is what the n-th run has in its folder.
func configOf(n int) string { return fmt.Sprintf("number = %d\n", n) }

// valueOf is what roleLab stores; there are enough rows to make SQLite move its log into the database meanwhile.
func valueOf(run, epoch, row int) float64 { return float64(run*100_000 + epoch*1000 + row) }

const labRows = 150

// roleLab stores rows of four runs in the lab args[0], which it opens for each, removes the second one, and copies all to args[1].
func roleLab(args []string) error {
	for n := range 4 {
		if err := oneOfLab(args[0], n); err != nil {
			return err
		}
	}
	lab, err := store.OpenReader(args[0])
	if err != nil {
		return err
	}
	if _, err := upkeep.Copy(ctx, lab, args[1]); err != nil {
		return err
	}
	fmt.Println("copied")
	return lab.Close()
}

func oneOfLab(dir string, n int) error {
	lab, err := store.Open(dir, store.Options{})
	if err != nil {
		return err
	}
	lease, _, err := lab.Lease(numbered(n))
	if err != nil {
		return err
	}
	if err := rundir.Dir(lease.Dir).Writer(nil).Begin(configOf(n)); err != nil {
		return err
	}
	fmt.Println("claimed", n, lease.Hash)
	for epoch := 1; epoch <= labEpochs; epoch++ {
		var rows []store.Value
		for row := range labRows {
			rows = append(rows, store.Value{Key: store.Key{Series: "epoch", Measure: fmt.Sprintf("m%03d", row)}, Step: int64(epoch), Value: valueOf(n, epoch, row)})
		}
		if err := lease.AppendEpoch(int64(epoch), rows); err != nil {
			return err
		}
		fmt.Println("rows", n, epoch)
	}
	if err := lease.Finish(); err != nil {
		return err
	}
	fmt.Println("done", n)
	if n == 2 {
		first, _, err := lab.Lease(numbered(1))
		if err != store.ErrDone {
			return fmt.Errorf("leaseing a finished run: %v, %v", first, err)
		}
		runs, err := lab.List(store.Filter{})
		if err != nil {
			return err
		}
		for _, run := range runs {
			if string(run.Config) == `{"seed":1}` {
				if err := lab.Remove(run.Hash); err != nil {
					return err
				}
				fmt.Println("removed", 1)
			}
		}
	}
	return lab.Close()
}

// TestALabAfterAPowerCut: the lab opens, is whole, and holds what was said to be stored: each epoch whole, with its numbers. A removed run stays
// removed, and a copy is there whole or not at all.
func TestALabAfterAPowerCut(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	r := powercut.Record(t, root, faulttest.Command("lab", filepath.Join(root, "new", "lab"), filepath.Join(root, "copy")))
	r.Cuts(t, longtest.Of(60, 500), func(t *testing.T, c powercut.Cut) {
		lab := openLab(t, filepath.Join(c.Dir, "new", "lab"))
		if report, err := upkeep.Check(lab.Reader, nil); err != nil || len(report.Damage) > 0 {
			t.Errorf("%+v, %v", report, err)
		}
		holdsSaid(t, lab.Reader, c.Said)
		_, copied := c.SaidLast("copied")
		if other, err := store.OpenReader(filepath.Join(c.Dir, "copy")); err == nil {
			defer other.Close()
			holdsSaid(t, other, c.Said)
		} else if copied {
			t.Errorf("the copy: %v", err)
		}
	})
}

// holdsSaid checks every promise of roleLab, and that what is more in the lab is right.
func holdsSaid(t *testing.T, lab *store.Reader, said []string) {
	t.Helper()
	hashes, rows, done, removed := map[int]string{}, map[int]int{}, map[int]bool{}, map[int]bool{}
	for _, line := range said {
		var n, epoch int
		var hash string
		switch word, rest, _ := strings.Cut(line, " "); word {
		case "claimed":
			fmt.Sscan(rest, &n, &hash)
			hashes[n] = hash
		case "rows":
			fmt.Sscan(rest, &n, &epoch)
			rows[n] = epoch
		case "done":
			fmt.Sscan(rest, &n)
			done[n] = true
		case "removed":
			removed[1] = true
		}
	}
	for n, hash := range hashes {
		run, err := lab.Run(hash)
		switch {
		case removed[n] && !store.IsNotFound(err):
			t.Errorf("run %d was said to be removed: %v, %v", n, run.Status, err)
		case removed[n] || n == 1 && done[2] && store.IsNotFound(err): // being removed
		case err != nil:
			t.Errorf("run %d: %v", n, err)
		case done[n] && run.Status != store.Done:
			t.Errorf("run %d is %s, and was said to be done", n, run.Status)
		default:
			rightRows(t, lab, hash, n, rows[n])
			if text, err := os.ReadFile(rundir.Dir(lab.RunDir(hash)).Config()); string(text) != configOf(n) {
				t.Errorf("run %d has the file %q, %v", n, text, err)
			}
		}
	}
}

// rightRows checks that a run has rows of the epochs up to one, and perhaps of more, all whole.
func rightRows(t *testing.T, lab *store.Reader, hash string, n, upTo int) {
	t.Helper()
	epochs, err := lab.RowsAfter(hash, 0)
	must(t, err)
	if len(epochs) < upTo {
		t.Errorf("run %d has rows of %d epochs, and of %d they were said to be stored", n, len(epochs), upTo)
	}
	for i, e := range epochs {
		if int(e.Epoch) != i+1 || len(e.Rows) != labRows {
			t.Errorf("run %d: epoch %d has %d rows", n, e.Epoch, len(e.Rows))
			continue
		}
		for _, v := range e.Rows {
			var row int
			fmt.Sscanf(v.Measure, "m%d", &row)
			if want := valueOf(n, i+1, row); v.Value != want {
				t.Errorf("run %d, epoch %d, row %d: %v, wanted %v", n, i+1, row, v.Value, want)
			}
		}
	}
}
