package outfile

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func text(words string) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := io.WriteString(w, words)
		return err
	}
}

// put writes words to a file the way a command does.
func put(t *testing.T, path, words string) error {
	t.Helper()
	f, err := New(t.Context(), io.Discard).File("--csv", path)
	if err != nil {
		return err
	}
	return f.Write(text(words))
}

func mustPut(t *testing.T, path, words string) {
	t.Helper()
	if err := put(t, path, words); err != nil {
		t.Fatal(err)
	}
}

func hold(t *testing.T, path, words string, mode os.FileMode) {
	t.Helper()
	if err := os.WriteFile(path, []byte(words), mode); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}

func holds(t *testing.T, path, words string) {
	t.Helper()
	got, err := os.ReadFile(path)
	if err != nil || string(got) != words {
		t.Errorf("%s holds %q (%v), want %q", path, got, err, words)
	}
}

// alone checks that a folder holds the given names and nothing that was temporary.
func alone(t *testing.T, dir string, names ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		got = append(got, e.Name())
	}
	if strings.Join(got, " ") != strings.Join(names, " ") {
		t.Errorf("%s holds %v, want %v", dir, got, names)
	}
}

func TestRegularFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.csv")
	mustPut(t, path, "first")
	holds(t, path, "first")
	hold(t, path, "secret, and longer than what follows", 0o600)
	before, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	reader, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	mustPut(t, path, "new")
	holds(t, path, "new")
	after, err := os.Stat(path)
	if err != nil || after.Mode() != before.Mode() {
		t.Errorf("mode %v (%v), want %v as before", after.Mode(), err, before.Mode())
	}
	if old, err := io.ReadAll(reader); err != nil || !strings.HasPrefix(string(old), "secret") {
		t.Errorf("who had the old file open reads %q (%v), want the old content", old, err)
	}
	alone(t, dir, "a.csv")
}

// TestNobodyReadsWhatIsBeingWritten: until the new content has the old file's mode, only its owner may read it.
func TestNobodyReadsWhatIsBeingWritten(t *testing.T) {
	dir := t.TempDir()
	hold(t, filepath.Join(dir, "a"), "old", 0o600)
	f, err := New(t.Context(), io.Discard).File("--csv", filepath.Join(dir, "a"))
	if err != nil {
		t.Fatal(err)
	}
	err = f.Write(func(w io.Writer) error {
		spools, err := filepath.Glob(filepath.Join(dir, ".collapse-*"))
		if err != nil || len(spools) != 1 {
			return fmt.Errorf("%q, %v", spools, err)
		}
		if info, err := os.Stat(spools[0]); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("mode %v, %v", info.Mode(), err)
		}
		return text("new")(w)
	})
	if err != nil {
		t.Error(err)
	}
}

func TestLongestName(t *testing.T) {
	dir := t.TempDir()
	name := strings.Repeat("n", 255)
	for range 2 {
		mustPut(t, filepath.Join(dir, name), "x")
	}
	alone(t, dir, name)
}

func TestFailureKeepsTheOldFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.csv")
	hold(t, path, "old", 0o644)
	f, err := New(t.Context(), io.Discard).File("--csv", path)
	if err != nil {
		t.Fatal(err)
	}
	broken := errors.New("the lab has gone")
	err = f.Write(func(w io.Writer) error { return errors.Join(text("half")(w), broken) })
	if !errors.Is(err, broken) || !strings.Contains(err.Error(), "--csv "+path) {
		t.Errorf("%v, want the reason and the file", err)
	}
	holds(t, path, "old")
	alone(t, dir, "a.csv")
}

func TestInterruptKeepsTheOldFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.csv")
	hold(t, path, "old", 0o644)
	ctx, cancel := context.WithCancel(t.Context())
	f, err := New(ctx, io.Discard).File("--csv", path)
	if err != nil {
		t.Fatal(err)
	}
	err = f.Write(func(w io.Writer) error {
		if err := text("half")(w); err != nil {
			return err
		}
		cancel()
		if text(strings.Repeat("more", 1<<20))(w) == nil {
			t.Error("writing goes on after an interrupt")
		}
		return nil
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want that it was cancelled", err)
	}
	holds(t, path, "old")
	ending, stop := context.WithCancel(t.Context())
	defer stop()
	if f, err = New(ending, io.Discard).File("--csv", path); err != nil {
		t.Fatal(err)
	}
	if err := f.Write(func(io.Writer) error { stop(); return nil }); !errors.Is(err, context.Canceled) { // after the last write, of which there is none
		t.Errorf("stopped at its end: %v", err)
	}
	holds(t, path, "old")
	alone(t, dir, "a.csv")
}

