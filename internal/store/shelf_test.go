package store

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

// shelved is a lab with the studies a and b, of one run each.
func shelved(t *testing.T) *Lab {
	t.Helper()
	lab := open(t, t.TempDir())
	for _, name := range []string{"a", "b"} {
		must(t, lab.SaveStudy(name, "Title of "+name, "source "+name, []Member{{Spec: Spec{Kind: Script, Config: []byte(`{"name":"` + name + `"}`)}}}))
	}
	return lab
}

func TestRenamedStudies(t *testing.T) {
	lab := shelved(t)
	must(t, lab.SetRemark("a", "mine"))
	must(t, lab.SetRemark("b", "of one that is gone"))
	must(t, lab.RemoveStudy("b")) // its remark stays, for a study of that name
	must(t, lab.ArchiveStudy("a", true))
	must(t, lab.TagStudy("a", []string{"mine"}, nil))
	before, err := lab.StudyRevision()
	must(t, err)
	must(t, lab.RenameStudy("a", "b", "new source"))
	s, err := lab.Study("b")
	if err != nil || s.Title != "Title of a" || s.Source != "new source" || s.Runs != 1 {
		t.Errorf("%+v, %v", s, err)
	}
	words, err := lab.Remark("b")
	archived, bad := lab.ArchivedStudies()
	if after, bad := lab.StudyRevision(); err != nil || words != "mine" || bad != nil || after == before {
		t.Errorf("remark %q, revision %s after %s, %v, %v", words, after, before, err, bad)
	}
	if bad != nil || !archived["b"] || len(archived) != 1 {
		t.Errorf("archived: %v, %v", archived, bad)
	}
	if tags, err := lab.StudyTags(); err != nil || len(tags["b"]) != 1 || len(tags) != 1 {
		t.Errorf("tags: %q, %v", tags, err)
	}
	var missing *StudyNotFoundError
	if err := lab.RenameStudy("a", "c", ""); !errors.As(err, &missing) {
		t.Errorf("of no study: %v", err)
	}
}

func TestNamesThatStudiesDoNotGet(t *testing.T) {
	lab := shelved(t)
	if err := lab.RenameStudy("a", "b", ""); err == nil || !strings.Contains(err.Error(), `a study "b" already`) {
		t.Errorf("the name of another: %v", err)
	}
	lease, _, err := lab.Lease(Spec{Kind: Script, Config: []byte(`{"name":"a"}`)})
	must(t, err)
	if err := lab.RenameStudy("a", "c", ""); err == nil || !strings.Contains(err.Error(), "under way") {
		t.Errorf("while a run is under way: %v", err)
	}
	must(t, lease.Interrupt())
	must(t, lab.RenameStudy("a", "c", ""))
}

func TestArchivedStudies(t *testing.T) {
	lab := shelved(t)
	for range 2 { // again changes nothing
		must(t, lab.ArchiveStudy("a", true))
	}
	if got, err := lab.ArchivedStudies(); err != nil || len(got) != 1 || !got["a"] {
		t.Errorf("%v, %v", got, err)
	}
	if s, err := lab.Study("a"); err != nil || s.Cancelled || s.Runs != 1 {
		t.Errorf("an archived study is otherwise as it was: %+v, %v", s, err)
	}
	must(t, lab.ArchiveStudy("a", false))
	must(t, lab.ArchiveStudy("b", true))
	must(t, lab.SaveStudy("b", "", "", nil)) // computed again
	if got, err := lab.ArchivedStudies(); err != nil || len(got) != 0 {
		t.Errorf("%v, %v", got, err)
	}
	var missing *StudyNotFoundError
	if err := lab.ArchiveStudy("none", true); !errors.As(err, &missing) {
		t.Errorf("%v", err)
	}
}

func TestTagsOfStudies(t *testing.T) {
	lab := shelved(t)
	for range 2 { // again changes nothing
		must(t, lab.TagStudy("a", []string{"paper", "draft", "v 2"}, nil))
	}
	must(t, lab.TagStudy("b", []string{"paper"}, []string{"none"}))
	must(t, lab.TagStudy("a", nil, []string{"draft"}))
	must(t, lab.SaveStudy("a", "", "", nil)) // computed again
	if got, err := lab.StudyTags(); err != nil || !slices.Equal(got["a"], []string{"paper", "v 2"}) || !slices.Equal(got["b"], []string{"paper"}) {
		t.Errorf("%q, %v", got, err)
	}
	must(t, lab.RemoveStudy("b"))
	if got, err := lab.StudyTags(); err != nil || len(got) != 1 {
		t.Errorf("of a study that is gone: %q, %v", got, err)
	}
	var missing *StudyNotFoundError
	if err := lab.TagStudy("none", []string{"x"}, nil); !errors.As(err, &missing) {
		t.Errorf("%v", err)
	}
	for _, tag := range []string{"", "two\nlines", strings.Repeat("x", longestWords+1)} {
		if err := lab.TagStudy("a", []string{"good", tag}, nil); err == nil {
			t.Errorf("%.20q: no error", tag)
		}
	}
	if got, err := lab.StudyTags(); err != nil || len(got["a"]) != 2 {
		t.Errorf("after tags that are refused: %q, %v", got, err)
	}
}
