package train

import (
	"context"
	"database/sql"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"collapse.example/collapse/internal/rundir"
	"collapse.example/collapse/internal/store"
)

func copyDir(t *testing.T, dst, src string) {
	t.Helper()
	if err := os.RemoveAll(dst); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(dst, os.DirFS(src)); err != nil {
		t.Fatal(err)
	}
}

// TestNoCheckpointBehindAGapIsUsed removes rows of epochs before a run's checkpoints from a lab. The run continues from the newest
// checkpoint whose rows are complete, or from the start, says so, and ends complete.
func TestNoCheckpointBehindAGapIsUsed(t *testing.T) {
	c := tinyConfig()
	c.Run.Epochs, c.Run.MeasureEvery, c.Run.Keep = 9, 2, "all"
	apart := newLab(t)
	want := mustRun(t, c, apart, Options{})
	from, stopped := interruptedAt(t, c, 7)
	for name, test := range map[string]struct {
		keep      func(epoch int64, k store.Key) bool
		elsewhere int
		first     int    // epoch that is computed first
		note      string // "": none
	}{
		"rows are whole":                 {func(int64, store.Key) bool { return true }, 0, 8, ""},
		"the checkpoint has the last":    {func(e int64, _ store.Key) bool { return e < 7 }, 0, 8, ""},
		"a gap right before":             {func(e int64, _ store.Key) bool { return e != 6 }, 0, 7, "no rows of epoch 6;"},
		"a long gap":                     {func(e int64, _ store.Key) bool { return e < 3 || e == 7 }, 0, 4, "no rows of epoch 3–6;"},
		"no rows":                        {func(int64, store.Key) bool { return false }, 0, 2, "no rows of epoch 1–6;"},
		"measures are gone":              {func(e int64, k store.Key) bool { return e != 4 || k.Measure == "lr" }, 0, 5, "no rows of epoch 4;"},
		"measures and, later, epochs":    {func(e int64, k store.Key) bool { return e != 6 && (e != 4 || k.Measure == "lr") }, 0, 5, "no rows of epoch 4–6 (every 2);"},
		"they are elsewhere":             {func(e int64, _ store.Key) bool { return e > 6 }, 6, 8, ""},
		"some are elsewhere":             {func(e int64, _ store.Key) bool { return e > 6 }, 3, 5, "no rows of epoch 4–6;"},
		"measures in part elsewhere":     {func(e int64, k store.Key) bool { return e > 6 || k.Measure == "lr" }, 2, 5, "no rows of epoch 4–6 (every 2);"},
		"the gap ends where they are":    {func(e int64, _ store.Key) bool { return e > 5 }, 5, 8, ""},
		"a gap after those elsewhere":    {func(e int64, _ store.Key) bool { return e == 4 }, 3, 6, "no rows of epoch 5–6;"},
		"measures after those elsewhere": {func(e int64, k store.Key) bool { return e > 5 && k.Measure == "lr" }, 5, 7, "no rows of epoch 6;"},
	} {
		t.Run(name, func(t *testing.T) {
			lab := newLab(t)
			copyEpochs(t, lab, from, stopped.Run, test.keep)
			copyDir(t, lab.RunDir(stopped.Run), from.RunDir(stopped.Run))
			s := &recorder{}
			r := mustRun(t, c, lab, Options{Sink: s, RowsElsewhere: test.elsewhere})
			if s.begun.FirstEpoch != test.first {
				t.Errorf("began at epoch %d, wanted %d", s.begun.FirstEpoch, test.first)
			}
			if (test.note == "") != (len(s.notes) == 0) || !strings.Contains(strings.Join(s.notes, "\n"), test.note) {
				t.Errorf("notes %q, wanted %q", s.notes, test.note)
			}
			sameFiles(t, name, endFiles(t, want), endFiles(t, r))
			if test.elsewhere == 0 {
				sameValues(t, name, epochValues(t, apart, want.Run), epochValues(t, lab, r.Run))
			}
		})
	}
}

