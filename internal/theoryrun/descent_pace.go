package theoryrun

import (
	"math"

	"collapse.example/collapse/internal/judge"
	"collapse.example/collapse/measure"
	"collapse.example/collapse/ufm"
)

// pace is the iterations after which NC1 of each layer's features stays below paceLevel in the descent of one seed; NaN: not in time.
type pace struct {
	seed   uint64
	h1, h2 float64
}

const paceLevel = 1e-4

func paceOf(seed uint64, found ufm.Found) pace {
	return pace{seed, staysBelow(found, "h1_"+measure.KeyNC1Pinv, paceLevel), staysBelow(found, measure.KeyNC1Pinv, paceLevel)}
}

// paceClaim compares over seeds how fast both layers collapse: "adding the ReLU nonlinearity to the model better distinguishes between
// the behavior of the features in the two levels, both in the rate of the collapse and in its structure" (TB, Sec. 6).
func (d *descent) paceClaim() judge.Claim {
	e := judge.Effect{Kind: judge.Equal, Unit: judge.LogRatio, Band: &[2]float64{0.8, 1.25},
		Sides: [2]string{"iterations until NC1 of H1 stays below 1e-4", "iterations until NC1 of H2 does"},
		How:   "each seed that ends in the optimum gives log(left ÷ right); shown as a ratio; Student’s interval over seeds"}
	c := judge.Claim{ID: "pace", Statement: "without ReLU, NC1 of H1 and of H2 fall together", Effect: &e}
	if d.cfg.Model == ufm.ReLU3 {
		c.Statement = "with ReLU, the two levels fall at different rates: NC1 of H1 later than NC1 of H2"
		e.Kind, e.Band = judge.More, nil
	} else {
		e.How += "; band: ours: a quarter"
	}
	each := new(judge.BySeed)
	for _, p := range d.paces {
		e.Replicates = append(e.Replicates, p.seed)
		each.Left, each.Right = append(each.Left, judge.Quantity(p.h1)), append(each.Right, judge.Quantity(p.h2))
	}
	e.Cells = []judge.Cell{{Each: each}}
	out, err := c.FromSeeds()
	if err != nil {
		panic("theoryrun: the pace of a descent: " + err.Error()) // a fault of this function
	}
	return out
}

// staysBelow returns the first traced iteration from which on a measure is below a level; NaN if it is not at the end.
func staysBelow(found ufm.Found, key string, level float64) float64 {
	iteration := math.NaN()
	for _, t := range found.Trace {
		v, has := t.Measures.Get(key)
		switch {
		case !has || !(v < level):
			iteration = math.NaN()
		case math.IsNaN(iteration):
			iteration = float64(t.Iteration)
		}
	}
	return iteration
}
