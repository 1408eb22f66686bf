//go:build unix

package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestAStudyGetsAnotherName: the study has it everywhere, its file of the lab, too; what no study can be called is refused.
func TestAStudyGetsAnotherName(t *testing.T) {
	file, lab := scriptStudy(t, scriptGrid)
	called(t, 0, "--lab", lab, "study", "run", file)
	out, errs := called(t, 0, "--lab", lab, "study", "rename", "mine", "yours")
	if !strings.Contains(out, "mine is now called yours") || !strings.Contains(errs, "write the new name into its file, too") {
		t.Errorf("%s%s", out, errs)
	}
	nameless, other := scriptStudy(t, strings.Replace(scriptGrid, "name = \"mine\"\n", "", 1))
	called(t, 0, "--lab", other, "study", "run", nameless)
	name := strings.TrimSuffix(filepath.Base(nameless), ".toml")
	if _, errs := called(t, 0, "--lab", other, "study", "rename", name, "yours"); !strings.Contains(errs, `write name = "yours" under [study] of its file, too: computed again, the file makes a study `+name) {
		t.Error(errs)
	}
	if out, errs := called(t, 0, "--lab", other, "study", "tag", "yours", "--remove", "nope"); !strings.Contains(errs, "yours has no tag nope") {
		t.Error(out, errs)
	}
	if out, errs := called(t, 0, "--lab", other, "study", "list", "--tag", "papr"); !strings.Contains(out+errs, "no study has the tag papr") {
		t.Error(out, errs)
	}
	for wrong, want := range map[string]string{"a b": "wanted Latin letters", "yours": "already"} {
		if _, errs := called(t, map[bool]int{true: exitUsage, false: 1}[wrong == "a b"], "--lab", lab, "study", "rename", "yours", wrong); !strings.Contains(errs, want) {
			t.Errorf("%q: %s", wrong, errs)
		}
	}
	called(t, 1, "--lab", lab, "study", "status", "mine")
	if out, _ := called(t, 0, "--lab", lab, "study", "status", "yours"); !strings.Contains(out, "2 done") {
		t.Error(out)
	}
	// What the lab has of the file, written to a file, is the study of the new name: nothing is left to compute.
	for quote, in := range map[string]string{`"mine"`: "name = \"mine\"", `'mine'`: "  name='mine'"} {
		if at := named.FindStringSubmatch("[study]\n" + in + "\n"); at == nil || at[2] != quote {
			t.Errorf("%s: %q", in, at)
		}
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(strings.Replace(string(text), `"mine"`, `"yours"`, 1)), 0o666); err != nil {
		t.Fatal(err)
	}
	if out, errs := called(t, 0, "--lab", lab, "study", "run", file); !strings.Contains(out+errs, "yours: 2 of 2 runs done") || strings.Contains(errs, "earlier version") {
		t.Errorf("%s%s", out, errs)
	}
}

// TestArchivedStudiesAreNotListed unless all are asked for; computing one brings it back.
func TestArchivedStudiesAreNotListed(t *testing.T) {
	file, lab := scriptStudy(t, scriptGrid)
	called(t, 0, "--lab", lab, "study", "run", file)
	called(t, 1, "--lab", lab, "study", "archive", "mine", "nosuch")
	lists := func(listed bool, note string, args ...string) {
		t.Helper()
		out, errs := called(t, 0, append([]string{"--lab", lab, "study", "list"}, args...)...)
		if strings.Contains(out, "mine") != listed || !strings.Contains(errs, note) || note == "" && strings.Contains(errs, "archived") {
			t.Errorf("%v: %s%s", args, out, errs)
		}
	}
	lists(true, "")
	called(t, 0, "--lab", lab, "study", "archive", "mine")
	lists(false, "1 study is archived")
	lists(true, "", "--all")
	if out, _ := called(t, 0, "--lab", lab, "study", "list", "--all"); !strings.Contains(out, "done, archived") {
		t.Error(out)
	}
	called(t, 0, "--lab", lab, "study", "archive", "--undo", "mine")
	lists(true, "")
	called(t, 0, "--lab", lab, "study", "archive", "mine")
	called(t, 0, "--lab", lab, "study", "run", file)
	lists(true, "")
}

// TestTagsFindStudies: tags are given, shown, found by, and taken away.
func TestTagsFindStudies(t *testing.T) {
	file, lab := scriptStudy(t, scriptGrid)
	called(t, 0, "--lab", lab, "study", "run", file)
	study := func(want string, args ...string) {
		t.Helper()
		if out, _ := called(t, 0, append([]string{"--lab", lab, "study"}, args...)...); !strings.Contains(out, want) {
			t.Errorf("%v: %s; wanted %q", args, out, want)
		}
	}
	study("mine has no tags", "tag", "mine")
	study("mine: draft, paper 2", "tag", "mine", "paper 2,draft")
	study("TAGS", "list")
	study("draft, paper 2", "list", "--tag", "paper 2")
	study("mine: paper 2", "tag", "mine", "--remove", "draft,other")
	if out, _ := called(t, 0, "--lab", lab, "study", "list", "--tag", "draft"); strings.Contains(out, "mine") {
		t.Error(out)
	}
	study("no tags", "tag", "mine", "--remove", "paper 2")
	called(t, 1, "--lab", lab, "study", "tag", "mine", "two\nlines")
	called(t, 1, "--lab", lab, "study", "tag", "nosuch", "x")
}
