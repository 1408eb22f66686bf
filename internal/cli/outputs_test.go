package cli

import (
	"bytes"
	"encoding/csv"
	"errors"
	"os"
	"os/user"
	"path/filepath"
	"strings"
	"testing"

	"collapse.example/collapse/internal/longtest"
	"collapse.example/collapse/measure"
)

// copyOf makes a copy of the formula features that a test may lose.
func copyOf(t *testing.T, dir string) string {
	t.Helper()
	b, err := os.ReadFile(formula)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "in.npz")
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestOutputsNeverTakeAnInput names an input, or a link to it, as each output of each command.
func TestOutputsNeverTakeAnInput(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	in, state, point, labels, pairs := copyOf(t, dir), at("state.ncs"), at("point.npz"), at("y.npy"), at("figures/fit.csv")
	called(t, exitOK, "measure", in, "--state-out", state)
	called(t, exitOK, "solve", "mse", "--k", "2", "--d", "2", "--n", "2", "--save", point)
	for path, words := range map[string]string{labels: "no array", pairs: "loss,memorization,dilation\nce,0.2,0.1\nls,0.1,0.05\nls,0.2,0.1\nce,0.3,0.2\n"} {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(words), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{"link": in, "to-state": state, "to-point": point} {
		if err := os.Symlink(to, at(link)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Link(in, at("hard")); err != nil {
		t.Fatal(err)
	}
	before := contents(t, dir)
	for _, args := range [][]string{
		{"measure", in, "--csv", in}, {"measure", in, "--html", at("link")}, {"measure", in, "--state-out", at("hard")}, {"measure", at("link"), "--csv", in},
		{"measure", "--features", at("*.npz"), "--labels", labels, "--csv", at("hard")}, {"measure", in, "--labels", labels, "--html", labels},
		{"measure", "--merge", state, "--csv", at("to-state")}, {"measure", "--merge", state, "--state-out", state},
		{"measure", in, "--means", state, "--state-out", state},
		{"solve", "mse", "--at", point, "--save", at("to-point")}, {"solve", "mse", "--init", point, "--optimizer", "lbfgs", "--save", point},
		{"dilation", "--fit", pairs, "--out", dir},
	} {
		if _, stderr := called(t, exitUsage, args...); !strings.Contains(stderr, "reads that file") {
			t.Errorf("%v: %s", args, stderr)
		}
	}
	for name, b := range contents(t, dir) {
		if !bytes.Equal(b, before[name]) {
			t.Errorf("%s has changed", name)
		}
	}
}

// contents reads every file below a folder.
func contents(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			files[path], err = os.ReadFile(path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// TestCaptureIsAnInput names a shard of a captured folder.
func TestCaptureIsAnInput(t *testing.T) {
	dir := t.TempDir()
	info := `{"format": "collapse_tap 1", "complete": true, "classifier": null, "bias": null, "streams": {"features": {}, "labels": {}, "layers/one": {}}}`
	names := []string{"tap.json", "features/00000.npy", "labels/00000.npy", "layers/one/00000.npy"}
	for _, name := range names {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(info), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range names {
		if _, stderr := called(t, exitUsage, "measure", dir, "--csv", filepath.Join(dir, name)); !strings.Contains(stderr, "reads that file") {
			t.Errorf("%s: %s", name, stderr)
		}
	}
}

func TestTwoOutputsInOneFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out")
	for _, args := range [][]string{{"--csv", path, "--html", path}, {"--csv", "-", "--html", "-"}, {"--state-out", path, "--csv", path}, {"--csv", "-", "--json"}} {
		if _, stderr := called(t, exitUsage, append([]string{"measure", formula}, args...)...); !strings.Contains(stderr, args[0]) {
			t.Errorf("%v: %s", args, stderr)
		}
	}
	if _, err := os.Lstat(path); !os.IsNotExist(err) {
		t.Errorf("something was written: %v", err)
	}
}

// TestStandardOutputHoldsNothingElse asks for each file on standard output.
func TestStandardOutputHoldsNothingElse(t *testing.T) {
	dir := t.TempDir()
	for _, flag := range []string{"--csv", "--html", "--state-out"} {
		path := filepath.Join(dir, flag)
		called(t, exitOK, "measure", formula, flag, path)
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		stdout, stderr := called(t, exitOK, "measure", formula, flag, "-")
		if !strings.Contains(stderr, "NC1") {
			t.Errorf("%s: standard error has no table: %q", flag, stderr)
		}
		switch flag {
		case "--html": // says when and how it was made
			if !strings.HasPrefix(stdout, "<!") || !strings.HasSuffix(strings.TrimSpace(stdout), "</html>") {
				t.Errorf("standard output is not a page: %.60q", stdout)
			}
		default:
			if stdout != string(want) {
				t.Errorf("%s -: %d bytes that differ from the file's %d", flag, len(stdout), len(want))
			}
		}
	}
	stdout, stderr := called(t, exitOK, "solve", "mse", "--k", "2", "--d", "2", "--n", "2", "--save", "-")
	if !strings.HasPrefix(stdout, "PK") || !strings.Contains(stderr, "exact") {
		t.Errorf("standard output %.20q, standard error %q", stdout, stderr)
	}
}

// TestWhatCannotBeWrittenIsSaidFirst gives inputs that do not exist: the output is looked at before them.
func TestWhatCannotBeWrittenIsSaidFirst(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	if err := os.WriteFile(at("file"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	lab := []string{"--lab", at("nolab")}
	for _, c := range []struct {
		code int
		args []string
		want string
	}{
		{exitUsage, []string{"measure", at("none.npz"), "--csv", dir}, "is a folder"},
		{exitFailed, []string{"measure", at("none.npz"), "--html", at("no/x.html")}, "there is no folder " + at("no")},
		{exitUsage, append(lab, "export", "--out", dir), "is a folder"},
		{exitFailed, append(lab, "study", "export", "name", "--out", at("no/x.csv")), "no"},
		{exitUsage, append(lab, "export", "--tensorboard", at("file")), "is not a folder"},
		{exitUsage, append(lab, "report", "--out", at("file")), "is not a folder"},
		{exitUsage, append(lab, "study", "report", "name", "--out", at("file/sub")), "is not a folder"},
		{exitUsage, append(lab, "demo", "--out", at("file")), "is not a folder"},
		{exitUsage, append(lab, "reproduce", "tb-fig1", "--out", at("file")), "is not a folder"},
		{exitUsage, append(lab, "reproduce", "--all", "--out", at("file")), "is not a folder"},
		{exitUsage, append(lab, "train", "--data", "glyphs", "--trace", at("file")), "is not a folder"},
		{exitUsage, []string{"landscape", "--out", at("file")}, "is not a folder"},
		{exitUsage, []string{"dilation", "--out", at("file")}, "is not a folder"},
		{exitUsage, []string{"dilation", "--out", "-"}, "standard output"},
		{exitUsage, []string{"solve", "mse", "--save", dir}, "is a folder"},
	} {
		if _, stderr := called(t, c.code, c.args...); !strings.Contains(stderr, c.want) {
			t.Errorf("%v: %q, want %q", c.args, stderr, c.want)
		}
	}
	if _, err := os.Lstat(at("nolab")); !os.IsNotExist(err) {
		t.Errorf("a lab was made: %v", err)
	}
}

// TestExportNeverTakesTheLab names files of the lab as the table.
func TestExportNeverTakesTheLab(t *testing.T) {
	dir := t.TempDir()
	lab := openLab(t, dir)
	if err := lab.Close(); err != nil {
		t.Fatal(err)
	}
	kept := filepath.Join(dir, "runs", "x", "config.toml")
	if err := os.MkdirAll(filepath.Dir(kept), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(kept, []byte("kept"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{filepath.Join(dir, "lab.sqlite"), kept} {
		for _, args := range [][]string{{"export"}, {"export", "--parquet"}, {"--json", "export"}} {
			args = append(append([]string{"--lab", dir}, args...), "--out", path)
			if _, stderr := called(t, exitUsage, args...); !strings.Contains(stderr, "this command reads") {
				t.Errorf("%v: %s", args, stderr)
			}
		}
	}
	called(t, exitOK, "--lab", dir, "export", "--out", filepath.Join(dir, "table.csv"))
	stdout, stderr := called(t, exitOK, "--lab", dir, "export", "--out", "-")
	rows, err := csv.NewReader(strings.NewReader(stdout)).ReadAll()
	if err != nil || len(rows) != 1 || stderr != "" {
		t.Errorf("the table on standard output is %q (%v), and %q is said", stdout, err, stderr)
	}
}

// TestOutputsThroughLinksKeepTheirModes writes each output of measure over a private file behind a link.
func TestOutputsThroughLinksKeepTheirModes(t *testing.T) {
	dir := t.TempDir()
	for _, flag := range []string{"--csv", "--html", "--state-out"} {
		real, link := filepath.Join(dir, "real"+flag), filepath.Join(dir, "link"+flag)
		if err := os.WriteFile(real, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(filepath.Base(real), link); err != nil {
			t.Fatal(err)
		}
		called(t, exitOK, "measure", formula, flag, link)
		info, err := os.Lstat(real)
		if err != nil || info.Mode() != 0o600 || info.Size() == 0 {
			t.Errorf("%s: the file behind the link is %v (%v)", flag, info, err)
		}
		if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
			t.Errorf("%s: the link is now %v (%v)", flag, info.Mode(), err)
		}
	}
	b, err := os.ReadFile(filepath.Join(dir, "real--state-out"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := measure.ReadState(b); err != nil {
		t.Error(err)
	}
}

// TestNamesAreTakenAsTheyStand gives names that mean something else once they are cleaned: folders, and the folder above the one
// that a link points to.
func TestNamesAreTakenAsTheyStand(t *testing.T) {
	dir, in := t.TempDir(), copyOf(t, t.TempDir())
	t.Chdir(dir)
	if err := errors.Join(os.WriteFile("file", nil, 0o644), os.MkdirAll("there/below", 0o755), os.Symlink("there/below", "link")); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		code int
		name string
		want string
	}{{exitFailed, "new/", "there is no folder new"}, {exitFailed, "file/", "not a directory"}, {exitFailed, "link/new/", "there is no folder link/new"},
		{exitUsage, "link/", "is a folder"}, {exitUsage, "", "is empty"}} {
		for _, args := range [][]string{{"measure", in, "--csv"}, {"measure", in, "--html"}, {"measure", in, "--state-out"}, {"solve", "mse", "--save"}, {"export", "--out"}} {
			if _, stderr := called(t, c.code, append(args, c.name)...); !strings.Contains(stderr, c.want) {
				t.Errorf("%v %q: %s; want %q", args, c.name, stderr, c.want)
			}
		}
	}
	called(t, exitOK, "measure", in, "--csv", "link/../rows.csv")
	if _, err := os.Stat(filepath.Join("there", "rows.csv")); err != nil {
		t.Error(err)
	}
	user, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	if _, stderr := called(t, exitFailed, "measure", in, "--csv=~/no such folder/home.csv"); !strings.Contains(stderr, "there is no folder "+filepath.Join(user.HomeDir, "no such folder")) {
		t.Errorf("~ is not the home folder: %s", stderr)
	}
}

// TestPageFilesKeepTheirModes writes a page twice, the second time over private files.
func TestPageFilesKeepTheirModes(t *testing.T) {
	longtest.Only(t)
	dir := t.TempDir()
	args := []string{"landscape", "--out", dir}
	called(t, exitOK, args...)
	files := contents(t, dir)
	if len(files) < 5 {
		t.Fatalf("a page of %d files", len(files))
	}
	for path := range files {
		if err := os.Chmod(path, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	called(t, exitOK, args...)
	for path := range contents(t, dir) {
		if info, err := os.Stat(path); err != nil || info.Mode() != 0o600 {
			t.Errorf("%s: %v (%v), want mode 0600 as before", path, info.Mode(), err)
		}
	}
}
