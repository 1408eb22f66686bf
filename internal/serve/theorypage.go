package serve

import (
	"cmp"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"sync"

	"collapse.example/collapse/dilation"
	"collapse.example/collapse/imbalance"
	"collapse.example/collapse/internal/figure"
	"collapse.example/collapse/internal/theoryfig"
	"collapse.example/collapse/ufm"
)

// theoryPage is the optimum of a model and the memorization–dilation model at the settings the reader chose.
type theoryPage struct {
	frame
	Models  []choice
	Laws    []choice
	Sliders []slider
	Says    string // the optimum in a sentence
	Exact   []theoryfig.Fact
	Optimum []shownFigure
	Problem string // why there is no optimum
	Dilated []theoryfig.Fact
	Noise   []shownFigure
	Noisy   string // why there is no solution
	Verdict string
	Beyond  []followed
	Symbols []symbol
}

// followed is a figure of a model beyond the papers, with what it says at the setting.
type followed struct {
	Says   string
	Figure shownFigure
}

type choice struct {
	Value, Name string
	Chosen      bool
}

// slider is a parameter with its limits. A logarithmic one moves by factors: its input holds log₁₀ of the value.
type slider struct {
	Name, Label string
	Value       float64
	Lo, Hi      float64
	Log, Whole  bool
	Step        float64
	For         string // the model it belongs to
}

// Position is the value on the slider's scale.
func (s slider) Position() float64 {
	if s.Log {
		return math.Round(math.Log10(s.Value)*1e6) / 1e6
	}
	return s.Value
}

func (s slider) scaled(v float64) float64 {
	if s.Log {
		return math.Log10(v)
	}
	return v
}

// Low, High and Shown are for the template.
func (s slider) Low() float64  { return s.scaled(s.Lo) }
func (s slider) High() float64 { return s.scaled(s.Hi) }
func (s slider) Shown() string { return strconv.FormatFloat(s.Value, 'g', 4, 64) }

const (
	forOptimum = "optimum"
	forBoth    = "both"
	forNoise   = "noise"
	forBeyond  = "beyond"
)

// sliders are the parameters with their usual values.
func sliders() []slider {
	return []slider{
		{Name: "k", Label: "classes K", Value: 4, Lo: 2, Hi: 20, Whole: true, Step: 1, For: forOptimum},
		{Name: "n", Label: "samples per class n", Value: 100, Lo: 1, Hi: 1000, Log: true, Whole: true, Step: 0.01, For: forOptimum},
		{Name: "d", Label: "width d", Value: 8, Lo: 1, Hi: 64, Whole: true, Step: 1, For: forOptimum},
		{Name: "lw", Label: "penalty λ_W", Value: 0.005, Lo: 1e-6, Hi: 1, Log: true, Step: 0.01, For: forBoth},
		{Name: "lh", Label: "penalty λ_H", Value: 0.005, Lo: 1e-6, Hi: 1, Log: true, Step: 0.01, For: forBoth},
		{Name: "alpha", Label: "label smoothing α", Value: 0.1, Lo: 0.005, Hi: 0.9, Step: 0.005, For: forBoth},
		{Name: "eta", Label: "noise η", Value: 0.05, Lo: 0.005, Hi: 0.5, Step: 0.005, For: forNoise},
		{Name: "c_md", Label: "C_MD", Value: 0.5, Lo: 0.05, Hi: 10, Log: true, Step: 0.01, For: forNoise},
		{Name: "ratio", Label: "imbalance R", Value: 10, Lo: 1, Hi: 1000, Log: true, Step: 0.01, For: forBeyond},
		{Name: "tau", Label: "temperature τ", Value: 0.1, Lo: 0.01, Hi: 2, Log: true, Step: 0.01, For: forBeyond},
	}
}

// theoryModels are those with a closed form in these parameters.
var theoryModels = []choice{{Value: "ce", Name: "cross entropy"}, {Value: "ls", Name: "label smoothing"}, {Value: "mse", Name: "squared error"},
	{Value: "ls-nonneg", Name: "label smoothing, features ≥ 0 (memorization–dilation)"}}

// lawWords say where the features of clean samples lie around their class mean (see dilation.NamedLaw).
var lawWords = map[string]string{"two-point": "two points, ±r towards the other class", "circle": "a circle", "sphere": "a sphere, in 3 dimensions", "ball": "a disc", "gaussian": "a Gaussian, cut at 3σ"}

// symbol is a symbol of the page with what it means.
type symbol struct{ Sign, Means string }

