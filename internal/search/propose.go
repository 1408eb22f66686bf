package search

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// stream gives trial its own random numbers, so that what it draws depends on no other trial.
func (s *Search) stream(trial int) *rand.Rand {
	return rand.New(rand.NewPCG(s.cfg.Seed, uint64(trial)))
}

// propose makes the point of a new trial.
func (s *Search) propose(trial int) Point {
	r := s.stream(trial)
	if s.cfg.Sampler == Random || trial < s.cfg.Initial {
		return s.fresh(r)
	}
	x, y := s.observed()
	if len(x) < s.cfg.Initial {
		return s.fresh(r)
	}
	return s.remembered(trial, func() Point { return s.improve(s.believe(fitProcess(s.cfg.Space, x, y)), r) })
}

// mostDraws is how often a point is drawn until it is a new one, and mostSteps how many are gone through after that.
const (
	mostDraws = 1000
	mostSteps = 1_000_000
)

// fresh is a point at random, in a space without ranges of numbers one that was not tried, while there is one: drawn, or else the next one.
func (s *Search) fresh(r *rand.Rand) Point {
	p := s.cfg.Space.draw(r)
	if !s.cfg.Space.countable() || len(s.seen) >= s.size {
		return p
	}
	for n := 0; n < mostDraws && s.tried(p); n++ {
		p = s.cfg.Space.draw(r)
	}
	at := slices.Clone(p)
	for n := 0; n < mostSteps && s.tried(p); n++ {
		s.cfg.Space.step(at) // from the last to the first
		p = s.cfg.Space.settle(slices.Clone(at))
	}
	return p
}

// tried reports whether a trial has the point.
func (s *Search) tried(p Point) bool {
	if s.cfg.Space.countable() {
		return s.seen[fmt.Sprint(p)]
	}
	return slices.ContainsFunc(s.points, func(q Point) bool { return slices.Equal(p, q) })
}

// observed is what the model learns from: the results of the largest budget of which there are enough,
// by trial. A value that is not a number counts as the worst that was seen.
func (s *Search) observed() (x []Point, y []float64) {
	count := map[int]int{}
	for at, v := range s.told {
		if !math.IsNaN(v) {
			count[at.budget]++
		}
	}
	budget := 0
	for b, n := range count {
		if n >= s.cfg.Initial {
			budget = max(budget, b)
		}
	}
	worst := math.Inf(1)
	for _, r := range s.Results() {
		if r.Budget == budget && r.Value < worst {
			worst = r.Value
		}
	}
	for _, r := range s.Results() {
		if r.Budget != budget || budget == 0 {
			continue
		}
		v := r.Value
		if math.IsNaN(v) {
			v = worst
		}
		x, y = append(x, s.points[r.Trial]), append(y, v)
	}
	return x, y
}

// believe adds the trials that are not told yet at the values the model expects of them, so that
// trials asked for together do not all go to one place (Ginsbourger et al. 2010, "kriging believer").
func (s *Search) believe(m *process) *process {
	for t, p := range s.points {
		if s.open(t) {
			mean, _ := m.at(p)
			m = m.with(p, mean)
		}
	}
	return m
}

// open reports whether a trial was asked for and nothing was told of it yet.
func (s *Search) open(trial int) bool {
	for at := range s.told {
		if at.trial == trial {
			return false
		}
	}
	return true
}

// Candidates of the maximisation of expected improvement.
const (
	drawn    = 500 // all over the space
	nearBest = 100 // beside the best so far
	rounds   = 4   // of ever closer ones beside the best candidate
	perRound = 40
)

// improve is the point of the largest expected improvement that a search from many starts finds.
func (s *Search) improve(m *process, r *rand.Rand) Point {
	goal, best := m.incumbent()
	var at Point
	most := math.Inf(-1)
	try := func(p Point) {
		if s.tried(p) {
			return // it would be the same run
		}
		mean, sd := m.at(p)
		if ei := logExpectedImprovement(mean, sd, goal); ei > most {
			at, most = p, ei
		}
	}
	for range drawn {
		try(s.cfg.Space.draw(r))
	}
	for range nearBest {
		try(s.cfg.Space.near(best, 0.1, r))
	}
	if at == nil { // a space of choices, nearly all of them tried
		return s.fresh(r)
	}
	for width := 0.1; width > 0.1/math.Pow(3, rounds); width /= 3 {
		around := at
		for range perRound {
			try(s.cfg.Space.near(around, width, r))
		}
	}
	return at
}

// logExpectedImprovement is log E[max(f−goal, 0)] for f ~ N(mean, sd²) (Jones et al. 1998). Far below the
// goal, where that underflows, the leading term of its expansion keeps the order.
func logExpectedImprovement(mean, sd, goal float64) float64 {
	if !(sd > 0) {
		return math.Inf(-1)
	}
	z := (mean - goal) / sd
	density := math.Exp(-z*z/2) / math.Sqrt(2*math.Pi)
	h := z*0.5*math.Erfc(-z/math.Sqrt2) + density
	if z < -6 || !(h > 0) {
		return math.Log(sd) - z*z/2 - 0.5*math.Log(2*math.Pi) - 2*math.Log(math.Abs(z))
	}
	return math.Log(sd) + math.Log(h)
}
