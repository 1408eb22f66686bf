package theoryrun

import (
	"context"
	"fmt"
	"math"
	"strings"

	"collapse.example/collapse/internal/chart"
	"collapse.example/collapse/internal/format"
	"collapse.example/collapse/internal/judge"
	"collapse.example/collapse/internal/recipe"
	"collapse.example/collapse/internal/theoryfig"
	"collapse.example/collapse/ufm"
)

// lowerBy is how far below the theorem's value a point must be to contradict it.
const lowerBy = 1e-6

// relu is TB Theorem 4.2: where points lie below the orthogonal frame, where none was found, and the steps of the proof at such a
// point.
type relu struct {
	*recipe.Recipe
	cases  []belowFrame
	safe   []float64 // how far above the theorem's value each start ends where the theorem seems to hold
	proof  proof
	shares [][]float64 // by K from 2, then by q: how far the best known point lies below the theorem's value, in percent
}

// belowFrame is a solved problem with the theorem's value.
type belowFrame struct {
	solvedProblem
	theorem float64
}

// below is how far the point found lies below the theorem's value.
func (b belowFrame) below() float64 { return b.theorem - float64(b.found.Objective) }

func runReLU(ctx context.Context, r *recipe.Recipe, opt Options) (results, error) {
	out := &relu{Recipe: r}
	for _, row := range r.Cases {
		solved, err := solve(ctx, row, ufm.Run{Seed: opt.Seed, NoTrace: true})
		if err != nil {
			return nil, err
		}
		theorem, err := theoremValue(solved.cfg)
		if err != nil {
			return nil, err
		}
		found := belowFrame{solved, theorem}
		out.cases = append(out.cases, found)
		opt.progressf("%s: %s", r.ID, found.evidence())
	}
	var err error
	if out.safe, err = noneBelow(ctx, r.ReLU, opt); err != nil {
		return nil, err
	}
	out.proof = proof{out.cases[0].setting}
	out.shares, err = scan(r.ReLU).shares()
	return out, err
}

// withQ returns a problem with K classes, equal penalties and the given q, one sample per class and d = K + 1.
func withQ(model ufm.Model, K int, q float64) ufm.Config {
	l := q / float64(K)
	return ufm.Config{Model: model, K: K, N: 1, D: K + 1, L2: l, L1: l, LH1: l}
}

// theoremValue is the value of Theorem 4.2, which is that of the linear model, or that of zero if it is lower.
func theoremValue(cfg ufm.Config) (float64, error) {
	cfg.Model = ufm.Linear3
	e, err := cfg.Exact()
	return float64(e.Objective), err
}

// noneBelow looks for lower points where the theorem seems to hold.
func noneBelow(ctx context.Context, t recipe.ReLU, opt Options) ([]float64, error) {
	starts := t.Starts
	if opt.Quick && t.QuickStarts > 0 {
		starts = t.QuickStarts
	}
	var above []float64
	for _, K := range t.Safe {
		for _, q := range t.SafeQ {
			cfg := withQ(ufm.ReLU3, K, q)
			theorem, err := theoremValue(cfg)
			if err != nil {
				return nil, err
			}
			problem, err := ufm.NewProblem(cfg, nil)
			if err != nil {
				return nil, err
			}
			for i := range starts {
				size := 1 + float64(i%4)/2
				width := size / math.Sqrt(float64(cfg.D))
				run := ufm.Run{Method: ufm.LBFGS, Seed: opt.Seed + uint64(i), Init: ufm.InitScale{W: width, W1: width, H: size}, Iterations: 2000, NoTrace: true}
				found, _, err := problem.Solve(ctx, nil, ufm.Exact{}, run)
				if err != nil {
					return nil, err
				}
				above = append(above, float64(found.Objective)-theorem)
			}
		}
	}
	return above, nil
}

func (t *relu) claims() []judge.Claim {
	worst, evidence := 0.0, ""
	var rows []judge.Claim
	for i, c := range t.cases {
		rows = append(rows, c.claim(numbered("below", i)))
		if c.below() > worst {
			worst, evidence = c.below(), c.evidence()
		}
	}
	out := append([]judge.Claim{claim("theorem", "TB Theorem 4.2: every global minimiser has relu(W1·H1) an orthogonal frame", worst <= lowerBy, "the lowest against the theorem: %s", evidence)}, rows...)
	return append(append(out, t.safeClaim()), t.proof.claims()...)
}

func (b belowFrame) claim(id string) judge.Claim {
	return claim(id, format.Sprintf("K = %d, d = %d, n = %d, q = %.4g: a point lies below the frame and below zero", b.cfg.K, b.cfg.D, b.cfg.N, float64(b.exact.Q)),
		b.below() > lowerBy && float64(b.cert.Residual) < 1e-4, "%s", b.evidence())
}

func (b belowFrame) evidence() string {
	return format.Sprintf("theorem %.6f, found %.6f (%.2f %% lower): %s; gradient with the best slopes at kinks %.1g",
		b.theorem, float64(b.found.Objective), 100*b.below()/b.theorem, b.exact.Regime, float64(b.cert.Residual))
}

// safeClaim judges that no start ended below the theorem's value, and that some ended at it.
func (t *relu) safeClaim() judge.Claim {
	lowest, reached := math.Inf(1), 0
	for _, above := range t.safe {
		lowest = math.Min(lowest, above)
		if math.Abs(above) < 1e-6 {
			reached++
		}
	}
	return claim("safe", fmt.Sprintf("for K = %s the theorem seems to hold: no start ends below its value (seen, not proved)", list(t.ReLU.Safe)),
		lowest > -lowerBy && reached > 0,
		"%d random starts at q = %s, of which %d end at its value; the lowest end is %.1g from it", len(t.safe), list(t.ReLU.SafeQ), reached, lowest)
}

func list[T any](values []T) string {
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(values), " ", ", "), "[]")
}

func (t *relu) figures() []chart.Figure {
	return []chart.Figure{t.windows(), t.proof.figure()}
}

func (t *relu) facts() []theoryfig.Fact {
	var out []theoryfig.Fact
	for i, row := range t.shares {
		if K := i + 2; scan(t.ReLU).drawn(K) {
			out = append(out, scan(t.ReLU).windowFact(K, row))
		}
	}
	return out
}

func (t *relu) notes() []string {
	return []string{"Best known means: the least of the frame, zero and compositions of eight circulants found by descent (of 5, 6, 9, 10, 13, 15, 20 and 21 classes); a longer search may find lower points, " +
		"and at smaller q: the window widens with K."}
}
