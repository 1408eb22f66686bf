package judge

import (
	"slices"
	"strconv"
	"strings"

	"collapse.example/collapse/measure"
)

// The claims of M-D Fig. 1 about one experiment. The paper's two statements, one slope and less memorization under label smoothing,
// are each judged twice: on the sum that the paper prints, and on that sum divided by the distance between class means, which
// rescaling all features does not change. With more than two classes, what is claimed about dilation is also judged on dilation by
// the ratio of traces, because NC1 by pseudo-inverse explodes where class means are nearly dependent.

// Our bands, with their reasons.
var (
	slopeBand   = [2]float64{0.8, 1.25}
	lineBand    = [2]float64{-0.1, 0.1}
	settledBand = [2]float64{0.95, 1.05}
)

const (
	slopeReason   = "ours: slopes within a quarter of each other; raw slopes of the four losses differ by more than a factor of two"
	lineReason    = "ours: a tenth of the rise; x² from zero bends by a quarter of it, √x by a fifth"
	settledReason = "ours: five per cent"
)

// scaleFree is the name of memorization in units of the distance between class means.
const scaleFree = derivedSplit + ".memorization_scale_free"

// lowNoise is the noise up to which the line is claimed: the paper's "when mem is not large".
const lowNoise = 0.2

// Claims judges the statements of M-D Fig. 1 on one experiment.
func (g *Experiment) Claims() []Claim {
	var out []Claim
	for _, s := range g.statements() {
		c, err := s.judge(g.Runs)
		if err != nil {
			panic("judge: a statement of M-D Fig. 1: " + err.Error()) // they are constants, checked by a test
		}
		out = append(out, c)
	}
	return out
}

// unitOfMemorization is one of the two units in which memorization is judged.
type unitOfMemorization struct{ id, name, words string }

func (g *Experiment) unitsOfMemorization() []unitOfMemorization {
	raw := "train." + g.Form().Key
	if g.Count(func(s *JudgedRun) bool { _, ok := s.Memory("memorization_redrawn"); return ok }) > 0 {
		raw = "train.memorization_redrawn"
	}
	return []unitOfMemorization{{"", raw, "as the paper sums it"}, {"-scale-free", scaleFree, "divided by the distance between class means"}}
}

// formOfDilation is one of the two in which dilation is judged.
type formOfDilation struct{ id, name, words string }

// formsOfDilation are √NC1_test, as the paper has it, and with more than two classes the form without a pseudo-inverse.
func (g *Experiment) formsOfDilation() []formOfDilation {
	forms := []formOfDilation{{"", "test." + measure.KeyDilation, "√NC1_test"}}
	traced := func(s *JudgedRun) bool { _, ok := s.Last("test", measure.KeyNC1TraceRatio); return ok }
	if classes, _ := strconv.Atoi(g.Settings["data.classes"]); classes > 2 && g.Count(traced) > 0 {
		forms = append(forms, formOfDilation{"-trace", derivedSplit + ".dilation_trace", "√(Tr Σ_W / Tr Σ_B) of the test features"})
	}
	return forms
}

// base is what all claims have in common.
func base(id, says string, noise []any) Statement {
	return Statement{ID: id, Says: says, Runs: "regular", Where: selection{"data.noise": noise}}
}

// statements are the claims for the losses and noise levels that the experiment has.
func (g *Experiment) statements() (out []Statement) {
	noisy, units := g.levels(1), g.unitsOfMemorization()
	for _, f := range g.formsOfDilation() {
		out = append(out, g.dilates(f, units)...)
	}
	if g.hasLoss("ls") && g.hasLoss("ce") {
		out = append(out, g.smoothing(noisy, units)...)
	}
	out = append(out, g.settled(noisy, units[0])...)
	for i := range out {
		out[i].Provenance = g.sourceInMD(out[i].ID)
	}
	return out
}

// saidInMD are the sentences of M-D about two classes, by the claim that asks them.
var saidInMD = map[string]Provenance{
	"growth":    {FromPaper, "Empirical evidence suggests that the memorization of noisy data points leads to a degradation (dilation) of the neural collapse", "abstract"},
	"linear-ce": {FromPaper, "an approximately linear correspondence between … and mem for the CE derivatives (CE and LS) on all datasets when mem is not large", "Sec. 4.1"},
	"linear-ls": {FromPaper, "an approximately linear correspondence between … and mem for the CE derivatives (CE and LS) on all datasets when mem is not large", "Sec. 4.1"},
	"slope-ls":  {FromPaper, "as CE and LS share the same slope … the memorization-dilation curve is nevertheless shared between CE and LS", "Sec. 4.1"},
	"slope-lr":  {FromPaper, "MSE and LR show a different memorization-dilation correspondence", "Sec. 4.1"},
	"slope-mse": {FromPaper, "MSE and LR show a different memorization-dilation correspondence", "Sec. 4.1"},

	"ls-memorizes-less":    {FromPaper, "since LS leads the network to memorize less, it results in improved performance", "Sec. 4.1"},
	"ls-accuracy":          {FromPaper, "LS consistently performs better than CE across all datasets, with very few exceptions", "Fig. 1, caption"},
	"settled-memorization": {FromPaper, "the last 50 epochs did not make any significant changes", "Sec. 4.1"},
	"settled-dilation":     {FromPaper, "the last 50 epochs did not make any significant changes", "Sec. 4.1"},
}

