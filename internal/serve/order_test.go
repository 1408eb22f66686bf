package serve

import (
	"net/url"
	"testing"

	"collapse/internal/judge"
	"collapse/internal/store"
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
	for sort, want := range map[string]string{"": "bcad", "-": "dacb", "nonsense": "bcad", "name": "abcd", "-name": "dcba", "nc1": "dbac", "-nc1": "abdc", "epoch": "cabd", "-epoch": "bdac"} {
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
	if by := byNC1.By("nc1"); !by.Chosen || by.Arrow != "↓" || by.URL != "/study?study=x&sort=-nc1" {
		t.Errorf("the head of the chosen column is %+v", by)
	}
	if by := byNC1.By("name"); by.Chosen || by.Arrow != "" || by.URL != "/study?study=x&sort=name" {
		t.Errorf("the head of another column is %+v", by)
	}
}
