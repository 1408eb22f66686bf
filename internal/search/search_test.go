package search

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func anySpace(t *rapid.T) Space {
	var s Space
	for range rapid.IntRange(1, 3).Draw(t, "parameters") {
		low := rapid.Float64Range(1e-6, 1).Draw(t, "low")
		switch rapid.IntRange(0, 3).Draw(t, "scale") {
		case 3:
			s = append(s, Param{Name: "w", Low: -2, High: float64(rapid.IntRange(-1, 9).Draw(t, "high")), Whole: true})
		case 0:
			s = append(s, Param{Name: "u", Scale: Uniform, Low: -low, High: low})
		case 1:
			s = append(s, Param{Name: "l", Scale: LogUniform, Low: low, High: low * rapid.Float64Range(1.1, 1e4).Draw(t, "ratio")})
		default:
			s = append(s, Param{Name: "c", Scale: Choice, Choices: rapid.IntRange(1, 4).Draw(t, "choices")})
		}
	}
	return s
}

func anyConfig(t *rapid.T, samplers ...string) Config {
	c := Config{Space: anySpace(t), Sampler: rapid.SampledFrom(samplers).Draw(t, "sampler"), Schedule: rapid.SampledFrom(Schedules).Draw(t, "schedule"),
		Trials: rapid.IntRange(1, 20).Draw(t, "trials"), Budget: rapid.IntRange(1, 40).Draw(t, "budget"), Eta: rapid.IntRange(2, 4).Draw(t, "eta"),
		Batch: rapid.IntRange(1, 5).Draw(t, "batch"), Seed: rapid.Uint64().Draw(t, "seed")}
	if c.Sampler == Bayes {
		c.Trials, c.Initial = 1+c.Trials%8, 2
	}
	c.MinBudget = rapid.IntRange(1, c.Budget).Draw(t, "least")
	if c.Schedule == ASHA {
		c.Trials += power(c.Eta, len(c.Ladder())-1)
		if c.Trials > 80 || c.Sampler == Bayes && c.Trials > 12 {
			c.MinBudget, c.Trials = c.Budget, 7
		}
	}
	return c
}

// valueOf is a value that any order of telling gives a job, NaN now and then.
func valueOf(seed uint64, j Job) float64 {
	r := rand.New(rand.NewPCG(seed, uint64(j.Trial)))
	if r.Float64() < 0.1 {
		return math.NaN()
	}
	return r.NormFloat64() + 0.1*rand.New(rand.NewPCG(seed+1, uint64(j.Trial*1000+j.Budget))).NormFloat64()
}

// finish runs a search to its end, telling in an order that r draws, and returns all jobs in the order asked.
func finish(t interface{ Fatalf(string, ...any) }, c Config, value func(Job) float64, r *rand.Rand) (*Search, []Job) {
	s, err := New(c)
	if err != nil {
		t.Fatalf("%v", err)
	}
	var open, all []Job
	for {
		asked := s.Ask()
		open, all = append(open, asked...), append(all, asked...)
		if len(open) == 0 {
			break
		}
		i := 0
		if r != nil {
			i = r.IntN(len(open))
		}
		j := open[i]
		open = slices.Delete(open, i, i+1)
		s.Tell(j.Trial, j.Budget, value(j))
	}
	if !s.Done() {
		t.Fatalf("nothing to ask and not done")
	}
	return s, all
}

func sorted(jobs []Job) []Job {
	jobs = slices.Clone(jobs)
	slices.SortFunc(jobs, func(a, b Job) int {
		if a.Trial != b.Trial {
			return a.Trial - b.Trial
		}
		return a.Budget - b.Budget
	})
	return jobs
}

