package serve

import (
	"net/url"
	"slices"
	"strings"
	"testing"

	"collapse.example/collapse/internal/figure"
	"collapse.example/collapse/internal/judge"
	"collapse.example/collapse/internal/store"
)

// someRuns are eight runs: two losses, four noise levels.
func someRuns(t *testing.T) (rows []runRow, settings []string) {
	t.Helper()
	var runs []judge.Run
	for i, noise := range []string{"0", "0.05", "0.1", "0.2", "0", "0.05", "0.1", "0.2"} {
		status := store.Done
		if i == 3 {
			status = store.Failed
		}
		loss := []string{"ce", "ls"}[i/4]
		runs = append(runs, judge.Run{Run: store.Run{Hash: strings.Repeat(string(rune('a'+i)), 64), Status: status}, Loss: loss,
			Settings: map[string]string{"loss.kind": loss, "data.noise": noise, "run.epochs": "5"}})
	}
	for i, name := range judge.Names(runs) {
		rows = append(rows, runRow{Run: runs[i], Name: name})
	}
	return rows, figure.Varied(runs)
}

func firsts(rows []runRow) (out string) {
	for _, r := range rows {
		out += r.Hash[:1]
	}
	return out
}

func TestFilterOfRuns(t *testing.T) {
	rows, settings := someRuns(t)
	if !slices.Equal(settings, []string{"data.noise", "loss.kind"}) {
		t.Fatalf("the runs differ in %q", settings)
	}
	for query, want := range map[string]string{
		"":                              "abcdefgh",
		"data.noise=0.2":                "dh",
		"data.noise=0.2&data.noise=0":   "adeh",
		"data.noise=0.1&loss.kind=ls":   "g",
		"data.noise=":                   "abcdefgh", // any
		"state=failed":                  "d",
		"find=SMOOTHING&state=done":     "efgh",
		"loss.kind=ls&sort=-data.noise": "hgfe",
		"loss.kind=ls&sort=data.noise":  "efgh",
		"data.noise=0.3":                "",
	} {
		q, err := url.ParseQuery(query)
		if err != nil {
			t.Fatal(err)
		}
		l := listOf(q, rows, settings)
		if got := firsts(l.Rows); got != want || l.Matching != len(want) || l.All != 8 {
			t.Errorf("%s: %s, %d of %d, want %s", query, got, l.Matching, l.All, want)
		}
		// The address of a page of the list holds all of it.
		u, err := url.Parse(l.PageURL(1))
		if err != nil {
			t.Fatal(err)
		}
		if again := listOf(u.Query(), rows, settings); firsts(again.Rows) != want {
			t.Errorf("%s: its address %s gives %s", query, u, firsts(again.Rows))
		}
	}
}

// TestUnknownNamesAreSaid: nothing that an address asks for is ignored without a word, and no answer is long.
func TestUnknownNamesAreSaid(t *testing.T) {
	rows, settings := someRuns(t)
	for query, want := range map[string]string{
		"data.noise=0.3":   `No run has data.noise = "0.3"; there is 0, 0.05, 0.1, 0.2.`,
		"data.noize=0.2":   `No run here has a setting "data.noize". Did you mean data.noise?`,
		"state=stuck":      `No run is ever called "stuck"; the states are done, running, pending, interrupted, failed, unfitted, degenerate, zero solution, minority at zero, minority collapse.`,
		"sort=-beauty":     `Runs cannot be sorted by "beauty".`,
		"page=last":        `There is no page "last" of this list.`,
		"again=1":          `No run here has a setting "again".`,
		"state=failed":     "",
		"sort=-data.noise": "",
		"page=7":           "",
	} {
		q, err := url.ParseQuery(query)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(listOf(q, rows, settings).Say, " "); got != want {
			t.Errorf("%s: %q, want %q", query, got, want)
		}
	}
	q := url.Values{}
	for range 100 {
		q.Add("a."+strings.Repeat("x", len(q)), strings.Repeat("<", 5000))
	}
	if said := listOf(q, rows, settings).Say; len(said) > mostProblems || len(strings.Join(said, "")) > 5000 {
		t.Errorf("%d sentences of %d bytes", len(said), len(strings.Join(said, "")))
	}
}

// TestChosenRunsStay: runs that were chosen on another page of the list are still chosen.
func TestChosenRunsStay(t *testing.T) {
	rows, settings := someRuns(t)
	l := listOf(url.Values{"run": {"bbbb", "hhhh"}, "data.noise": {"0.2"}}, rows, settings)
	if !l.Ticked(rows[7].Hash) || l.Ticked(rows[3].Hash) || !slices.Equal(l.Elsewhere(), []string{"bbbb"}) {
		t.Errorf("ticked %v %v, elsewhere %q", l.Ticked(rows[7].Hash), l.Ticked(rows[3].Hash), l.Elsewhere())
	}
	for _, address := range []string{l.Head("nc1").URL, l.PageURL(2), l.Newest()} {
		u, err := url.Parse(address)
		if err != nil || !slices.Equal(u.Query()["run"], []string{"bbbb", "hhhh"}) || u.Query().Get("data.noise") != "0.2" {
			t.Errorf("%s loses what was chosen (%v)", address, err)
		}
	}
}

func TestOffers(t *testing.T) {
	rows, settings := someRuns(t)
	l := listOf(url.Values{"data.noise": {"0.1"}}, rows, settings)
	if len(l.Offers) != 2 || len(l.Offers[0].Choices) != 4 || !l.Offers[0].Choices[2].Chosen || l.By != "loss.kind" || l.Offers[0].Choices[3].Chosen || len(l.States) != 2 {
		t.Errorf("%+v, %+v", l.Offers, l.States)
	}
}

// TestSettingsThatAreCalledAsAPartOfTheAddress are offered under another name there, and chosen by it.
func TestSettingsThatAreCalledAsAPartOfTheAddress(t *testing.T) {
	rows, _ := someRuns(t)
	for i := range rows {
		rows[i].Settings["state"] = []string{"solid", "fluid"}[i%2]
	}
	f := filterOf(url.Values{"setting.state": {"fluid"}, "state": {"done"}})
	if f.state != "done" || f.query().Get("setting.state") != "fluid" || f.query().Get("state") != "done" || len(f.problems(rows)) > 0 {
		t.Errorf("%+v, %v, %q", f, f.query(), f.problems(rows))
	}
	if got := firsts(slices.DeleteFunc(slices.Clone(rows), func(r runRow) bool { return !f.takes(&r) })); got != "bfh" {
		t.Errorf("it takes %s", got)
	}
	if offers := f.offers(rows, []string{"state"}); len(offers) != 1 || offers[0].Key != "state" || offers[0].Field != "setting.state" || !offers[0].Choices[0].Chosen {
		t.Errorf("%+v", offers)
	}
}
