package powercut_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"collapse.example/collapse/internal/faulttest"
	"collapse.example/collapse/internal/longtest"
	"collapse.example/collapse/internal/outfile"
	"collapse.example/collapse/internal/powercut"
	"collapse.example/collapse/internal/rundir"
)

// outputSize makes contents take several writes.
const outputSize = 100_000

// content is what a file holds in a version of it: whole, it can be told from every other.
func content(name string, version int) []byte {
	line := fmt.Sprintf("%s, version %d\n", name, version)
	return []byte(strings.Repeat(line, outputSize/len(line)) + "end\n")
}

// pageFiles are the files of a folder in a version of it, the one that shows the others last.
func pageFiles(version int) []string {
	return []string{"figures/a.svg", "figures/b.svg", "data.csv", fmt.Sprintf("only/%d.txt", version), "index.html"}
}

const outputVersions = 3

// roleOutputs writes a file and a folder in args[0] again and again, as commands do.
func roleOutputs(args []string) error {
	// The folder is there: where its name is not on the disk yet, nothing in it shows.
	if err := errors.Join(os.Mkdir(filepath.Join(args[0], "page"), 0o777), rundir.System{}.SyncDir(args[0])); err != nil {
		return err
	}
	for version := 1; version <= outputVersions; version++ {
		out := outfile.New(ctx, io.Discard)
		file, err := out.File("--out", filepath.Join(args[0], "lab.csv"))
		if err != nil {
			return err
		}
		if err := file.Write(func(w io.Writer) error { _, err := w.Write(content("lab.csv", version)); return err }); err != nil {
			return err
		}
		if err := outfile.Write(filepath.Join(args[0], "study.toml"), content("study.toml", version)); err != nil {
			return err
		}
		if err := writePage(filepath.Join(args[0], "page"), version); err != nil {
			return err
		}
		fmt.Println("written", version)
	}
	return nil
}

func writePage(dir string, version int) error {
	return outfile.At(dir, "a page").Write(func(f *outfile.Files) error {
		for _, name := range pageFiles(version) {
			if err := f.PutBytes(name, content(name, version)); err != nil {
				return err
			}
		}
		return nil
	})
}

// versionOf is the version that a file is, 0 if it is not there; the test fails if it is none of them.
func versionOf(t *testing.T, dir, name string) int {
	t.Helper()
	got, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
	if os.IsNotExist(err) {
		return 0
	}
	must(t, err)
	for version := 1; version <= outputVersions; version++ {
		if string(got) == string(content(name, version)) {
			return version
		}
	}
	t.Errorf("%s is neither old nor new: %d bytes, %.30q", name, len(got), got)
	return -1
}

// TestOutputsAfterAPowerCut: a file is old or new, and whole. A page is one version of it if its index is that version, but while its files are being
// replaced, when they may be of the next. And the next call writes the folder as if nothing had happened.
func TestOutputsAfterAPowerCut(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	r := powercut.Record(t, root, faulttest.Command("outputs", root))
	r.Cuts(t, longtest.Of(120, 400), func(t *testing.T, c powercut.Cut) {
		for _, name := range []string{"lab.csv", "study.toml"} {
			versionOf(t, c.Dir, name)
		}
		page := filepath.Join(c.Dir, "page")
		shown := versionOf(t, page, "index.html")
		for _, name := range pageFiles(max(shown, 1)) {
			if v := versionOf(t, page, name); shown > 0 && v < shown && !strings.HasPrefix(name, "only/") || shown > 0 && v == 0 && strings.HasPrefix(name, "only/") {
				t.Errorf("the index is of version %d, %s of version %d", shown, name, v)
			}
		}
		if err := writePage(page, outputVersions+1); err != nil {
			t.Errorf("the folder cannot be written any more: %v", err)
		}
		for _, name := range pageFiles(outputVersions + 1) {
			got, err := os.ReadFile(filepath.Join(page, filepath.FromSlash(name)))
			if err != nil || string(got) != string(content(name, outputVersions+1)) {
				t.Errorf("%s was not written: %v", name, err)
			}
		}
		if left, _ := filepath.Glob(filepath.Join(page, "only", "*")); len(left) != 1 {
			t.Errorf("left over: %q", left)
		}
	})
}
