package results_test

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"collapse.example/collapse/internal/chart"
	"collapse.example/collapse/internal/judge"
	"collapse.example/collapse/internal/outfile"
	"collapse.example/collapse/internal/results"
)

// drawn is a recipe with two points in its figure.
func drawn() results.Recipe {
	r := some("a", judge.Holds)
	r.CoreHours, r.Figures = 2, []chart.Figure{{ID: "f", Panels: []chart.Panel{{ID: "p", Series: []chart.Series{{ID: "s", Kind: chart.Points, X: []float64{1, 2}, Y: []float64{0.25, 0.5}}}}}}}
	return r
}

// Whatever the rows give otherwise is found, where it stands; who made the file, when, and how many runs have not ended are not about the rows.
func TestCheckComparesWithWhatTheRowsGive(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "r")
	if err := results.Save(outfile.At(dir, results.Kind), drawn()); err != nil {
		t.Fatal(err)
	}
	points := func(r *results.Recipe) *chart.Series { return &r.Figures[0].Panels[0].Series[0] }
	for _, c := range []struct {
		change func(r *results.Recipe)
		want   string
	}{
		{func(r *results.Recipe) {}, ""},
		{func(r *results.Recipe) { r.Program, r.Machine, r.Runs, r.Failed = "other", "other", 7, 3 }, ""},
		{func(r *results.Recipe) { points(r).Y[1] = 0.5 + 1e-12 }, ""},
		{func(r *results.Recipe) { points(r).Y[1] = 0.5 + 1e-6 }, "a: figures[0].panels[0].series[0].y[1] is 0.5; the rows give 0.500001"},
		{func(r *results.Recipe) { points(r).X = points(r).X[:1] }, "a: figures[0].panels[0].series[0].x[1] is 2; the rows give nothing"},
		{func(r *results.Recipe) { points(r).X = append(points(r).X, 3) }, "a: figures[0].panels[0].series[0].x[2] is nothing; the rows give 3"},
		{func(r *results.Recipe) { r.CoreHours = 0 }, "a: core_hours is 2; the rows give nothing"},
		{func(r *results.Recipe) { r.Notes = append(slices.Clone(r.Notes), "more") }, `the rows give`},
		{func(r *results.Recipe) { r.Claims[0].Verdict = judge.Fails }, `a: claims[0].verdict is "holds"; the rows give "does not hold"`},
		{func(r *results.Recipe) { r.Claims[0].Statistics = []string{"more"} }, "claims[0].statistics"},
	} {
		audit, err := results.Check(dir, func(r results.Recipe) (*results.Recipe, error) {
			r.Claims, r.Figures = slices.Clone(r.Claims), drawn().Figures
			c.change(&r)
			return &r, nil
		})
		if err != nil || audit.FromRows != 1 || audit.Numbers < 5 {
			t.Fatalf("%+v, %v", audit, err)
		}
		got := ""
		for _, d := range audit.Different {
			got += d.String()
		}
		if c.want == "" && got != "" || !strings.Contains(got, c.want) {
			t.Errorf("%q, wanted %q", got, c.want)
		}
	}
}

// A recipe without rows is not counted as compared, and one that cannot be made again is an error.
func TestCheckOfWhatHasNoRows(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "r")
	if err := results.Save(outfile.At(dir, results.Kind), drawn()); err != nil {
		t.Fatal(err)
	}
	audit, err := results.Check(dir, func(results.Recipe) (*results.Recipe, error) { return nil, nil })
	if err != nil || audit.FromRows != 0 || audit.Numbers != 0 || len(audit.Different) != 0 {
		t.Errorf("%+v, %v", audit, err)
	}
	broken := errors.New("no such measure")
	if _, err := results.Check(dir, func(results.Recipe) (*results.Recipe, error) { return nil, broken }); !errors.Is(err, broken) || !strings.Contains(err.Error(), "a: no such measure") {
		t.Errorf("%v", err)
	}
}
