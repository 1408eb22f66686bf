package inference

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat"

	"collapse.example/collapse/internal/longtest"
)

// trials of each simulation: of all of them a rate near 0.95 is known to 0.22 points, of a share to 0.49.
var trials = longtest.Of(2000, 10000)

// byChance is how far a rate of simulated studies strays by chance: three standard errors.
func byChance(rate float64, trials int) float64 {
	return 3 * math.Sqrt(rate*(1-rate)/float64(trials))
}

// sizes are the numbers of seeds that recipes have.
var sizes = []int{5, 8, 12}

func normal(r *rand.Rand, n int, mean, deviation float64) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = mean + deviation*r.NormFloat64()
	}
	return out
}

// rate is the part of simulated studies for which something is so.
func rate(seed uint64, of func(*rand.Rand) bool) float64 {
	r, n := rand.New(rand.NewPCG(seed, 17)), 0
	for range trials {
		if of(r) {
			n++
		}
	}
	return float64(n) / float64(trials)
}

func covers(e Estimate, truth float64) bool { return e.Lo <= truth && truth <= e.Hi }

// estimators are all kinds of intervals, each drawing its own sample from normal errors around a known truth.
func estimators(n int) map[string]func(*rand.Rand) (Estimate, float64) {
	shared := func(r *rand.Rand, cells int, missing float64) [][]float64 {
		out, common := make([][]float64, cells), normal(r, n, 0, 1)
		for c := range out {
			out[c] = normal(r, n, float64(c), 1)
			for i := range out[c] {
				out[c][i] += common[i]
				if r.Float64() < missing {
					out[c][i] = math.NaN()
				}
			}
		}
		return out
	}
	return map[string]func(*rand.Rand) (Estimate, float64){
		"mean":   func(r *rand.Rand) (Estimate, float64) { return Mean(normal(r, n, 3, 2)), 3 },
		"paired": func(r *rand.Rand) (Estimate, float64) { return Paired(normal(r, n, 3, 2), normal(r, n, 1, 1)), 2 },
		"welch":  func(r *rand.Rand) (Estimate, float64) { return Welch(normal(r, n, 3, 2), normal(r, n, 1, 2)), 2 },
		"printed": func(r *rand.Rand) (Estimate, float64) {
			theirs := normal(r, 5, 3, 2)
			mean, deviation := stat.MeanStdDev(theirs, nil)
			return Apart(Mean(normal(r, n, 3, 2)), Printed(mean, deviation, 5)), 0
		},
		"pooled":               func(r *rand.Rand) (Estimate, float64) { return Pooled(shared(r, 6, 0)), 2.5 },
		"pooled, some missing": func(r *rand.Rand) (Estimate, float64) { return Pooled(shared(r, 6, .1)), 2.5 },
		"quotient": func(r *rand.Rand) (Estimate, float64) {
			return Quotient(normal(r, n, 6, 1), normal(r, n, 5, 1)), 1.2
		},
		"quotient of independent samples": func(r *rand.Rand) (Estimate, float64) {
			return QuotientApart(normal(r, n, 6, 1), normal(r, n, 5, 1)), 1.2
		},
		"bend": func(r *rand.Rand) (Estimate, float64) {
			bends, rises := make([]float64, n), make([]float64, n)
			for i := range bends {
				bends[i], rises[i] = Bend([]float64{0, .5, 1, 2}, []float64{r.NormFloat64() / 20, .25 + r.NormFloat64()/20, 1 + r.NormFloat64()/20, 4 + r.NormFloat64()/20})
			}
			return Quotient(bends, rises), -.25
		},
	}
}

// Errors as real runs have them, drawn again: residuals over seeds of recorded runs, divided by each cell's deviation. They are not
// normal, and intervals cover the truth nevertheless in at least 90 of 100 studies.
func TestIntervalsCoverRecordedErrors(t *testing.T) {
	text, err := os.ReadFile("testdata/residuals.json")
	if err != nil {
		t.Fatal(err)
	}
	var recorded map[string][]float64
	if err := json.Unmarshal(text, &recorded); err != nil {
		t.Fatal(err)
	}
	for name, residuals := range recorded {
		truth := stat.Mean(residuals, nil)
		for _, n := range sizes {
			draw := func(r *rand.Rand) []float64 {
				out := make([]float64, n)
				for i := range out {
					out[i] = residuals[r.IntN(len(residuals))]
				}
				return out
			}
			single := rate(1, func(r *rand.Rand) bool { return covers(Mean(draw(r)), truth) })
			paired := rate(2, func(r *rand.Rand) bool { return covers(Paired(draw(r), draw(r)), 0) })
			t.Logf("%s of %d: mean %.4f, paired %.4f", name, n, single, paired)
			if single < 0.9 || paired < 0.9 {
				t.Errorf("%s of %d replicates: the mean is covered in %.4f of studies, a paired difference in %.4f", name, n, single, paired)
			}
		}
	}
}

