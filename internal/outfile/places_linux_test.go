package outfile

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"collapse.example/collapse/internal/faulttest"
)

// TestAttributesOfAFile: which of their names stand for what a user gave it.
func TestAttributesOfAFile(t *testing.T) {
	for names, want := range map[string]bool{
		"": false, "security.selinux\x00": false, "user.origin\x00": true, "trusted.first\x00user.x\x00": true, "system.posix_acl_access\x00": true,
		"trusted.a\x00system.posix_acl_access\x00security.b\x00": true, "system.posix_acl_default\x00": false, "trusted.user.x\x00": false, "userx\x00": false,
	} {
		if got := keeps([]byte(names)); got != want {
			t.Errorf("%q: %v", names, got)
		}
	}
}

// TestWhatCannotBeReadIsTold: a file that is there and whose content does not come is neither the program's own nor another.
func TestWhatCannotBeReadIsTold(t *testing.T) {
	root, err := os.OpenRoot("/proc/self")
	if err != nil {
		t.Skip(err)
	}
	defer root.Close()
	if _, err := (inside{root, t.Context()}).look("mem"); !errors.Is(err, syscall.EIO) || !strings.HasPrefix(err.Error(), "mem: ") {
		t.Errorf("the first bytes of memory, which are nobody's: %v", err)
	}
}

// TestNamesInNoFolder: in a working directory that is gone no name can be found, and none is taken for one in another folder.
func TestNamesInNoFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "gone")
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	if err := os.Remove(dir); err != nil {
		t.Fatal(err)
	}
	if _, err := (target{path: "x"}).absent(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a new file: %v", err)
	}
	if err := (&target{path: "x"}).outside([]string{"/"}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file beside inputs: %v", err)
	}
	if real := nearest("x"); filepath.IsAbs(real) {
		t.Errorf("a place: %q", real)
	}
	if err := put(t, "x", "words"); !errors.Is(err, fs.ErrNotExist) || !strings.HasPrefix(err.Error(), "--csv x: ") {
		t.Errorf("a new file is written: %v", err)
	}
}

// TestAPlaceThatCannotBeFoundIsInNoLab: a failed call does not turn the end of a path into one of the working directory, which is a lab here.
func TestAPlaceThatCannotBeFoundIsInNoLab(t *testing.T) {
	dir := t.TempDir()
	plant(t, dir, files{"lab/lab.sqlite": "", "lab/runs/r/x": "", "other/x": ""})
	t.Chdir(filepath.Join(dir, "lab"))
	calls := 0
	faulttest.EachCall(t, syscall.EIO, func() error { return inLab(filepath.Join(dir, "other", "runs", "new")) }, func(call string, err error) {
		if calls++; err != nil {
			t.Errorf("%s: %v", call, err)
		}
	})
	if calls == 0 {
		t.Error("nothing is looked at")
	}
	var wrong *MisuseError
	if err := inLab(filepath.Join("runs", "r", "page")); !errors.As(err, &wrong) {
		t.Errorf("a place in a lab: %v", err)
	}
}

// TestFoldersByOtherNames: two names of one folder are one output, and an input folder that is missing does not stand for the working directory.
func TestFoldersByOtherNames(t *testing.T) {
	dir := t.TempDir()
	plant(t, dir, files{"page/x": "", "work/in/x": ""})
	link(t, "page", filepath.Join(dir, "link"))
	o := New(t.Context(), io.Discard)
	if _, err := o.Folder("--out", filepath.Join(dir, "page"), "a page"); err != nil {
		t.Fatal(err)
	}
	var wrong *MisuseError
	if _, err := o.Folder("--site", filepath.Join(dir, "link"), "a page"); !errors.As(err, &wrong) || !strings.Contains(err.Error(), "--out "+filepath.Join(dir, "page")+" is the same folder") {
		t.Errorf("a link to the same folder: %v", err)
	}
	t.Chdir(filepath.Join(dir, "work"))
	o = New(t.Context(), io.Discard)
	o.ReadsBelow(filepath.Join(dir, "missing"))
	if _, err := o.File("--csv", filepath.Join("in", "x")); err != nil {
		t.Errorf("an input that is missing: %v", err)
	}
	o.ReadsBelow("in")
	if _, err := o.File("--html", filepath.Join(dir, "work", "in", "x")); !errors.As(err, &wrong) {
		t.Errorf("an input by a name in the working directory: %v", err)
	}
	stdout, err := os.OpenFile(filepath.Join(dir, "work", "in", "x"), os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer stdout.Close()
	o = New(t.Context(), stdout)
	o.ReadsBelow(filepath.Join(dir, "work")) // standard output has no name, so it lies nowhere
	if f, err := o.File("--csv", "-"); err != nil || !f.Stdout() {
		t.Errorf("standard output: %v", err)
	}
}
