package serve

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"collapse.example/collapse/internal/judge"
	"collapse.example/collapse/internal/store"
)

// TestOrderOfRuns sorts runs by a number, by text and by age, both ways; a run without the number is last either way.
func TestOrderOfRuns(t *testing.T) {
	row := func(name string, epoch int64, nc1 float64) runRow {
		values := []store.Value{{Key: store.Key{Series: "epoch", Split: "train", Measure: "nc1_pinv"}, Step: 1, Value: nc1}}
		if nc1 == 0 {
			values[0].Missing = "none"
		}
		run, err := judge.NewRun(store.Run{LastEpoch: epoch}, values)
		if err != nil {
			t.Fatal(err)
		}
		return runRow{Run: run, Name: name}
	}
	for sort, want := range map[string]string{"": "bcad", "-": "dacb", "nonsense": "bcad", "name": "abcd", "-name": "dcba", "nc1": "abdc", "-nc1": "dbac", "epoch": "bdac", "-epoch": "cabd"} {
		rows := []runRow{row("b", 1, 2), row("c", 3, 0), row("a", 2, 1), row("d", 1, 3)}
		o, known := orderOf(url.Values{"sort": {sort}}, "/study?study=x", nil)
		o.sort(rows)
		got := ""
		for _, r := range rows {
			got += r.Name
		}
		if got != want {
			t.Errorf("sort=%s: %s, want %s", sort, got, want)
		}
		u, err := url.Parse(o.URL())
		if err != nil || known == (sort == "nonsense") {
			t.Fatalf("sort=%s: known is %v, %v", sort, known, err)
		}
		if again, _ := orderOf(u.Query(), "", nil); again.name != o.name || again.reversed != o.reversed {
			t.Errorf("sort=%s: its address is %s", sort, o.URL())
		}
	}
	byNC1, _ := orderOf(url.Values{"sort": {"nc1"}}, "/study?study=x", nil)
	if by := byNC1.By("nc1"); !by.Chosen || by.Arrow != "↑" || by.URL != "/study?study=x&sort=-nc1#list" {
		t.Errorf("the head of the chosen column is %+v", by)
	}
	if by := byNC1.By("name"); by.Chosen || by.Arrow != "" || by.URL != "/study?study=x&sort=name#list" {
		t.Errorf("the head of another column is %+v", by)
	}
}

// TestStatesLinkToTheirWords: what is said of a run is explained where its chip leads.
func TestStatesLinkToTheirWords(t *testing.T) {
	s := startTest(t, Options{Lab: t.TempDir()})
	_, words := get(t, http.DefaultClient, "GET", s.URL()+"words", nil)
	for _, state := range []judge.State{judge.Early, judge.Degenerate} {
		var b strings.Builder
		run := struct {
			Status    string
			Cancelled bool
			States    []judge.State
		}{"done", false, []judge.State{state}}
		if err := templates().ExecuteTemplate(&b, "state", run); err != nil {
			t.Fatal(err)
		}
		m := regexp.MustCompile(`href="/words#([^"]+)"[^>]*>` + state.Name + `</a>`).FindStringSubmatch(b.String())
		if m == nil || !strings.Contains(words, ` id="`+m[1]+`"`) {
			t.Errorf("%s: %s leads to nothing on the page of words", state.Name, b.String())
		}
	}
}
