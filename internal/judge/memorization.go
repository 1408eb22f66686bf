package judge

import (
	"strings"
)

// The claims of M-D Fig. 1, asked of an experiment. The paper's two statements, one slope and less memorization under label
// smoothing, are each judged twice: on the sum that the paper prints, and on that sum divided by the distance of the class means. In
// the second, rescaling all features changes nothing.

// Bands of ours, with their reasons.
var (
	slopeBand   = [2]float64{0.8, 1.25}
	lineBand    = [2]float64{-0.1, 0.1}
	settledBand = [2]float64{0.95, 1.05}
)

const (
	slopeReason   = "ours: slopes within a fourth of each other; raw slopes of the four losses differ by more than twofold"
	lineReason    = "ours: a tenth of the rise; x² from zero on bends by a quarter of it, √x by a fifth"
	settledReason = "ours: five per cent"
)

// scaleFree is the name of memorization in units of the distance of the class means.
const scaleFree = derivedSplit + ".memorization_scale_free"

// lowNoise is where the line is claimed: the paper's "when mem is not large".
const lowNoise = 0.2

// Claims judges the statements of M-D Fig. 1 on one experiment.
func (g *Experiment) Claims() []Claim {
	var out []Claim
	for _, s := range g.statements() {
		c, err := s.judge(g.Runs)
		if err != nil {
			panic("judge: a statement of M-D Fig. 1: " + err.Error()) // they are constants, which a test checks
		}
		out = append(out, c)
	}
	return out
}

// unitOfMemorization is one of the two in which memorization is judged.
type unitOfMemorization struct{ id, name, words string }

func (g *Experiment) unitsOfMemorization() []unitOfMemorization {
	raw := "train." + g.Form().Key
	if g.Count(func(s *JudgedRun) bool { _, ok := s.Memory("memorization_redrawn"); return ok }) > 0 {
		raw = "train.memorization_redrawn"
	}
	return []unitOfMemorization{{"", raw, "as the paper sums it"}, {"-scale-free", scaleFree, "divided by the distance of the class means"}}
}

// statements are the claims for the losses and noise levels that the experiment has.
func (g *Experiment) statements() (out []Statement) {
	noisy, low := g.levels(1), g.levels(lowNoise)
	base := func(id, says string, noise []any) Statement {
		return Statement{ID: id, Says: says, Runs: "regular", Where: selection{"data.noise": noise}}
	}
	units := g.unitsOfMemorization()
	growth := base("growth", "With label noise, memorization and dilation √NC1_test grow together, whatever the loss", noisy)
	growth.Kind, growth.Left, growth.Right, growth.Cells = More, slopeOver(units[0].name, ""), "0", []string{"loss.kind"}
	out = append(out, growth)
	for _, kind := range []string{"ce", "ls"} {
		if g.hasLoss(kind) {
			s := base("linear-"+kind, "√NC1_test is linear in memorization for "+lossNames[kind]+" while memorization is not large (η ≤ 0.2)", low)
			s.Where["loss.kind"] = kind
			s.Kind, s.X, s.Y, s.Band, s.Because = Linear, units[0].name, "test.dilation", &lineBand, lineReason
			out = append(out, s)
		}
	}
	for _, kind := range []string{"ls", "lr", "mse"} {
		if g.hasLoss(kind) && g.hasLoss("ce") {
			for _, u := range units {
				out = append(out, g.slopes(base("", "", low), kind, u))
			}
		}
	}
	if g.hasLoss("ls") && g.hasLoss("ce") {
		out = append(out, g.smoothing(base, noisy, units)...)
	}
	return append(out, g.settled(base, noisy, units[0])...)
}

// slopes is the claim that a loss shares the slope of cross entropy (label smoothing) or has another (the rest).
func (g *Experiment) slopes(s Statement, kind string, u unitOfMemorization) Statement {
	s.Kind, s.Says = Differ, "The slope of √NC1_test against memorization, "+u.words+", differs between "+lossNames[kind]+" and cross entropy (η ≤ 0.2)"
	if kind == "ls" {
		s.Kind, s.Says = Equal, "Cross entropy and label smoothing share one slope of √NC1_test against memorization, "+u.words+" (η ≤ 0.2)"
	}
	s.ID, s.Unit, s.Band, s.Because = "slope-"+kind+u.id, quotient, &slopeBand, slopeReason
	s.Left, s.Right = slopeOver(u.name, kind), slopeOver(u.name, "ce")
	return s
}

// smoothing are the claims that compare label smoothing with cross entropy at equal noise.
func (g *Experiment) smoothing(base func(id, says string, noise []any) Statement, noisy []any, units []unitOfMemorization) (out []Statement) {
	for _, u := range units {
		s := base("ls-memorizes-less"+u.id, "At equal label noise, label smoothing memorizes less than cross entropy, "+u.words, noisy)
		s.Kind, s.Unit, s.Cells = Less, logRatio, []string{"data.noise"}
		s.Left, s.Right = finalOf(u.name, "ls"), finalOf(u.name, "ce")
		out = append(out, s)
	}
	s := base("ls-accuracy", "With label noise, label smoothing is at least as accurate on test data as cross entropy, within half a point", noisy)
	s.Kind, s.Cells, s.Percent = More, []string{"data.noise"}, true
	s.Left, s.Right = finalOf("test.accuracy", "ls"), finalOf("test.accuracy", "ce")+" - 0.005"
	return append(out, s)
}

// settled are the claims that training was long enough.
func (g *Experiment) settled(base func(id, says string, noise []any) Statement, noisy []any, u unitOfMemorization) (out []Statement) {
	for _, q := range []struct{ id, name, words string }{{"memorization", u.name, "Memorization"}, {"dilation", "test.dilation", "Dilation"}} {
		s := base("settled-"+q.id, q.words+" does not change in the last quarter of training", noisy)
		s.Kind, s.Unit, s.Band, s.Because, s.Cells = Equal, logRatio, &settledBand, settledReason, []string{"loss.kind", "data.noise"}
		s.Left, s.Right = finalOf(q.name, ""), strings.Replace(finalOf(q.name, ""), `final(`, `at(`, 1)
		s.Right = strings.TrimSuffix(s.Right, ")") + ", 0.75)"
		out = append(out, s)
	}
	return out
}

// slopeOver is the expression for the slope of dilation over a form of memorization, under one loss or all.
func slopeOver(memorization, kind string) string {
	return `slope("` + memorization + `", "test.dilation"` + ofKind(kind) + `)`
}

func finalOf(name, kind string) string { return `final("` + name + `"` + ofKind(kind) + `)` }

func ofKind(kind string) string {
	if kind == "" {
		return ""
	}
	return `, {"loss.kind": "` + kind + `"}`
}

// levels are the noise levels above zero up to a limit, as a selection takes them.
func (g *Experiment) levels(most float64) (out []any) {
	for _, noise := range g.Noises {
		if noise > 0 && noise <= most {
			out = append(out, noise)
		}
	}
	return out
}

func (g *Experiment) hasLoss(kind string) bool {
	return g.Count(func(s *JudgedRun) bool { return s.Loss == kind }) > 0
}

// Form is the form of memorization that the main figure uses: the first that the experiment has.
func (g *Experiment) Form() MemoryForm {
	for _, f := range MemoryForms {
		if g.Count(func(s *JudgedRun) bool { _, ok := s.Memory(f.Key); return ok }) > 0 {
			return f
		}
	}
	return MemoryForms[0]
}