// symbols are those that labels and numbers use.
var symbols = []symbol{
	{"K, n, d", "number of classes, of samples per class, and of features"},
	{"W, H", "the classifier's weights (K×d) and all features (d×Kn)"},
	{"λ_W, λ_H", "their penalties in the objective"},
	{"hₖ", "mean feature of class k"},
	{"zₖ − zⱼ", "margin: how far the logit of the true class lies above another one"},
	{"κ", "one combination of K, n, λ_W and λ_H; the optimum is zero where it is too large"},
	{"c", "K√(nλ_Wλ_H), the same for squared error: all classes are at the origin from c = 1 on"},
	{"α, η", "label smoothing, and the share of noisy labels"},
	{"h₁, h₂, u₁", "means of the two classes, and the mean feature of noisy samples of class 1 that are labelled as class 2"},
	{"r", "dilation: root mean square distance of clean samples from their class mean; r* is its optimum, rₘₐₓ its largest possible value"},
	{"C_MD", "memorization per unit of dilation: u₁ may be no farther from h₂ than this allows"},
	{"R, g", "risk of all samples, and loss of a noisy one; beyond the papers R is how many times fewer samples small classes have"},
	{"L, τ", "number of layers of a deep model; temperature of unit features"},
	{"v", "a clean sample's distance from its class mean; its law is the shape of the cloud"},
}

// asked are the parameters of a request.
type asked struct {
	model, law string
	sliders    []slider
}

func (a asked) value(name string) float64 {
	for _, s := range a.sliders {
		if s.Name == name {
			return s.Value
		}
	}
	panic("serve: unknown parameter")
}

// ask reads a query; a field that is missing has its usual value.
func ask(q url.Values) (asked, error) {
	a := asked{model: cmp.Or(q.Get("model"), "ce"), law: cmp.Or(q.Get("law"), "circle"), sliders: sliders()}
	for i := range a.sliders {
		s := &a.sliders[i]
		text := q.Get(s.Name)
		if text == "" {
			continue
		}
		v, err := strconv.ParseFloat(text, 64)
		if err != nil || !(v >= s.Lo*(1-1e-9) && v <= s.Hi*(1+1e-9)) || s.Whole && v != math.Trunc(v) {
			kind := "a number"
			if s.Whole {
				kind = "a whole number"
			}
			return a, badRequest("%s is %s, wanted %s from %g to %g", s.Name, clip(text), kind, s.Lo, s.Hi)
		}
		s.Value = v
	}
	if !slices.ContainsFunc(theoryModels, func(c choice) bool { return c.Value == a.model }) {
		return a, badRequest("model is %s, wanted ce, ls, mse or ls-nonneg", clip(a.model))
	}
	return a, nil
}

func (a asked) config() ufm.Config {
	c := ufm.Config{Model: ufm.Model(a.model), K: int(a.value("k")), N: int(a.value("n")), D: int(a.value("d")),
		LW: a.value("lw"), LH: a.value("lh"), LB: ufm.NoBias}
	if c.Model == ufm.LS || c.Model == ufm.LSNonneg {
		c.Smoothing = a.value("alpha")
	}
	return c
}

func (a asked) params() (dilation.Params, error) {
	law, err := dilation.NamedLaw(a.law)
	if err != nil {
		return dilation.Params{}, statusError{http.StatusBadRequest, err}
	}
	return dilation.Params{LW: a.value("lw"), LH: a.value("lh"), Alpha: a.value("alpha"), CMD: a.value("c_md"), Eta: a.value("eta"), Law: law}, nil
}

// beyond are the parameters of the models beyond the papers.
func (a asked) beyond() theoryfig.Beyond {
	b := theoryfig.Beyond{Loss: imbalance.Loss(a.model), K: int(a.value("k")), N: int(a.value("n")), D: int(a.value("d")),
		LW: a.value("lw"), LH: a.value("lh"), Ratio: a.value("ratio"), Temperature: a.value("tau")}
	if c := a.config(); c.Model == ufm.LS || c.Model == ufm.LSNonneg {
		b.Loss, b.Smoothing = imbalance.LS, c.Smoothing
	}
	return b
}

// solved is the theory's answer to a request.
type solved struct {
	exact    *theoryfig.Explored
	optimum  []figure.Picture
	problem  error
	solution *dilation.Solution
	noise    []figure.Picture
	noisy    error
	beyond   *theoryfig.Followed
}

// answers caches the last solutions: a page's figures are requested one by one.
type answers struct {
	mu    sync.Mutex
	query [8]string
	found [8]*solved
	next  int
}

func (m *answers) get(query string) *solved {
	m.mu.Lock()
	defer m.mu.Unlock()
	if i := slices.Index(m.query[:], query); i >= 0 {
		return m.found[i]
	}
	return nil
}