// What is asked lies in the space; every trial is tried; budgets of a trial ascend from where it was; no
// rung lets more than 1/η go on, and who goes on is not worse than who stays, where order plays no part.
func TestAsksAndPromotions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := anyConfig(t, Random)
		seed := rapid.Uint64().Draw(t, "values")
		s, jobs := finish(t, c, func(j Job) float64 { return valueOf(seed, j) }, rand.New(rand.NewPCG(seed, 9)))
		had := map[int]int{}
		at, on := map[int][]int{}, map[int][]int{}
		for _, j := range jobs {
			if !c.Space.Contains(j.Point) {
				t.Fatalf("%v lies outside the space %v", j.Point, c.Space)
			}
			if j.From != had[j.Trial] || j.Budget <= j.From || j.Budget > c.Budget {
				t.Fatalf("trial %d goes from %d to %d; it has had %d", j.Trial, j.From, j.Budget, had[j.Trial])
			}
			had[j.Trial] = j.Budget
			at[j.Budget] = append(at[j.Budget], j.Trial)
			on[j.From] = append(on[j.From], j.Trial)
		}
		if len(had) != c.Trials {
			t.Fatalf("%d trials, wanted %d", len(had), c.Trials)
		}
		spent := 0
		for _, b := range had {
			spent += b
		}
		if s.Spent() != spent {
			t.Fatalf("spent %d, wanted %d", s.Spent(), spent)
		}
		if c.Schedule == Full {
			if spent != c.Trials*c.Budget {
				t.Fatalf("spent %d of %d trials of %d", spent, c.Trials, c.Budget)
			}
			return
		}
		for budget, there := range at {
			if gone := len(on[budget]); gone > len(there)/c.Eta {
				t.Fatalf("%d of %d went on from %d with eta %d", gone, len(there), budget, c.Eta)
			}
		}
		best, _, ok := s.Best()
		if ok && c.Schedule == Hyperband && best.Budget != c.Budget && len(at[c.Budget]) > 0 && !allNaN(s, c.Budget) {
			t.Fatalf("the best is of budget %d", best.Budget)
		}
		if len(at[c.Budget]) == 0 && !c.nothingAbove(s) {
			t.Fatalf("no trial got the whole budget")
		}
		for _, j := range jobs {
			if j.From > 0 && math.IsNaN(s.told[step{j.Trial, j.From}]) {
				t.Fatalf("trial %d goes on from %d without a value", j.Trial, j.From)
			}
		}
	})
}

// nothingAbove reports whether trials without values may have kept all from going on.
func (c Config) nothingAbove(s *Search) bool {
	for _, r := range s.Results() {
		if math.IsNaN(r.Value) {
			return true
		}
	}
	return false
}

func allNaN(s *Search, budget int) bool {
	for _, r := range s.Results() {
		if r.Budget == budget && !math.IsNaN(r.Value) {
			return false
		}
	}
	return true
}

// The same values told in another order give the same jobs, but for ASHA, whose point is that they do not.
func TestOrderDoesNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := anyConfig(t, Random, Random, Random, Bayes)
		if c.Schedule == ASHA {
			c.Schedule = Hyperband
		}
		seed := rapid.Uint64().Draw(t, "values")
		value := func(j Job) float64 { return valueOf(seed, j) }
		_, inOrder := finish(t, c, value, nil)
		_, mixed := finish(t, c, value, rand.New(rand.NewPCG(seed, 1)))
		if !reflect.DeepEqual(sorted(inOrder), sorted(mixed)) {
			t.Fatalf("jobs differ:\n%v\n%v", sorted(inOrder), sorted(mixed))
		}
	})
}

// A search that is replayed from some of its values asks for what misses, and ends as one in one piece.
func TestReplay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := anyConfig(t, Random, Random, Bayes)
		seed := rapid.Uint64().Draw(t, "values")
		known := map[step]float64{}
		var last *Search
		for round := 0; ; round++ {
			s, err := New(c)
			if err != nil {
				t.Fatal(err)
			}
			last = s
			missing := s.Replay(func(j Job) (float64, bool) {
				v, ok := known[step{j.Trial, j.Budget}]
				return v, ok
			})
			if len(missing) == 0 {
				break
			}
			if round > 10*c.Trials*8 {
				t.Fatal("does not end")
			}
			for _, j := range missing[:(len(missing)+1)/2] { // a part of the round, as a kill leaves it
				known[step{j.Trial, j.Budget}] = valueOf(seed, j)
			}
		}
		if !last.Done() {
			t.Fatal("not done")
		}
		whole, err := New(c)
		if err != nil {
			t.Fatal(err)
		}
		whole.Replay(func(j Job) (float64, bool) { return valueOf(seed, j), true })
		if !equalResults(whole.Results(), last.Results()) || !reflect.DeepEqual(whole.points, last.points) {
			t.Fatalf("in pieces %v\nin one %v", last.Results(), whole.Results())
		}
	})
}

