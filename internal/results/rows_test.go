package results_test

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

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

// Whatever the rows give otherwise is found, where it stands, but for the date and the version of the program.
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
		{func(r *results.Recipe) { r.Program, r.Date = "other", time.Now() }, ""},
		{func(r *results.Recipe) { r.Runs = 7 }, "a: runs is 12; the rows give 7"},
		{func(r *results.Recipe) { r.Command = "collapse demo" }, `; the rows give "collapse demo"`},
		{func(r *results.Recipe) { r.Claims[0].Reason = strings.Repeat("x", 300) + "y" }, "; the rows give "},
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

// Of long texts that part late, the place where they part is shown.
func TestCheckShowsWhereTextsPart(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "r")
	r := drawn()
	r.Notes = []string{strings.Repeat("x", 300) + "é one" + strings.Repeat("y", 300)}
	if err := results.Save(outfile.At(dir, results.Kind), r); err != nil {
		t.Fatal(err)
	}
	audit, err := results.Check(dir, func(r results.Recipe) (*results.Recipe, error) {
		r.Notes = []string{strings.Repeat("x", 300) + "é two"}
		return &r, nil
	})
	want := "a: notes[0] is …" + strings.Repeat("x", 17) + "é one" + strings.Repeat("y", 200-25-1)
	if err != nil || len(audit.Different) != 1 || !strings.HasPrefix(audit.Different[0].String(), want[:60]) || !strings.HasSuffix(audit.Different[0].String(), `é two"`) || len(audit.Different[0].What) > 400 {
		t.Errorf("%+v, %v", audit.Different, err)
	}
}

// A recipe without rows is not counted as compared, and of one that cannot be made again the reason is told.
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
	audit, err = results.Check(dir, func(results.Recipe) (*results.Recipe, error) { return nil, broken })
	if err != nil || len(audit.NoRows) != 1 || audit.NoRows[0].String() != "a: no such measure" || audit.FromRows != 0 {
		t.Errorf("%+v, %v", audit, err)
	}
}
