package rundir

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"collapse.example/collapse/arrayfile"
)

// TestWritingStaysInside has links in the folder of a run in each place that is written or removed. What they lead to stays.
func TestWritingStaysInside(t *testing.T) {
	arrays := []arrayfile.Array{arrayfile.Of("x", []int{1}, []float32{1})}
	state := func(map[string]Sum) ([]byte, error) { return []byte("{}"), nil }
	for name, write := range map[string]func(w Writer) error{
		"ckpt":             func(w Writer) error { return w.WriteCheckpoint(1, arrays, arrays, state) },
		"ckpt/.tmp":        func(w Writer) error { return w.WriteCheckpoint(1, arrays, arrays, state) },
		"ckpt/1":           func(w Writer) error { return w.RemoveCheckpointsAfter(0) },
		"ckpt/.gone":       func(w Writer) error { return w.Sweep() },
		"config.toml.tmp":  func(w Writer) error { return w.Begin("x = 1") },
		"features.npz.tmp": func(w Writer) error { return w.WriteFinalFeatures(arrays) },
		"frames":           func(w Writer) error { return w.WriteFrame(1, arrays) },
		"features": func(w Writer) error {
			return w.WriteFeatures(1, func(put func(string, []arrayfile.Array) error) error { return put("x", arrays) })
		},
		"features/.tmp": func(w Writer) error {
			from := filepath.Join(w.Workspaces(), "train")
			must(t, errors.Join(os.MkdirAll(from, 0o777), os.WriteFile(filepath.Join(from, "x"), nil, 0o666)))
			err := w.TakeFeatures(2, map[string]string{"train": from})
			if list, files := w.Files("features/2"); files != nil || len(list) != 1 || list[0] != "features/2/train/x" {
				t.Errorf("features taken: %q, %v, %v", list, files, err)
			}
			return err
		},
		"features/1": func(w Writer) error { return w.RemoveFeatures(func(epoch int) bool { return epoch == 1 }) },
		"g1":         func(w Writer) error { return w.Sweep() },
	} {
		run := filepath.Join(t.TempDir(), "run")
		outside := filepath.Join(filepath.Dir(run), "outside")
		at, target := filepath.Join(run, filepath.FromSlash(name)), outside
		must(t, os.MkdirAll(filepath.Dir(at), 0o777))
		must(t, os.Mkdir(outside, 0o777))
		must(t, os.WriteFile(filepath.Join(outside, "1"), []byte("precious"), 0o666))
		if filepath.Ext(name) == ".tmp" && name != "ckpt/.tmp" {
			target = filepath.Join(outside, "1")
		}
		if err := os.Symlink(target, at); err != nil {
			t.Skip(err)
		}
		_ = write(Dir(run).Writer(nil)) // it may be refused, or replace the link
		list, err := os.ReadDir(outside)
		text, readErr := os.ReadFile(filepath.Join(outside, "1"))
		if err != nil || readErr != nil || len(list) != 1 || string(text) != "precious" {
			t.Errorf("%s is a link: outside has %v with %q (%v, %v)", name, list, text, err, readErr)
		}
	}
	run := filepath.Join(t.TempDir(), "run")
	must(t, os.Symlink(t.TempDir(), run))
	if err := ReplaceFile(Dir(run).Writer(nil).FS, Dir(run).Config(), func(w io.Writer) error { return nil }); err == nil {
		t.Error("the folder of the run is a link, and was written to")
	}
}