// TestNoRunTwice: a Gaussian process whose optimum lies in a corner proposes other points once the corner is tried, and a space of few
// points is gone through before one comes again. Whole numbers are whole, each of them as likely as the others.
func TestNoRunTwice(t *testing.T) {
	for name, space := range map[string]Space{
		"corner": {{Name: "x", High: 1}, {Name: "w", Low: 1, High: 8, Whole: true}},
		"few":    {{Name: "w", Low: 1, High: 5, Whole: true}, {Name: "c", Scale: Choice, Choices: 3}},
	} {
		s, points := finish(t, Config{Space: space, Sampler: Bayes, Schedule: Full, Trials: 15, Budget: 1, Batch: 1, Initial: 1, Seed: 4},
			func(j Job) float64 { return j.Point[0] + j.Point[1] }, nil)
		for i, p := range points {
			for _, q := range points[:i] {
				if slices.Equal(p.Point, q.Point) {
					t.Errorf("%s: %v is tried twice", name, p.Point)
				}
			}
			if !space.Contains(p.Point) {
				t.Errorf("%s: %v is not in the space", name, p.Point)
			}
		}
		if len(points) != 15 || !s.Done() {
			t.Errorf("%s: %d trials", name, len(points))
		}
	}
	w, count := Param{Low: -1, High: 2, Whole: true}, map[float64]int{}
	for i := range 4000 {
		x := w.at((float64(i) + 0.5) / 4000)
		count[x]++
		if w.at(w.place(x)) != x {
			t.Fatalf("%g comes back as %g", x, w.at(w.place(x)))
		}
	}
	if !reflect.DeepEqual(count, map[float64]int{-1: 1000, 0: 1000, 1: 1000, 2: 1000}) {
		t.Errorf("drawn %v", count)
	}
	if bad := (Space{{Name: "x", Low: 0.5, High: 3, Whole: true}}).problems(); len(bad) != 1 {
		t.Errorf("%q", bad)
	}
}

// TestAMemoChangesNothing: a search that is replayed from its start in each round, with a memo, asks for the same as one that is not; it proposes
// each trial once; and values other than those it remembers give the proposals that they would give without.
func TestAMemoChangesNothing(t *testing.T) {
	c := Config{Space: Space{{Name: "x", High: 1}, {Name: "y", High: 1}}, Sampler: Bayes, Schedule: Full, Trials: 14, Budget: 1, Batch: 2, Initial: 4, Seed: 3}
	var memo Memo
	replayed := func(memo *Memo, value func(Point) float64) []Point {
		known := map[int]float64{}
		for {
			s, err := New(c)
			if err != nil {
				t.Fatal(err)
			}
			if memo != nil {
				s.Remember(memo)
			}
			missing := s.Replay(func(j Job) (float64, bool) { v, ok := known[j.Trial]; return v, ok })
			if len(missing) == 0 {
				return s.points
			}
			for _, j := range missing {
				known[j.Trial] = value(j.Point)
			}
		}
	}
	one := func(p Point) float64 { return -math.Abs(p[0]-0.3) - math.Abs(p[1]-0.8) }
	two := func(p Point) float64 { return -math.Abs(p[0]-0.9) - math.Abs(p[1]-0.1) }
	for i, value := range []func(Point) float64{one, one, two} {
		if got, want := replayed(&memo, value), replayed(nil, value); len(want) != c.Trials || !reflect.DeepEqual(got, want) {
			t.Errorf("with a memo %v\nwithout %v", got, want)
		}
		if want := []int{10, 10, 20}[i]; len(memo.points) != want {
			t.Errorf("%d proposals are remembered; wanted %d", len(memo.points), want)
		}
	}
}

func equalResults(a, b []Result) bool {
	return slices.EqualFunc(a, b, func(x, y Result) bool {
		return x.Trial == y.Trial && x.Budget == y.Budget && math.Float64bits(x.Value) == math.Float64bits(y.Value)
	})
}

// The brackets of Hyperband with R = 81 and η = 3 are Table 1 of Li et al. 2018.
func TestBracketsOfThePaper(t *testing.T) {
	c := Config{Budget: 81, MinBudget: 1, Eta: 3, Trials: 81 + 34 + 15 + 8 + 5}
	want := [][2]int{{81, 1}, {34, 3}, {15, 9}, {8, 27}, {5, 81}}
	got := c.brackets()
	if len(got) != len(want) {
		t.Fatalf("%d brackets, wanted %d", len(got), len(want))
	}
	for i, b := range got {
		if b.n != want[i][0] || b.budgets[0] != want[i][1] || b.budgets[len(b.budgets)-1] != 81 {
			t.Errorf("bracket %d: %d trials from %v, wanted %v", i, b.n, b.budgets, want[i])
		}
	}
}

