package queue

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestWhatIsSetAsideIsCountedAndToldNowAndThen: the last few are kept, texts fit a line, a result that arrives again counts once,
// and an earlier coordinator's count continues.
func TestWhatIsSetAsideIsCountedAndToldNowAndThen(t *testing.T) {
	told := 0
	c := deaf(t)
	c.b.opt.Logf = func(string, ...any) { told++ }
	for i := range 1000 {
		c.SetAside(fmt.Sprint("number ", i), i, errors.New("useless"))
	}
	if told != loggedAside+6 { // and at 16, 32, …, 512
		t.Errorf("told %d times", told)
	}
	c.asideResult("result", 1, 7, errors.New("useless"))
	c.asideResult("result", 1, 7, errors.New("useless"))
	c.asideResult("result", 1, 6, errors.New("useless"))
	c.asideResult("another", 1, 8, errors.New("useless"))
	c.SetAside("a\x1b[2J\n"+strings.Repeat("x", 1000), 3, errors.New("b\x1b[2J\n"+strings.Repeat("x", 9000)))
	tally := c.Unusable()
	if tally.Count != 1003 || len(tally.Last) != keptAside {
		t.Fatalf("%d set aside, %d kept", tally.Count, len(tally.Last))
	}
	whats := func(tally Tally) (list []string) {
		for _, a := range tally.Last {
			list = append(list, a.What[:min(len(a.What), 10)])
		}
		return list
	}
	if got := whats(tally); !slices.Equal(got, []string{"number 998", "number 999", "result", "another", "a?[2J?xxxx"}) {
		t.Errorf("kept %q", got)
	}
	if last := tally.Last[4]; len(last.What) > longestName || len(last.Why) > longestText/8 || !strings.HasPrefix(last.Why, "b?[2J?xxx") || last.Bytes != 3 || last.Time.IsZero() {
		t.Errorf("%+v", last)
	}
	tally.Last[0].What = "changed"
	if c.Unusable().Last[0].What == "changed" {
		t.Error("the caller can change it")
	}
	c.CountOn(Tally{Count: 40, Last: []SetAside{{What: "long ago"}}})
	if now := c.Unusable(); now.Count != 1043 || now.Last[0].What != "number 998" {
		t.Errorf("%d set aside, kept %q", now.Count, whats(now))
	}
	next := deaf(t)
	next.SetAside("new", 1, errors.New("useless"))
	next.CountOn(Tally{Count: 2, Last: []SetAside{{What: "first"}, {What: "second"}}})
	if now := next.Unusable(); now.Count != 3 || !slices.Equal(whats(now), []string{"first", "second", "new"}) {
		t.Errorf("%d set aside, kept %q", now.Count, whats(now))
	}
}
