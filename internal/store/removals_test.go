package store

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestARunGoesOverWhatAnotherRemovalLeft: a folder that was moved aside before does not keep the next one from being moved there.
func TestARunGoesOverWhatAnotherRemovalLeft(t *testing.T) {
	l := open(t, doneLab(t))
	aside := filepath.Join(l.dir, "runs", trashPrefix+hashOf(1))
	must(t, errors.Join(os.MkdirAll(filepath.Join(aside, "ckpt"), 0o777), os.WriteFile(filepath.Join(aside, "ckpt", "x"), nil, 0o666)))
	must(t, l.Remove(hashOf(1)))
	if left := strings.Join(names(t, filepath.Join(l.dir, "runs")), " "); left != hashOf(2) {
		t.Errorf("left: %s", left)
	}
	must(t, os.RemoveAll(l.RunDir(hashOf(2))))
	must(t, l.Remove(hashOf(2))) // whose folder somebody has removed
	if left, err := l.removals(); err != nil || len(left) != 0 {
		t.Errorf("removals: %q, %v", left, err)
	}
}

// TestTheRecordOfARemovalStaysWithItsFolder: if another removal of the same run has moved a folder aside meanwhile, it is still to be deleted.
func TestTheRecordOfARemovalStaysWithItsFolder(t *testing.T) {
	l := open(t, doneLab(t))
	aside := filepath.Join(l.dir, "runs", trashPrefix+hashOf(1))
	was := atStep
	defer func() { atStep = was }()
	atStep = func(name string) {
		if name == "deleted" {
			must(t, os.MkdirAll(aside, 0o777))
		}
	}
	must(t, l.Remove(hashOf(1)))
	if left, err := l.removals(); err != nil || len(left) != 1 || left[0] != trashPrefix+hashOf(1) {
		t.Errorf("removals: %q, %v", left, err)
	}
	atStep = was
	must(t, l.finishRemovals())
	left, err := l.removals()
	if _, gone := os.Lstat(aside); err != nil || len(left) != 0 || !errors.Is(gone, fs.ErrNotExist) {
		t.Errorf("removals: %q, %v; the folder: %v", left, err, gone)
	}
}

// TestRemovalsEndWithTheFirstFailure: what keeps one from being finished is not asked of the others; they stay recorded.
func TestRemovalsEndWithTheFirstFailure(t *testing.T) {
	f := &failing{}
	l := studied(t, f)
	for _, hash := range []string{hashOf(7), trashPrefix + hashOf(8), hashOf(9)} {
		query(t, l, "INSERT INTO removal (folder) VALUES (?)", hash)
	}
	left, err := l.removals()
	if err != nil || len(left) != 3 {
		t.Fatal(left, err)
	}
	const afterFirst = 12 // more calls than one removal takes
	f.each(t, l, "finishing", func() error {
		f.armed = false
		for _, hash := range left {
			query(t, l, "INSERT OR IGNORE INTO removal (folder) VALUES (?)", hash)
		}
		f.armed = true
		return l.finishRemovals()
	}, func(what string, err error) {
		made := f.n
		now, reading := l.removals()
		if !errors.Is(err, errDisk) || reading != nil || f.at < 3 && len(now) < 3 || made > f.at+1 { // and the rollback
			t.Errorf("%s fails: %v; %d calls are made, and %q are left, %v", what, err, made, now, reading)
		}
	})
	if f.at < afterFirst {
		t.Errorf("%d calls", f.at)
	}
}

// TestCollectingGoesOn: a folder that cannot be deleted does not keep others, and the error says so.
func TestCollectingNamesWhatItLeaves(t *testing.T) {
	l := open(t, doneLab(t))
	must(t, os.RemoveAll(filepath.Join(l.dir, "runs")))
	must(t, os.WriteFile(filepath.Join(l.dir, "runs"), nil, 0o666))
	if gone, err := l.GC(); err == nil || !strings.HasPrefix(err.Error(), "store: ") || len(gone) != 0 {
		t.Errorf("a file in the place of the folders: %q, %v", gone, err)
	}
	must(t, os.Remove(filepath.Join(l.dir, "runs")))
	if gone, err := l.GC(); err != nil || len(gone) != 0 {
		t.Errorf("no folder at all: %q, %v", gone, err)
	}
}
