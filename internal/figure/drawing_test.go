package figure

import (
	"strings"
	"testing"

	"collapse.example/collapse/internal/chart"
	"collapse.example/collapse/internal/judge"
	"collapse.example/collapse/internal/judge/judgetest"
)

func TestDrawingNamesThatDoNotExist(t *testing.T) {
	for _, c := range []struct {
		panel DrawingPanel
		want  string
	}{
		{DrawingPanel{X: "epoch", Y: "train.nc7"}, "nc7"},
		{DrawingPanel{X: "net.witdh", Y: "train.nc1_pinv"}, "net.witdh"},
		{DrawingPanel{X: "epoch", Y: "train.nc1_pinv", Curves: []string{"los.kind"}}, "los.kind"},
		{DrawingPanel{X: "epoch", Y: "train.nc1_pinv", Where: map[string]any{"net": 1}}, `"net"`},
		{DrawingPanel{X: "epoch", Y: "train.nc1_pinv", Log: "z"}, "log"},
	} {
		if err := (Drawing{Panels: []DrawingPanel{c.panel}}).Check(judge.Vocabulary{}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: error %v, wanted one with %q", c.panel, err, c.want)
		}
	}
	ok := Drawing{Panels: []DrawingPanel{{X: "layer", Y: "train@*.nc1_pinv"}, {X: "train.memorization_flipped", Y: "test.dilation", Curves: []string{"loss.kind"}}}}
	if err := ok.Check(judge.Vocabulary{}); err != nil {
		t.Error(err)
	}
}

// A loss has one colour in all figures of the same runs, also where a panel or a figure shows it alone, or before the others.
func TestACurveHasOneColourInAllFigures(t *testing.T) {
	runs := judgetest.Common().Runs(t)
	var judged []*judge.JudgedRun
	for i := range runs {
		judged = append(judged, judge.JudgeRun(&runs[i]))
	}
	panel := func(where map[string]any) DrawingPanel {
		return DrawingPanel{Title: "NC1", X: "epoch", Y: "test.dilation", Curves: []string{"loss.kind"}, Where: where}
	}
	colors := map[string]chart.Color{}
	for _, d := range []Drawing{
		{Panels: []DrawingPanel{panel(nil)}},
		{Panels: []DrawingPanel{panel(map[string]any{"loss.kind": "ls"}), panel(map[string]any{"loss.kind": "ce"})}},
		{Panels: []DrawingPanel{{X: "features"}, panel(map[string]any{"loss.kind": "ls"})}},
	} {
		for _, p := range d.Draw("f", judged).Panels {
			for _, s := range p.Series {
				if first, seen := colors[s.Label]; s.Label != "" && seen && first != s.Color {
					t.Errorf("%s has colour %v and %v", s.Label, first, s.Color)
				} else if s.Label != "" {
					colors[s.Label] = s.Color
				}
			}
		}
	}
	if len(colors) < 2 || colors["cross entropy"] == colors["label smoothing"] {
		t.Errorf("colours %v", colors)
	}
}