// Every interval covers the truth in 95 of 100 studies, within a third of a point and what chance does: within a point in all trials.
func TestIntervalsCover(t *testing.T) {
	for _, n := range sizes {
		for name, draw := range estimators(n) {
			got := rate(uint64(n), func(r *rand.Rand) bool { return covers(draw(r)) })
			t.Logf("%s of %d: %.4f", name, n, got)
			if math.Abs(got-Level) > 0.0034+byChance(Level, trials) {
				t.Errorf("%s of %d replicates covers the truth in %.4f of studies", name, n, got)
			}
		}
	}
}

// Claims at their own null are answered with yes in at most 2.5 of 100 studies, and with no as seldom: no effect for directions, a
// true difference at the band's edge for equality and its opposite.
func TestFalseAnswersAreRare(t *testing.T) {
	for _, n := range sizes {
		for name, ask := range nulls(n) {
			times := trials
			if strings.Contains(name, "many") {
				times /= 5
			}
			chance := byChance(tail, times)
			yes, no := 0.0, 0.0
			r := rand.New(rand.NewPCG(uint64(n), 5))
			for range times {
				switch ask(r) {
				case Yes, Partly:
					yes += 1 / float64(times)
				case No:
					no += 1 / float64(times)
				}
			}
			t.Logf("%s of %d: yes %.4f, no %.4f", name, n, yes, no)
			if yes > tail+chance || no > tail+chance {
				t.Errorf("%s of %d replicates: yes in %.4f of studies, no in %.4f", name, n, yes, no)
			}
		}
	}
}

// nulls are studies of every kind in which nothing is so.
func nulls(n int) map[string]func(*rand.Rand) Answer {
	const many = 24
	cells := func(r *rand.Rand, mean float64) (estimates []Estimate, pooled Estimate) {
		values, common := make([][]float64, many), normal(r, n, mean, 1)
		for c := range values {
			values[c] = normal(r, n, 0, 1)
			for i := range common {
				values[c][i] += common[i]
			}
			estimates = append(estimates, Mean(values[c]))
		}
		return estimates, Pooled(values)
	}
	return map[string]func(*rand.Rand) Answer{
		"direction": func(r *rand.Rand) Answer { return Single(Mean(normal(r, n, 0, 1)), Below(0)) },
		"direction of independent samples": func(r *rand.Rand) Answer {
			return Single(Welch(normal(r, n, 1, 1), normal(r, n, 1, 3)), Above(0))
		},
		"direction over many cells": func(r *rand.Rand) Answer {
			each, pooled := cells(r, 0)
			answer, _ := Over(each, pooled, Below(0))
			return answer
		},
		"a direction in every cell, of which one is at its null": func(r *rand.Rand) Answer {
			each := make([]Estimate, many)
			values := [][]float64{normal(r, n, 0, 1)}
			for range many - 1 {
				values = append(values, normal(r, n, -3, 1))
			}
			for c, v := range values {
				each[c] = Mean(v)
			}
			if answer, _ := Over(each, Pooled(values), Below(0)); answer != Partly { // that says that the cell contradicts
				return answer
			}
			return No
		},
		"equality":   func(r *rand.Rand) Answer { return Single(Mean(normal(r, n, 2, 1)), Within(-2, 2)) },
		"difference": func(r *rand.Rand) Answer { return Single(Mean(normal(r, n, 2, 1)), Beyond(-2, 2)) },
		"equality of slopes": func(r *rand.Rand) Answer {
			return Single(Quotient(normal(r, n, 6, 1), normal(r, n, 4, .5)), Within(.67, 1.5))
		},
		"difference of slopes": func(r *rand.Rand) Answer {
			return Single(Quotient(normal(r, n, 6, 1), normal(r, n, 4, .5)), Beyond(.67, 1.5))
		},
		"equality over many cells": func(r *rand.Rand) Answer {
			each, pooled := cells(r, 2)
			answer, _ := Over(each, pooled, Within(-2, 2))
			return answer
		},
		"a cell of many that contradicts": func(r *rand.Rand) Answer {
			each, _ := cells(r, 0)
			if len(contradictions(each, slices.Repeat([]Region{Below(0)}, many))) > 0 {
				return No
			}
			return CannotTell
		},
		"line": func(r *rand.Rand) Answer {
			bends, rises := make([]float64, n), make([]float64, n)
			for i := range bends { // a bend of a tenth of the rise
				noise := normal(r, 3, 0, .02)
				bends[i], rises[i] = Bend([]float64{0, 1, 2}, []float64{noise[0], .6 + noise[1], 1 + noise[2]})
			}
			return Single(Quotient(bends, rises), Within(-.1, .1))
		},
		"printed number": func(r *rand.Rand) Answer {
			mean, deviation := stat.MeanStdDev(normal(r, 5, 0, 1), nil)
			return Single(Apart(Mean(normal(r, n, 1, 1)), Printed(mean, deviation, 5)), Within(-1, 1))
		},
		"table of many printed numbers": func(r *rand.Rand) Answer {
			var rows []Estimate
			var bands []Region
			for range many {
				mean, deviation := stat.MeanStdDev(normal(r, 5, 0, 1), nil)
				rows, bands = append(rows, Apart(Mean(normal(r, n, 1, 1)), Printed(mean, deviation, 5))), append(bands, Within(-1, 1))
			}
			answer, _ := Every(rows, bands)
			return answer
		},
	}
}