func TestStandardOutput(t *testing.T) {
	var stdout bytes.Buffer
	o := New(t.Context(), &stdout)
	f, err := o.File("--csv", "-")
	if err != nil {
		t.Fatal(err)
	}
	if !f.Stdout() {
		t.Error("- is not standard output")
	}
	if err := f.Write(text("rows")); err != nil || stdout.String() != "rows" {
		t.Errorf("standard output has %q (%v), want rows", stdout.String(), err)
	}
	var wrong *MisuseError
	if _, err := o.File("--html", "-"); !errors.As(err, &wrong) || !strings.Contains(err.Error(), "--csv -") {
		t.Errorf("a second output on standard output: %v", err)
	}
}

// TestRedirectedStandardOutput names the file that standard output goes to.
func TestRedirectedStandardOutput(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out")
	stdout, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer stdout.Close()
	f, err := New(t.Context(), stdout).File("--csv", path)
	if err != nil || !f.Stdout() {
		t.Fatalf("%v, %v; want standard output", f, err)
	}
	if err := errors.Join(f.Write(text("rows")), text(" and more")(stdout)); err != nil {
		t.Fatal(err)
	}
	holds(t, path, "rows and more")
}

func TestNothingAsked(t *testing.T) {
	f, err := New(t.Context(), io.Discard).File("--csv", "")
	if f != nil || err != nil {
		t.Fatalf("%v, %v", f, err)
	}
	if err := f.Write(func(io.Writer) error { return errors.New("called") }); err != nil || f.Stdout() {
		t.Errorf("%v: an output that was not asked for is written", err)
	}
}

func TestInputsAndOtherOutputs(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	hold(t, at("in.npz"), "features", 0o644)
	for _, err := range []error{os.Symlink("in.npz", at("link")), os.Link(at("in.npz"), at("hard")), os.Symlink(".", at("here")),
		os.Symlink("new.csv", at("dangling"))} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, same := range []string{"in.npz", "link", "hard", "here/in.npz", "here/link"} {
		o := New(t.Context(), io.Discard)
		o.Reads(at("link"), at("absent"))
		var wrong *MisuseError
		if _, err := o.File("--csv", at(same)); !errors.As(err, &wrong) || !strings.Contains(err.Error(), at(same)) || !strings.Contains(err.Error(), at("link")) {
			t.Errorf("output %s over input link: %v", same, err)
		}
	}
	for _, pair := range [][2]string{{"new.csv", "new.csv"}, {"new.csv", "here/new.csv"}, {"dangling", "new.csv"}, {"in.npz", "hard"}} {
		o := New(t.Context(), io.Discard)
		if _, err := o.File("--csv", at(pair[0])); err != nil {
			t.Fatal(err)
		}
		var wrong *MisuseError
		if _, err := o.File("--html", at(pair[1])); !errors.As(err, &wrong) || !strings.Contains(err.Error(), "--csv "+at(pair[0])) {
			t.Errorf("outputs %v: %v", pair, err)
		}
	}
	o := New(t.Context(), io.Discard)
	for _, name := range []string{"first.csv", "second.csv", "in.npz"} { // three files
		if _, err := o.File("--csv", at(name)); err != nil {
			t.Error(err)
		}
	}
	for _, flag := range []string{"--csv", "--html"} {
		if _, err := o.File(flag, os.DevNull); err != nil {
			t.Errorf("%s: %v", flag, err)
		}
	}
	holds(t, at("in.npz"), "features")
}

// TestInputLinkedMeanwhile makes the output an input after it was checked.
func TestInputLinkedMeanwhile(t *testing.T) {
	dir := t.TempDir()
	in, out := filepath.Join(dir, "in"), filepath.Join(dir, "out")
	hold(t, in, "features", 0o644)
	o := New(t.Context(), io.Discard)
	o.Reads(in)
	f, err := o.File("--csv", out)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("in", out); err != nil {
		t.Fatal(err)
	}
	var wrong *MisuseError
	if err := f.Write(text("rows")); !errors.As(err, &wrong) {
		t.Errorf("%v, want that the file is an input", err)
	}
	holds(t, in, "features")
}