// sourceInMD is the source of a claim of M-D Fig. 1: what is measured in other ways than the paper's is ours. Of more than two classes
// the paper says only that dilation depends on memorization in a similar way, not that losses share a slope.
func (g *Experiment) sourceInMD(id string) Provenance {
	p, said := saidInMD[id]
	if classes, _ := strconv.Atoi(g.Settings["data.classes"]); classes > 2 {
		p = Provenance{FromPaper, "Albeit not perfect, a similar dependence can be observed for multi-class settings", "App. A.1.2"}
		said = slices.Contains([]string{"growth", "linear-ce", "linear-ls"}, id)
	}
	if !said {
		p = Provenance{Source: Ours}
	}
	return p
}

// dilates are the claims about dilation against memorization, in one form of the former.
func (g *Experiment) dilates(f formOfDilation, units []unitOfMemorization) (out []Statement) {
	low := g.levels(lowNoise)
	growth := base("growth"+f.id, "With label noise, memorization and dilation "+f.words+" grow together, whatever the loss", g.levels(1))
	growth.Kind, growth.Left, growth.Right, growth.Cells = More, slopeOver(units[0].name, f, ""), "0", []string{"loss.kind"}
	out = append(out, growth)
	for _, kind := range []string{"ce", "ls"} {
		if g.hasLoss(kind) {
			s := base("linear-"+kind+f.id, f.words+" is linear in memorization for "+lossNames[kind]+" while memorization is not large (η ≤ 0.2)", low)
			s.Where["loss.kind"] = kind
			s.Kind, s.X, s.Y, s.Band, s.Because = Linear, units[0].name, f.name, &lineBand, lineReason
			out = append(out, s)
		}
	}
	for _, kind := range []string{"ls", "lr", "mse"} {
		if g.hasLoss(kind) && g.hasLoss("ce") {
			for _, u := range units {
				out = append(out, slopes(base("slope-"+kind+u.id+f.id, "", low), kind, u, f))
			}
		}
	}
	return out
}

// slopes is the claim that a loss shares the slope of cross entropy (label smoothing) or has a different one (the
// other losses).
func slopes(s Statement, kind string, u unitOfMemorization, f formOfDilation) Statement {
	s.Kind, s.Says = Differ, "The slope of "+f.words+" against memorization, "+u.words+", differs between "+lossNames[kind]+" and cross entropy (η ≤ 0.2)"
	if kind == "ls" {
		s.Kind, s.Says = Equal, "Cross entropy and label smoothing share one slope of "+f.words+" against memorization, "+u.words+" (η ≤ 0.2)"
	}
	s.Unit, s.Band, s.Because = quotient, &slopeBand, slopeReason
	s.Left, s.Right = slopeOver(u.name, f, kind), slopeOver(u.name, f, "ce")
	return s
}

// smoothing are the claims that compare label smoothing with cross entropy at equal noise.
func (g *Experiment) smoothing(noisy []any, units []unitOfMemorization) (out []Statement) {
	for _, u := range units {
		s := base("ls-memorizes-less"+u.id, "At equal label noise, label smoothing memorizes less than cross entropy, "+u.words, noisy)
		s.Kind, s.Unit, s.Cells = Less, LogRatio, []string{"data.noise"}
		s.Left, s.Right = finalOf(u.name, "ls"), finalOf(u.name, "ce")
		out = append(out, s)
	}
	s := base("ls-accuracy", "With label noise, label smoothing is at least as accurate on test data as cross entropy, within half a point", noisy)
	s.Kind, s.Cells, s.Percent = More, []string{"data.noise"}, true
	s.Left, s.Right = finalOf("test.accuracy", "ls"), finalOf("test.accuracy", "ce")+" - 0.005"
	return append(out, s)
}

// settled are the claims that training was long enough.
func (g *Experiment) settled(noisy []any, u unitOfMemorization) (out []Statement) {
	for _, q := range []struct{ id, name, words string }{{"memorization", u.name, "Memorization"}, {"dilation", "test.dilation", "Dilation"}} {
		s := base("settled-"+q.id, q.words+" does not change in the last quarter of training", noisy)
		s.Kind, s.Unit, s.Band, s.Because, s.Cells = Equal, LogRatio, &settledBand, settledReason, []string{"loss.kind", "data.noise"}
		s.Left, s.Right = finalOf(q.name, ""), strings.Replace(finalOf(q.name, ""), `final(`, `at(`, 1)
		s.Right = strings.TrimSuffix(s.Right, ")") + ", 0.75)"
		out = append(out, s)
	}
	return out
}

// slopeOver is the expression for the slope of a form of dilation over one of memorization, under one loss or all.
func slopeOver(memorization string, f formOfDilation, kind string) string {
	return `slope("` + memorization + `", "` + f.name + `"` + ofKind(kind) + `)`
}

func finalOf(name, kind string) string { return `final("` + name + `"` + ofKind(kind) + `)` }

func ofKind(kind string) string {
	if kind == "" {
		return ""
	}
	return `, {"loss.kind": "` + kind + `"}`
}

// levels are the noise levels above zero up to a limit, in the form of a selection.
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