// A run whose rows vanish while it runs does not end as done.
func TestARunWithoutItsRowsIsNotDone(t *testing.T) {
	c := tinyConfig()
	lab := newLab(t)
	_, err := Run(context.Background(), c, lab, Options{Open: openOnce, FS: renameFS{before: func(to string) {
		if filepath.Base(to) != "features.npz" {
			return
		}
		runs, err := lab.List(store.Filter{})
		if err != nil || len(runs) != 1 {
			t.Fatalf("%d runs, %v", len(runs), err)
		}
		deleteEpoch(t, lab, runs[0].Hash, 2)
	}}})
	if err == nil || !strings.Contains(err.Error(), "no rows of epoch 2;") {
		t.Fatalf("the run ended with %v", err)
	}
	runs, err := lab.List(store.Filter{})
	if err != nil || runs[0].Status != store.Interrupted {
		t.Fatalf("%v, %v", runs, err)
	}
	apart := newLab(t)
	want, back := mustRun(t, c, apart, Options{}), mustRun(t, c, lab, Options{})
	sameFiles(t, "again", endFiles(t, want), endFiles(t, back))
	sameValues(t, "again", epochValues(t, apart, want.Run), epochValues(t, lab, back.Run))
}

// TestNothingIsLeftOfKilledAttempts kills a process between the last checkpoint and the removal of old ones, and plants files that
// processes killed elsewhere leave: in the end the folder is that of an undisturbed run.
func TestNothingIsLeftOfKilledAttempts(t *testing.T) {
	c := tinyConfig()
	c.Run.Epochs = 5
	whole := mustRun(t, c, newLab(t), Options{})
	lab := newLab(t)
	if _, err := Run(context.Background(), c, lab, Options{FS: &lastRename{last: "5"}, Open: openOnce}); err == nil {
		t.Fatal("the run is to fail at its last checkpoint's successors")
	}
	runs, err := lab.List(store.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	dir := lab.RunDir(runs[0].Hash)
	if n := len(filesBelow(t, filepath.Join(dir, "ckpt"))); n != 3*3 {
		t.Fatalf("%d files of checkpoints before it goes on", n)
	}
	for _, left := range []string{"ckpt/.tmp/model.safetensors", "ckpt/.gone/state.json", "ckpt/.fetched/x", "frames/3.npz.tmp", "config.toml.tmp", "features.npz.tmp", "features/.tmp/x"} {
		path := filepath.Join(dir, left)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("half"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	mustRun(t, c, lab, Options{})
	if err := os.Remove(filepath.Join(dir, "features")); err != nil { // empty
		t.Error(err)
	}
	if got, want := filesBelow(t, dir), filesBelow(t, whole.Dir); !slices.Equal(got, want) || len(want) < 10 {
		t.Errorf("the folder has\n%q\nwanted\n%q", got, want)
	}
}

// filesBelow lists the files below a folder.
func filesBelow(t *testing.T, dir string) []string {
	t.Helper()
	var list []string
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			path, err = filepath.Rel(dir, path)
			list = append(list, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// lastRename fails every change of names after the rename of the last checkpoint.
type lastRename struct {
	rundir.System
	last string
	over bool
}

func (f *lastRename) Rename(from, to string) error {
	if f.over {
		return errFull
	}
	f.over = filepath.Base(to) == f.last
	return f.System.Rename(from, to)
}

// deleteEpoch deletes an epoch's rows from a lab, which no program of ours does.
func deleteEpoch(t *testing.T, lab *store.Lab, hash string, epoch int) {
	t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(lab.Dir(), "lab.sqlite"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec("DELETE FROM value WHERE epoch = ? AND run = (SELECT id FROM run WHERE hash = ?)", epoch, hash); err != nil {
		t.Fatal(err)
	}
}
