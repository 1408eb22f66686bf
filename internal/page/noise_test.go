package page

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"collapse.example/collapse/internal/findings"
	"collapse.example/collapse/internal/judge/judgetest"
	"collapse.example/collapse/internal/outfile"
	"collapse.example/collapse/internal/store"
)

// ofNoise finds what a page says of label noise.
var ofNoise = regexp.MustCompile(`η|noise level|[Mm]emorization`)

// A page about runs without label noise says nothing of it before the words that it explains; one of noisy runs does, and both list failed runs.
func TestPagesOfRunsWithoutNoiseNameNone(t *testing.T) {
	WithoutPictures(t)
	for _, noise := range []float64{0, 0.2} {
		m := judgetest.Common()
		m.Noises, m.Seeds = []float64{noise}, 3
		for _, several := range []bool{true, false} {
			runs := m.Runs(t)
			if runs[0].Status = store.Failed; !several {
				runs = runs[1:2]
			}
			res, err := WriteStudy(outfile.At(t.TempDir(), Kind), findings.Study{ID: "noise", Runs: runs})
			if err != nil {
				t.Fatal(err)
			}
			raw, err := os.ReadFile(res.Index)
			if err != nil {
				t.Fatal(err)
			}
			_, html, _ := strings.Cut(string(raw), "<body")
			html, _, explained := strings.Cut(html, `<section id="words">`)
			if !explained || !strings.Contains(html, `id="runs"`) {
				t.Fatal("the page has no table of runs, or explains no words")
			}
			if at := ofNoise.FindStringIndex(html + res.Headline); (at != nil) != (noise > 0) {
				said := "nothing"
				if at != nil {
					said = (html + res.Headline)[max(0, at[0]-80):min(len(html+res.Headline), at[1]+80)]
				}
				t.Errorf("a page of %d runs with noise %g says of it: %s", len(runs), noise, said)
			}
		}
	}
}
