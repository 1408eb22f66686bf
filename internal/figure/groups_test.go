package figure

import (
	"fmt"
	"testing"

	"collapse.example/collapse/internal/chart"
	"collapse.example/collapse/internal/judge"
	"collapse.example/collapse/internal/store"
)

// ofSettings are runs with a setting of these values and one measured epoch, whose NC1 is the position.
func ofSettings(t *testing.T, key string, values ...string) (runs []judge.Run) {
	t.Helper()
	for i, v := range values {
		run, err := judge.NewRun(store.Run{Hash: fmt.Sprint(i), Status: store.Done}, []store.Value{{Key: store.Key{Series: "epoch", Split: "train", Measure: "nc1_pinv"}, Step: 1, Value: float64(1 + i)}})
		if err != nil {
			t.Fatal(err)
		}
		run.Loss, run.Settings = "ls", map[string]string{key: v}
		runs = append(runs, run)
	}
	return runs
}

func TestGroups(t *testing.T) {
	runs := ofSettings(t, "data.noise", "0.2", "0.05", "0.2", "0.1")
	runs[3].Settings = map[string]string{}
	groups := Groups(runs, "data.noise")
	if len(groups) != 2 || groups[0].Value != "0.05" || groups[1].Value != "0.2" || len(groups[1].Runs) != 2 {
		t.Fatalf("%+v", groups)
	}
	p := GroupCurves(groups)
	if len(p.Panels) != 1 || len(p.Panels[0].Series) != 3 {
		t.Fatalf("%+v", p.Panels)
	}
	band, first, second := p.Panels[0].Series[0], p.Panels[0].Series[1], p.Panels[0].Series[2]
	if band.Kind != chart.Band || band.YLo[0] != 1 || band.YHi[0] != 3 || first.Y[0] != 2 || second.Y[0] != 2 || second.Label != "η = 0.2" {
		t.Errorf("%+v", p.Panels[0].Series)
	}
}

// TestMoreCurvesThanColours: they share colours, and are drawn.
func TestMoreCurvesThanColours(t *testing.T) {
	var values []string
	for i := range 2*chart.DataColors + 3 {
		values = append(values, fmt.Sprint(i))
	}
	p := GroupCurves(Groups(ofSettings(t, "run.seed", values...), "run.seed"))
	used := map[chart.Color]int{}
	for _, s := range p.Panels[0].Series {
		used[s.Color]++
	}
	if len(p.Panels[0].Series) != len(values) || len(used) != chart.DataColors {
		t.Errorf("%d curves in %d colours, wanted %d in %d", len(p.Panels[0].Series), len(used), len(values), chart.DataColors)
	}
}

func TestAgainstASetting(t *testing.T) {
	runs := ofSettings(t, "data.noise", "0.2", "0", "0.2", "0.1")
	p := AgainstSetting(Groups(runs, "data.noise"), "data.noise")
	if len(p.Panels) != 1 || len(p.Panels[0].Series) != 1 {
		t.Fatalf("%+v", p.Panels)
	}
	s := p.Panels[0].Series[0]
	if fmt.Sprint(s.X, s.Y, s.YLo, s.YHi) != "[0 0.1 0.2] [2 4 2] [2 4 1] [2 4 3]" {
		t.Errorf("%v %v %v %v", s.X, s.Y, s.YLo, s.YHi)
	}
	for _, values := range [][]string{{"0", "0.1", "0.1"}, {"a", "b", "c"}} {
		if p := AgainstSetting(Groups(ofSettings(t, "net.kind", values...), "net.kind"), "net.kind"); len(p.Panels) > 0 {
			t.Errorf("%v is drawn", values)
		}
	}
}
