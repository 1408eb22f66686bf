package rundir

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"collapse.example/collapse/internal/faulttest"
)

// TestEveryFailedCallIsTold lets each system call of everything that is done to a run's folder fail in turn: the error is there, and what
// has a name is whole. Where a path is only looked at, there may be another way.
func TestEveryFailedCallIsTold(t *testing.T) {
	for name, do := range map[string]func(w Writer) error{
		"writing":   write,
		"removing":  func(w Writer) error { return w.RemoveCheckpoint(1) },
		"later":     func(w Writer) error { return w.RemoveCheckpointsAfter(0) },
		"sweeping":  func(w Writer) error { return w.Sweep() },
		"placing":   func(w Writer) error { return w.PlaceCheckpoint(3) },
		"settling":  func(w Writer) error { return errors.Join(w.SettleFrames(), w.SettleCheckpoints()) },
		"listing":   func(w Writer) error { return errors.Join(listAll(w.Dir)) },
		"beginning": func(w Writer) error { return w.Begin("seed = 10000\n") },
	} {
		t.Run(name, func(t *testing.T) {
			var w Writer
			above, n := t.TempDir(), 0
			reset := func() {
				n++
				w = Dir(filepath.Join(above, fmt.Sprint(n), "run")).Writer(nil)
				must(t, os.Mkdir(filepath.Dir(string(w.Dir)), 0o777))
				must(t, write(w.Dir.Writer(&failingFS{})))
				for _, litter := range []string{"ckpt/.gone/x", "ckpt/.fetched/y", "frames/9.npz.tmp"} {
					path := w.path(filepath.FromSlash(litter))
					must(t, errors.Join(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, nil, 0o666)))
				}
			}
			reset()
			told := 0
			faulttest.EachCall(t, syscall.EIO, func() error { return do(w) }, func(call string, err error) {
				kind, _, _ := strings.Cut(call, ",")
				switch {
				case errors.Is(err, syscall.EIO):
					told++
				case err == nil && kind != "fstatat" && kind != "unlinkat" && kind != "fstat": // to remove a folder its name is tried as that of a file first
					t.Errorf("%s: no error", call)
				}
				must(t, errors.Join(Readable(w.Frame(1)), Readable(w.FinalFeatures())))
				for what, l := range listings(w.Dir) {
					epochs, err := l.list()
					must(t, err)
					for _, epoch := range epochs {
						found, err := w.Files(mustRel(t, w.Dir, l.name(epoch)))
						if kind != "unlinkat" && (err != nil || len(found) != 3 && len(found) != 1) { // what is being replaced may be gone in part
							t.Errorf("%s: epoch %d of %s has %q, %v", call, epoch, what, found, err)
						}
					}
				}
				reset()
			})
			if told < 2 {
				t.Errorf("%d failures are told", told)
			}
		})
	}
}

// listAll asks for every list of a folder.
func listAll(d Dir) error {
	_, files := d.Files("ckpt")
	_, staging := d.Staging()
	all := []error{files, staging}
	for _, l := range listings(d) {
		_, err := l.list()
		all = append(all, err)
	}
	return errors.Join(all...)
}

