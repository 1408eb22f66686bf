package figure

import (
	"strings"
	"testing"
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
		if err := (Drawing{Panels: []DrawingPanel{c.panel}}).Check(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: error %v, wanted one with %q", c.panel, err, c.want)
		}
	}
	ok := Drawing{Panels: []DrawingPanel{{X: "layer", Y: "train@*.nc1_pinv"}, {X: "train.memorization_flipped", Y: "test.dilation", Curves: []string{"loss.kind"}}}}
	if err := ok.Check(); err != nil {
		t.Error(err)
	}
}