func (m *answers) put(query string, found *solved) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.query[m.next], m.found[m.next] = query, found
	m.next = (m.next + 1) % len(m.query)
}

// solve computes both models, unless they are cached. If a setting is impossible, the answer says why.
func (s *Server) solve(r *http.Request, a asked) (*solved, error) {
	query := a.query().Encode()
	if found := s.answers.get(query); found != nil {
		return found, nil
	}
	found, err := s.compute(r, a)
	if err == nil {
		s.answers.put(query, found)
	}
	return found, err
}

func (s *Server) compute(r *http.Request, a asked) (*solved, error) {
	params, err := a.params()
	if err != nil {
		return nil, err
	}
	if err := take(r.Context(), s.heavy); err != nil {
		return nil, err
	}
	defer func() { <-s.heavy }()
	out := &solved{}
	if out.exact, out.problem = theoryfig.Explore(a.config()); out.problem == nil {
		if out.exact.Means != nil {
			out.optimum = figure.Geometry(out.exact.Means, a.config().K, a.config().D)
		}
		for _, f := range out.exact.Figures {
			out.optimum = append(out.optimum, figure.Picture{Figure: f})
		}
	}
	if out.solution, out.noisy = dilation.Solve(params); out.noisy == nil {
		predicted, err := theoryfig.SweepNoise(r.Context(), params, out.solution)
		if err != nil {
			return nil, err
		}
		out.noise = []figure.Picture{{Figure: predicted}, {Figure: theoryfig.RiskFigure(out.solution)}, {Figure: theoryfig.FeasibleFigure(out.solution)}}
	}
	out.beyond, err = a.beyond().Follow(r.Context())
	return out, err
}

func (s *Server) theoryPage(w http.ResponseWriter, r *http.Request) error {
	a, err := ask(r.URL.Query())
	if err != nil {
		return err
	}
	found, err := s.solve(r, a)
	if err != nil {
		return err
	}
	p := theoryPage{frame: s.frame(r, "theory", "Theory"), Sliders: a.sliders, Symbols: symbols}
	for _, c := range theoryModels {
		p.Models = append(p.Models, choice{c.Value, c.Name, c.Value == a.model})
	}
	for _, name := range dilation.LawNames() {
		p.Laws = append(p.Laws, choice{name, lawWords[name], name == a.law})
	}
	query := a.query()
	p.Optimum, p.Noise = drawAll(found.optimum, "/theory/figures", query), drawAll(found.noise, "/theory/figures", query)
	for i, f := range found.beyond.Figures {
		p.Beyond = append(p.Beyond, followed{found.beyond.Says[i], drawAll([]figure.Picture{{Figure: f}}, "/theory/figures", query)[0]})
	}
	if found.problem != nil {
		p.Problem = found.problem.Error()
	} else {
		p.Exact, p.Says = found.exact.Facts, found.exact.Says
	}
	if found.noisy != nil {
		p.Noisy = found.noisy.Error()
	} else {
		p.Dilated = theoryfig.SolutionFacts(found.solution)
		p.Verdict = againstTheorem(found.solution)
	}
	s.write(w, http.StatusOK, "theory", p)
	return nil
}

// againstTheorem compares a setting with Theorem 4.3.
func againstTheorem(sol *dilation.Solution) string {
	switch sol.Outcome() {
	case dilation.Predicted:
		return "Inside Assumption 4.2, and label smoothing dilates less than cross entropy, as Theorem 4.3 says."
	case dilation.Unpredicted:
		return "Outside Assumption 4.2; label smoothing still dilates less than cross entropy."
	case dilation.Contradiction:
		return "Inside Assumption 4.2, yet label smoothing dilates more, which contradicts Theorem 4.3."
	}
	return "Outside Assumption 4.2, and here cross entropy dilates less than label smoothing."
}

// query is the request with every parameter filled in.
func (a asked) query() url.Values {
	q := url.Values{"model": {a.model}, "law": {a.law}}
	for _, s := range a.sliders {
		q.Set(s.Name, strconv.FormatFloat(s.Value, 'g', -1, 64))
	}
	return q
}

func (s *Server) theoryFigures(r *http.Request) ([]figure.Picture, error) {
	a, err := ask(r.URL.Query())
	if err != nil {
		return nil, err
	}
	found, err := s.solve(r, a)
	if err != nil {
		return nil, err
	}
	all := slices.Concat(found.optimum, found.noise)
	for _, f := range found.beyond.Figures {
		all = append(all, figure.Picture{Figure: f})
	}
	return all, nil
}