// TestWhatIsDoneByLinksIsRefused: the error says that it is a link, wherever in the folder it is.
func TestWhatIsDoneByLinksIsRefused(t *testing.T) {
	w := Dir(filepath.Join(t.TempDir(), "run")).Writer(nil)
	must(t, w.Begin(""))
	must(t, os.Remove(w.CheckpointsDir()))
	must(t, os.Symlink(t.TempDir(), w.CheckpointsDir()))
	for name, err := range map[string]error{
		"making":   w.FS.MkdirAll(w.Checkpoint(1)),
		"creating": func() error { _, err := w.FS.Create(filepath.Join(w.CheckpointsDir(), "x")); return err }(),
		"renaming": w.FS.Rename(w.Config(), w.Checkpoint(1)),
		"removing": w.FS.RemoveAll(w.Checkpoint(1)),
	} {
		if err == nil || !strings.Contains(err.Error(), "escapes") {
			t.Errorf("%s through a link that leads out: %v", name, err)
		}
	}
	for name, err := range map[string]error{
		"renaming from": w.FS.Rename(filepath.Join(string(w.Dir), "..", "x"), w.Config()), "renaming to": w.FS.Rename(w.Config(), filepath.Join(string(w.Dir), "..", "x")),
		"removing": w.FS.RemoveAll(filepath.Join(string(w.Dir), "..", "x")), "making": w.FS.MkdirAll(filepath.Join(string(w.Dir), "..", "x")),
	} {
		if err == nil {
			t.Errorf("%s outside of the folder is done", name)
		}
	}
	if list := tree(t, w.Dir); !slices.Contains(list, "config.toml") {
		t.Errorf("there is %q", list)
	}
	if err := Dir(filepath.Join(t.TempDir(), "none")).Writer(nil).FS.RemoveAll("x"); err == nil {
		t.Error("a path outside of a folder that is missing is removed")
	}
}

// TestFoldersThatAreMissing hold nothing, and there is nothing to remove in them.
func TestFoldersThatAreMissing(t *testing.T) {
	w := Dir(filepath.Join(t.TempDir(), "none")).Writer(nil)
	must(t, errors.Join(w.FS.RemoveAll(w.Checkpoint(1)), w.Sweep(), w.RemoveCheckpointsAfter(0)))
	if _, err := w.Files("ckpt"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("files of a folder that is missing: %v", err)
	}
	if err := w.RemoveCheckpoint(1); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a checkpoint that is missing: %v", err)
	}
	file := filepath.Join(t.TempDir(), "file")
	must(t, os.WriteFile(file, nil, 0o666))
	for name, err := range map[string]error{"listing": listAll(Dir(file)), "syncing": System{}.SyncDir(file + "2"), "sweeping": Dir(file).Writer(nil).Sweep(), "later": Dir(file).Writer(nil).RemoveCheckpointsAfter(0)} {
		if err == nil {
			t.Errorf("%s a file as a folder: no error", name)
		}
	}
}

// TestNamesOfFramesAndCheckpointsAreSettled: one sync of each folder, and none of a folder of frames that is not there.
func TestNamesOfFramesAndCheckpointsAreSettled(t *testing.T) {
	w := Dir(filepath.Join(t.TempDir(), "run")).Writer(nil)
	must(t, w.Begin(""))
	for _, frames := range []bool{false, true} {
		if frames {
			must(t, w.WriteFrame(1, arrays(1)))
		}
		var synced []string
		w := Writer{w.Dir, syncsOf{w.FS, &synced}}
		must(t, errors.Join(w.SettleFrames(), w.SettleCheckpoints()))
		want := []string{w.CheckpointsDir()}
		if frames {
			want = []string{filepath.Dir(w.Frame(1)), w.CheckpointsDir()}
		}
		if !slices.Equal(synced, want) {
			t.Errorf("with frames %v: %q are synced, want %q", frames, synced, want)
		}
	}
}

// syncsOf notes which folders are synced.
type syncsOf struct {
	FS
	list *[]string
}

func (s syncsOf) SyncDir(dir string) error {
	*s.list = append(*s.list, dir)
	return s.FS.SyncDir(dir)
}

// TestFoldersThatCannotBeSynced, as on some network disks, are no error; disks that fail are.
func TestFoldersThatCannotBeSynced(t *testing.T) {
	dir := t.TempDir()
	for errno, told := range map[syscall.Errno]bool{syscall.EINVAL: false, syscall.ENOTSUP: false, syscall.EPERM: false, syscall.EIO: true, syscall.ENOSPC: true} {
		faulttest.EachCall(t, errno, func() error { return System{}.SyncDir(dir) }, func(call string, err error) {
			if got := errors.Is(err, errno); strings.HasPrefix(call, "fsync") && got != told || strings.HasPrefix(call, "openat") && !got {
				t.Errorf("%s, %v: %v", call, errno, err)
			}
		})
	}
}
