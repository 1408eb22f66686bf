package judge

import (
	"math"
	"strings"
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
	says := "Trained on all samples, the settings found are at most one point less accurate than the default on test data, which the search never saw"
	e := Effect{Kind: More, Unit: difference, Sides: [2]string{"settings found", "default, less one point"}, Percent: true, How: Statement{Kind: More}.how(false)}
	each := new(BySeed)
	for i, s := range all {
		if !math.IsNaN(s.Final[0] - s.Final[1]) {
			e.Replicates = append(e.Replicates, uint64(i))
			each.Left, each.Right = append(each.Left, Quantity(100*s.Final[0])), append(each.Right, Quantity(100*(s.Final[1]-worthABand)))
		}
	}
	e.Cells = []Cell{{Each: each}}
	return []Claim{e.conclude().claim(Claim{ID: "no-worse-on-test", Statement: says, Provenance: Provenance{Source: Ours}})}
}