func TestConfigsThatCannotBe(t *testing.T) {
	good := Config{Space: Space{{Name: "x", High: 1}}, Sampler: Random, Schedule: Hyperband, Trials: 9, Budget: 9, MinBudget: 1, Eta: 3, Batch: 1}
	if _, err := New(good); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*Config){
		"no parameter": func(c *Config) { c.Space = nil },
		"upside down":  func(c *Config) { c.Space = Space{{Name: "x", Low: 2, High: 1}} },
		"NaN":          func(c *Config) { c.Space = Space{{Name: "x", Low: math.NaN(), High: 1}} },
		"log of zero":  func(c *Config) { c.Space = Space{{Name: "x", Scale: LogUniform, High: 1}} },
		"no choices":   func(c *Config) { c.Space = Space{{Name: "x", Scale: Choice}} },
		"sampler":      func(c *Config) { c.Sampler = "grid" },
		"schedule":     func(c *Config) { c.Schedule = "none" },
		"trials":       func(c *Config) { c.Trials = 0 },
		"budget":       func(c *Config) { c.Budget = 0 },
		"least":        func(c *Config) { c.MinBudget = 10 },
		"eta":          func(c *Config) { c.Eta = 1 },
		"batch":        func(c *Config) { c.Batch = 0 },
		"few for asha": func(c *Config) { c.Schedule, c.Trials = ASHA, 8 },
	} {
		c := good
		change(&c)
		if _, err := New(c); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// TestTheBestIsOfTheLargestBudget: there the highest value counts, whenever it was told; values that are missing are none.
func TestTheBestIsOfTheLargestBudget(t *testing.T) {
	s := &Search{points: []Point{{0}, {1}, {2}, {3}}, told: map[step]float64{{0, 1}: 9, {0, 3}: .5, {1, 3}: .9, {2, 3}: .7, {3, 3}: math.NaN(), {3, 1}: 10}}
	if best, p, ok := s.Best(); !ok || best != (Result{1, 3, .9}) || p[0] != 1 {
		t.Errorf("%+v at %v, %v", best, p, ok)
	}
	s.told = map[step]float64{{3, 3}: math.NaN()}
	if best, _, ok := s.Best(); ok {
		t.Errorf("%+v of missing values", best)
	}
}

// TestParametersWithoutEffectStandStill: points that differ in nothing that counts are the same point.
func TestParametersWithoutEffectStandStill(t *testing.T) {
	space := Space{{Name: "opt", Scale: Choice, Choices: 3}, {Name: "kind", Scale: Choice, Choices: 2, Needs: []Need{{0, []int{1}}}},
		{Name: "momentum", Low: 1, High: 3, Needs: []Need{{1, []int{1}}}}, {Name: "lr", Scale: LogUniform, Low: 1, High: 100, Needs: []Need{{0, []int{0, 1}}}}}
	r := rand.New(rand.NewPCG(1, 2))
	seen := map[string]int{}
	p := space.draw(r)
	for range 2000 {
		if p = space.near(p, 0.2, r); r.Float64() < 0.3 {
			p = space.draw(r)
		}
		kind, momentum, lr := p[0] == 1, p[0] == 1 && p[1] == 1, p[0] < 2
		if !kind && p[1] != 1 || !momentum && p[2] != 2 || !lr && math.Abs(p[3]-10) > 1e-9 || !space.Contains(p) {
			t.Fatalf("%v", p)
		}
		if space.Active(p, 1) != kind || space.Active(p, 2) != momentum || space.Active(p, 3) != lr || !space.Active(p, 0) {
			t.Fatalf("%v: which parameters have an effect", p)
		}
		seen[fmt.Sprint(kind, momentum, lr, p[2] != 2)]++
	}
	if len(seen) != 4 {
		t.Errorf("kinds of points: %v", seen)
	}
	for what, needs := range map[string][]Need{"a number": {{3, []int{1}}}, "nothing": {{9, nil}}, "itself": {{0, []int{1}}}} {
		space[0].Needs = needs
		if len(space.problems()) == 0 {
			t.Errorf("a parameter that needs %s is taken", what)
		}
	}
}

// TestTrialsWithoutAValueDoNotGoOn, though there is room for them; a search that only has such trials ends.
func TestTrialsWithoutAValueDoNotGoOn(t *testing.T) {
	for _, schedule := range []string{Hyperband, ASHA} {
		for valued := range 4 { // so many of the trials have values
			c := Config{Space: Space{{Name: "x", Low: 0, High: 1}}, Sampler: Random, Schedule: schedule, Trials: 9, Budget: 9, MinBudget: 1, Eta: 3, Batch: 3, Seed: 5}
			s, err := New(c)
			if err != nil {
				t.Fatal(err)
			}
			further := 0
			for jobs := s.Ask(); len(jobs) > 0; jobs = s.Ask() {
				for _, j := range jobs {
					v := math.NaN()
					if j.Trial < valued {
						v = float64(j.Trial)
					}
					if j.From > 0 {
						further++
						if j.Trial >= valued {
							t.Errorf("%s: trial %d goes on from %d without a value", schedule, j.Trial, j.From)
						}
					}
					s.Tell(j.Trial, j.Budget, v)
				}
			}
			if !s.Done() || (further > 0) != (valued > 0) {
				t.Errorf("%s, %d with values: done %v, %d went on", schedule, valued, s.Done(), further)
			}
		}
	}
}
