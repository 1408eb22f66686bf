package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// userFiles puts files of a user into a folder.
func userFiles(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// TestResultsLeaveAUsersFolderAlone names the folder of one's own paper as that of results: its README is named and nothing is written;
// what is not in the way does not matter.
func TestResultsLeaveAUsersFolderAlone(t *testing.T) {
	dir := t.TempDir()
	paper, out := filepath.Join(dir, "paper"), filepath.Join(dir, "out")
	userFiles(t, paper, map[string]string{"figures/mine.svg": "<svg/>", "README.md": "# thesis", "package.json": "{}"})
	before := contents(t, paper)
	call := []string{"reproduce", "tb-appD", "--scale", "quick", "--results", paper, "--out", out}
	_, said := called(t, exitFailed, call...)
	if !strings.Contains(said, filepath.Join(paper, "README.md")) || !strings.Contains(said, "another folder") {
		t.Errorf("it says %q", said)
	}
	if after := contents(t, dir); len(after) != len(before) {
		t.Errorf("%d files, there were %d", len(after), len(before))
	}
	for name, b := range before {
		if after := contents(t, paper); !bytes.Equal(after[name], b) {
			t.Errorf("%s is now %q", name, after[name])
		}
	}
}

// TestFoldersOfOthersStay calls every command that writes a folder with one that holds somebody's page, or what another command wrote: it
// says so before the work, and the folder stays.
func TestFoldersOfOthersStay(t *testing.T) {
	lab, _ := evilLab(t)
	dir := t.TempDir()
	page, other := filepath.Join(dir, "page"), filepath.Join(dir, "other")
	userFiles(t, page, map[string]string{"index.html": "mine", "README.md": "mine", "all/index.html": "mine"})
	userFiles(t, other, map[string]string{".collapse-files": "# what collapse wrote here: something else\n", "a.json": "{}"})
	before := contents(t, dir)
	pages := [][]string{{"demo", "--out"}, {"report", "--out"}, {"study", "report", "s", "--out"}, {"dilation", "--out"}, {"landscape", "--out"}, {"solve", "imbalanced", "--out"},
		{"solve", "sphere", "--out"}, {"reproduce", "tb-appD", "--out"}, {"reproduce", "--all", "--out"}, {"reproduce", "tb-appD", "--out", filepath.Join(dir, "new"), "--results"}}
	for _, call := range pages {
		call = append([]string{"--lab", lab}, call...)
		if _, said := called(t, exitFailed, append(call, page)...); !strings.Contains(said, "in the way: "+page) || !strings.Contains(said, "choose another folder") {
			t.Errorf("%v with a page of somebody's: %q", call, said)
		}
	}
	for _, call := range append(pages, []string{"results"}, []string{"export", "--tensorboard"}) {
		call = append([]string{"--lab", lab}, call...)
		if _, said := called(t, exitFailed, append(call, other)...); !strings.Contains(said, other) || !strings.Contains(said, "holds something else") {
			t.Errorf("%v with a folder of another command: %q", call, said)
		}
	}
	after := contents(t, dir)
	for name, b := range before {
		if !bytes.Equal(after[name], b) {
			t.Errorf("%s is now %q", name, after[name])
		}
	}
	if len(after) != len(before) {
		t.Errorf("%d files, there were %d", len(after), len(before))
	}
}

// TestAPageIsReplacedByTheNext writes two pages to a folder, one after the other: the first leaves nothing, a file of the user's stays, and a
// page that the user has changed is not replaced.
func TestAPageIsReplacedByTheNext(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out")
	called(t, exitOK, "dilation", "--out", out)
	userFiles(t, out, map[string]string{"figures/mine.svg": "<svg/>"})
	called(t, exitOK, "dilation", "--sweep", "eta=0.01,0.1", "--out", out)
	names, err := filepath.Glob(filepath.Join(out, "figures", "*.svg"))
	if err != nil || len(names) != 2 || filepath.Base(names[0]) != "mine.svg" {
		t.Errorf("figures %q, %v", names, err)
	}
	userFiles(t, out, map[string]string{"index.html": "edited"})
	before := contents(t, out)
	if _, said := called(t, exitFailed, "dilation", "--out", out); !strings.Contains(said, filepath.Join(out, "index.html")) {
		t.Error(said)
	}
	for name, b := range contents(t, out) {
		if !bytes.Equal(before[name], b) {
			t.Errorf("%s has changed", name)
		}
	}
	if _, said := called(t, exitUsage, "reproduce", "tb-appD", "--out", out+"2", "--results", out+"2"); !strings.Contains(said, "is the same folder") {
		t.Error(said)
	}
}

// TestATraceNeedsAFolderOfItsOwn: a trace goes into no folder that holds files.
func TestATraceNeedsAFolderOfItsOwn(t *testing.T) {
	dir := t.TempDir()
	userFiles(t, dir, map[string]string{"meta.json": "mine"})
	before := contents(t, dir)
	if _, said := called(t, exitFailed, "--lab", filepath.Join(dir, "lab"), "train", "--data", "glyphs", "--trace", dir); !strings.Contains(said, "is not empty") {
		t.Error(said)
	}
	if after := contents(t, dir); len(after) != 1 || !bytes.Equal(after[filepath.Join(dir, "meta.json")], before[filepath.Join(dir, "meta.json")]) {
		t.Errorf("%q", after)
	}
}
