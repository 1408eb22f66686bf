package results

import (
	"bytes"
	"encoding/json"
	"flag"
	"io/fs"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"testing"

	"collapse.example/collapse/internal/chart"
	"collapse.example/collapse/internal/zipped"
)

var update = flag.Bool("update", false, "write shipped.json anew")

// TestShippedIsTheResult: what the program carries is what docs/results/standard say.
func TestShippedIsTheResult(t *testing.T) {
	text, err := os.ReadFile("../../docs/results/standard/md-fig1.json")
	if err != nil {
		t.Fatal(err)
	}
	var whole Recipe
	if err := json.Unmarshal(text, &whole); err != nil {
		t.Fatal(err)
	}
	want, err := encode(shorten(whole))
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile("shipped.json", want, 0o644); err != nil {
			t.Fatal(err)
		}
		if said, err := exec.Command("go", "generate", ".").CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, said)
		}
		return // the next build has it
	}
	if held, err := fs.ReadFile(zipped.Files(packed), "shipped.json"); err != nil || !bytes.Equal(held, want) {
		t.Errorf("the program does not hold the result of docs/results/standard (%v): go test ./internal/results -run Shipped -update", err)
	}
	got, err := Shipped()
	if err != nil || got.Scale != "standard" || len(got.Claims) != len(whole.Claims) || len(got.Figures) != 1 {
		t.Errorf("the program carries %d claims of %s, %v", len(got.Claims), got.ID, err)
	}
	for i, c := range got.Claims {
		if c.Verdict != whole.Claims[i].Verdict || c.Reason != whole.Claims[i].Reason || c.Effect.Pooled == nil && len(c.Effect.Cells) == 0 {
			t.Errorf("the claim %s is another", c.ID)
		}
	}
}

// shorten leaves of a result what a page shows beside other runs: of the first figure the means with their spread, to five digits, and
// of each claim the effect over all cells.
func shorten(r Recipe) Recipe {
	r.Notes, r.Changed = nil, nil
	r.Figures = slices.Clone(r.Figures[:min(1, len(r.Figures))])
	for i, f := range r.Figures {
		f.Panels, f.Notes = slices.Clone(f.Panels), nil
		f.Caption = "Each point is the mean over seeds at one noise level η, with one standard deviation on either side. Degenerate runs are left out."
		for j, p := range f.Panels {
			p.Series = slices.DeleteFunc(slices.Clone(p.Series), func(s chart.Series) bool { return s.Faint })
			for k := range p.Series {
				s := &p.Series[k]
				for _, v := range []*chart.Numbers{&s.X, &s.Y, &s.XLo, &s.XHi, &s.YLo, &s.YHi} {
					*v = fiveDigits(*v)
				}
			}
			f.Panels[j] = p
		}
		r.Figures[i] = f
	}
	r.Claims = slices.Clone(r.Claims)
	for i, c := range r.Claims {
		e := c.Effect
		if e == nil {
			continue
		}
		short := *e
		short.Replicates, short.Cells = nil, slices.Clone(e.Cells)
		if e.Pooled != nil {
			short.Cells = short.Cells[:0]
		}
		for k := range short.Cells {
			short.Cells[k].Each = nil
		}
		r.Claims[i].Effect = &short
	}
	return r
}

func fiveDigits(values chart.Numbers) chart.Numbers {
	if values == nil {
		return nil
	}
	out := make(chart.Numbers, len(values))
	for i, v := range values {
		out[i], _ = strconv.ParseFloat(strconv.FormatFloat(v, 'g', 5, 64), 64) // a number that was written is read
	}
	return out
}
