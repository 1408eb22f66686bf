package page_test

import (
	"context"
	"fmt"
	"html"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"collapse.example/collapse/internal/findings"
	"collapse.example/collapse/internal/outfile"
	"collapse.example/collapse/internal/page"
	"collapse.example/collapse/internal/recipe"
	"collapse.example/collapse/internal/theoryrun"
)

// A recipe's page has its verdicts and figures, runs no script and needs no network; the figures' files lie beside it.
func TestTheoryPages(t *testing.T) {
	page.WithSmallPictures(t)
	for _, id := range []string{"zhou-fig2", "tb-fig1", "tb-thm4.2"} {
		r, err := recipe.Load(id)
		if err != nil {
			t.Fatal(err)
		}
		r.Descent.Quick = 200
		if r.Kind == "relu" {
			r.Cases, r.ReLU.KMax, r.ReLU.Steps, r.ReLU.QuickStarts = r.Cases[:1], 6, 12, 4
		}
		found, err := theoryrun.Run(context.Background(), r, theoryrun.Options{Quick: true})
		if err != nil {
			t.Fatal(err)
		}
		checkTheory(t, findings.Theory{ID: r.ID, Title: r.Title, Claims: found.Claims, Facts: found.Facts, Notes: found.Notes, Figures: found.Figures})
	}
}

func checkTheory(t *testing.T, p findings.Theory) {
	t.Helper()
	dir := t.TempDir()
	res, err := page.WriteRecipe(outfile.At(dir, page.Kind), p.Findings())
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(res.Index)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), `data-recipe="`+p.ID+`"`) || strings.Contains(string(text), "<script") || strings.Contains(string(text), "http://") {
		t.Errorf("%s: the page lacks its recipe, runs a script or needs the network", p.ID)
	}
	for _, c := range p.Claims {
		if !strings.Contains(string(text), fmt.Sprintf(` data-claim="%s" data-verdict="%s">`, c.ID, c.Verdict)) {
			t.Errorf("%s: a verdict is not on the page", p.ID)
		}
	}
	for _, f := range p.Facts {
		if !strings.Contains(html.UnescapeString(string(text)), "<td>"+f.Value+"</td>") {
			t.Errorf("%s: %s is not on the page", p.ID, f.Name)
		}
	}
	if strings.Contains(string(text), `id="runs"`) || strings.Contains(string(text), "bootstrap") || !strings.Contains(string(text), `id="repeat"`) {
		t.Errorf("%s: the page speaks of runs, or does not say how to repeat it", p.ID)
	}
	for _, f := range p.Figures {
		if !strings.Contains(string(text), `data-figure="`+f.ID+`"`) {
			t.Errorf("%s: figure %s is not on the page", p.ID, f.ID)
		}
		for _, ext := range []string{".svg", ".png", ".csv", ".json"} {
			if info, err := os.Stat(filepath.Join(dir, "figures", f.ID+ext)); err != nil || info.Size() == 0 {
				t.Errorf("%s%s: %v", f.ID, ext, err)
			}
		}
	}
}
