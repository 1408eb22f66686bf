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
