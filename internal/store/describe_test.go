package store

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

func TestTagsAndLabels(t *testing.T) {
	l := open(t, t.TempDir())
	run, err := l.Ensure(spec(1))
	must(t, err)
	must(t, l.SetLabel(run.Hash, "the odd one <b>"))
	must(t, l.Tag(run.Hash, "to look at"))
	must(t, l.Tag(run.Hash, "to look at")) // twice is once
	must(t, l.Tag(run.Hash, "other"))
	must(t, l.Untag(run.Hash, "other"))
	must(t, l.Untag(run.Hash, "never had"))
	run, err = l.Run(run.Hash)
	must(t, err)
	if run.Label != "the odd one <b>" || !slices.Equal(run.Tags, []string{"to look at"}) {
		t.Errorf("%q %q", run.Label, run.Tags)
	}
	must(t, l.SetLabel(run.Hash, ""))
	if run, err = l.Run(run.Hash); err != nil || run.Label != "" {
		t.Errorf("%q, %v", run.Label, err)
	}
	var missing *NotFoundError
	for _, err := range []error{l.SetLabel(strings.Repeat("0", 64), "x"), l.Tag(strings.Repeat("0", 64), "x")} {
		if !errors.As(err, &missing) {
			t.Errorf("a run that is not there: %v", err)
		}
	}
	for _, words := range []string{strings.Repeat("ä", longestWords+1), "two\nlines", "\x1b[2J", "\xff"} {
		if l.SetLabel(run.Hash, words) == nil || l.Tag(run.Hash, words) == nil {
			t.Errorf("%q is taken", words)
		}
	}
	if l.Tag(run.Hash, "") == nil {
		t.Error("an empty tag is taken")
	}
	must(t, l.Tag(run.Hash, strings.Repeat("ä", longestWords)))
}

func TestRemarks(t *testing.T) {
	dir := t.TempDir()
	l := open(t, dir)
	must(t, l.SaveStudy("mine", "", "", []Member{{Spec: spec(1)}}))
	is := func(want string) {
		t.Helper()
		if got, err := l.Remark("mine"); err != nil || got != want {
			t.Errorf("%q, %v; want %q", got, err, want)
		}
	}
	is("")
	must(t, l.SetRemark("mine", "first"))
	must(t, l.SetRemark("mine", "second"))
	must(t, l.SaveStudy("mine", "", "", []Member{{Spec: spec(2)}})) // computed again
	is("second")
	for _, bad := range []string{"two\nlines", strings.Repeat("x", longestRemark+1), "\xff"} {
		if l.SetRemark("mine", bad) == nil {
			t.Errorf("%.10q is taken", bad)
		}
	}
	is("second")
	must(t, l.SetRemark("mine", ""))
	is("")
	var missing *StudyNotFoundError
	if err := l.SetRemark("nobody", "x"); !errors.As(err, &missing) {
		t.Errorf("of an unknown study: %v", err)
	}
	r := &Reader{schema: remarks - 1} // an older lab has none
	if got, err := r.Remark("mine"); got != "" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
}