func TestLinks(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	hold(t, at("real"), "old", 0o640)
	if err := os.Mkdir(at("sub"), 0o755); err != nil {
		t.Fatal(err)
	}
	for link, to := range map[string]string{"one": "two", "two": "real", "dangling": "sub/new", "loop": "pool", "pool": "loop", "astray": "gone/new", "up": "sub/../viaup", "abs": at("absnew")} {
		if err := os.Symlink(to, at(link)); err != nil {
			t.Fatal(err)
		}
	}
	for link, file := range map[string]string{"one": "real", "dangling": "sub/new", "up": "viaup", "abs": "absnew"} {
		mustPut(t, at(link), "new")
		holds(t, at(file), "new")
		if info, err := os.Lstat(at(link)); err != nil || info.Mode()&os.ModeSymlink == 0 {
			t.Errorf("link %s is gone (%v)", link, err)
		}
	}
	if info, err := os.Stat(at("real")); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("mode %v (%v), want 0640 as before", info.Mode(), err)
	}
	for link, words := range map[string]string{"loop": "too many levels of symbolic links", "astray": "there is no folder " + at("gone")} {
		if err := put(t, at(link), "new"); err == nil || !strings.Contains(err.Error(), words) || !strings.Contains(err.Error(), at(link)) {
			t.Errorf("%s: %v, want %q", link, err, words)
		}
	}
}

// TestLinkUpFromALink follows ../x from a folder that is itself a link: the folder before it is not the one that is meant.
func TestLinkUpFromALink(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	for _, err := range []error{os.MkdirAll(at("far/deep"), 0o755), os.Symlink("far/deep", at("near")), os.Symlink("../x", at("far/deep/link"))} {
		if err != nil {
			t.Fatal(err)
		}
	}
	mustPut(t, at("near/link"), "new")
	holds(t, at("far/x"), "new")
}

func TestHardLinksStay(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	hold(t, at("a"), "old", 0o644)
	if err := os.Link(at("a"), at("b")); err != nil {
		t.Fatal(err)
	}
	for _, words := range []string{"much longer than before", "short", ""} {
		mustPut(t, at("a"), words)
		holds(t, at("b"), words)
	}
	alone(t, dir, "a", "b")
}

func TestFoldersAndMissingFolders(t *testing.T) {
	dir := t.TempDir()
	hold(t, filepath.Join(dir, "file"), "", 0o644)
	for path, words := range map[string]string{
		dir:                                 "is a folder",
		filepath.Join(dir, "no", "x.csv"):   "there is no folder " + filepath.Join(dir, "no"),
		filepath.Join(dir, "file", "x.csv"): "x.csv: not a directory",
	} {
		_, err := New(t.Context(), io.Discard).File("--csv", path)
		if err == nil || !strings.Contains(err.Error(), words) || !strings.HasPrefix(err.Error(), "--csv "+path+": ") || strings.Contains(err.Error(), ".collapse-") {
			t.Errorf("%s: %v, want %q", path, err, words)
		}
	}
}

func TestFolder(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	hold(t, at("file"), "", 0o644)
	for _, err := range []error{os.MkdirAll(at("there/index.html"), 0o755), os.Symlink("gone", at("link")), os.MkdirAll(at("half"), 0o755), os.Symlink("../file", at("half/figures"))} {
		if err != nil {
			t.Fatal(err)
		}
	}
	o := New(t.Context(), io.Discard)
	for _, path := range []string{at("new/deep"), dir} {
		if f, err := o.Folder("--out", path, "a page", "index.html", "figures/x.svg"); err != nil || f.Path() != path {
			t.Error(err)
		}
	}
	if err := errors.Join(os.Symlink("loop", at("loop"))); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{at("loop"), at(strings.Repeat("n", 300))} {
		if _, err := o.Folder("--out", path, "a page"); err == nil || !strings.HasPrefix(err.Error(), "--out "+path+": ") {
			t.Errorf("%.80s: %v", path, err)
		}
	}
	for path, words := range map[string]string{"-": "standard output", at("file"): "is not a folder", at("file/sub"): "is not a folder", at("link"): "does not exist",
		at("there"): "is a folder", at("half"): "is not a folder", at("new/deep"): "is the same folder", dir + "/.": "is the same folder"} {
		var wrong *MisuseError
		_, err := o.Folder("--out", path, "a page", "index.html", "figures/x.svg")
		if !errors.As(err, &wrong) || !strings.Contains(err.Error(), words) || !strings.HasPrefix(err.Error(), "--out "+path) {
			t.Errorf("%s: %v, want %q", path, err, words)
		}
	}
	alone(t, dir, "file", "half", "link", "loop", "there")
}

func TestWrite(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "index.html")
	hold(t, path, "old", 0o600)
	if err := Write(path, []byte("new")); err != nil {
		t.Fatal(err)
	}
	holds(t, path, "new")
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v (%v), want 0600 as before", info.Mode(), err)
	}
	missing := filepath.Join(dir, "no", "index.html")
	if err := Write(missing, nil); err == nil || !strings.Contains(err.Error(), missing) {
		t.Errorf("%v, want the name %s", err, missing)
	}
}
