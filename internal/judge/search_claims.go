package judge

import (
	"math"

	"collapse/internal/judge/inference"
)

// worthABand is how much accuracy a search may lose before its settings count as worse: ours.
const worthABand = 0.01

// searchClaims is what can be asked of any search: whether it was worth it. Each search of a seed and combination is one value. What no
// outcome could contradict is not asked: the best trial beats the default on the samples that chose it, and lies in its space.
func searchClaims(all []Search) []Claim {
	if len(all) == 0 {
		return nil
	}
	var settings, usual []float64
	for _, s := range all {
		if !math.IsNaN(s.Final[0] - s.Final[1]) {
			settings, usual = append(settings, s.Final[0]), append(usual, s.Final[1]-worthABand)
		}
	}
	c := compiled{Statement: Statement{ID: "no-worse-on-test", Kind: More, Percent: true,
		Says: "Trained on all samples, the settings found are no worse than the default on test data, which the search never saw, within a point"}}
	e := inference.Paired(settings, usual)
	out := found{Effect: Effect{Kind: c.Kind, Unit: c.unit(), Sides: [2]string{"settings found", "default, less a point"}, How: c.how(false),
		Cells: []Cell{c.cell("", sides{settings, usual}, e)}}, Percent: true, only: e, region: inference.Above(0), answer: inference.Single(e, inference.Above(0))}
	return []Claim{{ID: c.ID, Statement: c.Says, Verdict: inWords[out.answer], Reason: out.reason(), Effect: &out.Effect}}
}
