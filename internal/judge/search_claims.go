package judge

import (
	"math"
	"strings"

	"collapse.example/collapse/internal/judge/inference"
)

// worthABand is how much accuracy a search may lose before its settings count as worse; our choice.
const worthABand = 0.01

// searchClaims is what can be asked of any search: whether it was worth it. Each search of a seed and combination gives one value.
// Claims that no outcome could contradict are not asked: that the best trial beats the default on the samples that chose it, and lies
// in its space.
func searchClaims(all []Search) []Claim {
	if len(all) == 0 || !strings.HasPrefix(all[0].Metric, "validation.") { // nothing was held out, so nothing is trained again on all
		return nil
	}
	var settings, usual []float64
	for _, s := range all {
		if !math.IsNaN(s.Final[0] - s.Final[1]) {
			settings, usual = append(settings, s.Final[0]), append(usual, s.Final[1]-worthABand)
		}
	}
	c := compiled{Statement: Statement{ID: "no-worse-on-test", Kind: More, Percent: true,
		Says: "Trained on all samples, the settings found are at most one point less accurate than the default on test data, which the search never saw"}}
	e := inference.Paired(settings, usual)
	out := found{Effect: Effect{Kind: c.Kind, Unit: c.unit(), Sides: [2]string{"settings found", "default, less one point"}, How: c.how(false),
		Cells: []Cell{c.cell("", sides{settings, usual}, e)}}, Percent: true, only: e, region: inference.Above(0), answer: inference.Single(e, inference.Above(0))}
	return []Claim{{ID: c.ID, Statement: c.Says, Verdict: inWords[out.answer], Reason: out.reason(), Effect: &out.Effect}}
}
