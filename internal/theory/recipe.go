package theory

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"collapse/recipes"
	"collapse/ufm"
)

// Recipe is a figure or theorem of a paper as a file of recipes/ says it.
type Recipe struct {
	ID      string `toml:"id"`
	Title   string `toml:"title"`
	Paper   string `toml:"paper"`   // which figure or theorem of which paper
	Caption string `toml:"caption"` // what it shows there
	Kind    string `toml:"kind"`    // one of Kinds
	Ours    string `toml:"ours"`    // values the paper does not print

	Model      modelTable     `toml:"model"`
	Descent    descentTable   `toml:"descent"`
	Noise      noiseTable     `toml:"noise"`
	Landscape  landscapeTable `toml:"landscape"`
	Dilation   dilationTable  `toml:"dilation"`
	Curve      curveTable     `toml:"curve"`
	Reductions []reductionRow `toml:"nc1"`
	Cases      []modelTable   `toml:"case"`
	ReLU       reluTable      `toml:"relu"`
}

// modelTable is ufm.Config in the words of the flags.
type modelTable struct {
	Model     string  `toml:"model"`
	Loss      string  `toml:"loss"`
	K         int     `toml:"k"`
	D         int     `toml:"d"`
	N         int     `toml:"n"`
	LW        float64 `toml:"lw"`
	LH        float64 `toml:"lh"`
	LB        any     `toml:"lb"` // a number or "none"
	L2        float64 `toml:"l2"`
	L1        float64 `toml:"l1"`
	LH1       float64 `toml:"lh1"`
	Alpha     float64 `toml:"alpha"`
	M         float64 `toml:"m"`
	Smoothing float64 `toml:"smoothing"`
	Sigma     float64 `toml:"sigma"`
	Layers    int     `toml:"layers"`
}

type descentTable struct {
	Iterations int       `toml:"iterations"`
	Quick      int       `toml:"quick_iterations"` // of --scale quick; 0: the same
	Step       float64   `toml:"step"`
	Init       []float64 `toml:"init"` // of W and H, or W2, W1, H1
	Every      int       `toml:"every"`
	Frame      string    `toml:"frame"`  // which NC2 the figure shows: "of" or "etf"
	Seeds      int       `toml:"seeds"`  // try so many and show the first that ends in the optimum
	Expect     string    `toml:"expect"` // "collapse" (also ""), "doomed" or "no-collapse"
}

type noiseTable struct {
	Samples []int `toml:"samples"` // n per class
}

type landscapeTable struct {
	K      int         `toml:"k"`
	SMax   float64     `toml:"s_max"`
	Theta  float64     `toml:"theta_max"`
	Losses []lossEntry `toml:"loss"`
}

type lossEntry struct {
	Kind  string  `toml:"kind"` // "mse" or "ce"
	Alpha float64 `toml:"alpha"`
	M     float64 `toml:"m"`
}

type dilationTable struct {
	LW    float64   `toml:"lw"`
	LH    float64   `toml:"lh"`
	Alpha float64   `toml:"alpha"`
	CMD   float64   `toml:"c_md"`
	Eta   float64   `toml:"eta"`
	Law   string    `toml:"law"`
	Etas  []float64 `toml:"etas"`
	CMDs  []float64 `toml:"c_mds"`
}

type curveTable struct {
	N      int       `toml:"n"`
	K      []int     `toml:"k"`
	Lambda []float64 `toml:"lambda"`
}

// reductionRow is one feature set of tb-appD.
type reductionRow struct {
	K    int    `toml:"k"`
	N    int    `toml:"n"`
	D    int    `toml:"d"`
	Seed uint64 `toml:"seed"`
}

// config turns the table into a problem.
func (m modelTable) config() (ufm.Config, error) {
	c := ufm.Config{Model: ufm.Model(m.Model), Loss: m.Loss, K: m.K, D: m.D, N: m.N, LW: m.LW, LH: m.LH, LB: ufm.NoBias,
		L2: m.L2, L1: m.L1, LH1: m.LH1, Alpha: m.Alpha, M: m.M, Smoothing: m.Smoothing, Sigma: m.Sigma, Layers: m.Layers}
	switch lb := m.LB.(type) {
	case nil:
	case string:
		if lb != "none" {
			return c, fmt.Errorf("theory: lb is %q, wanted a number or \"none\"", lb)
		}
	case float64:
		c.LB = lb
	case int64:
		c.LB = float64(lb)
	default:
		return c, fmt.Errorf("theory: lb is %v, wanted a number or \"none\"", lb)
	}
	return c, c.Validate()
}

// words lists the setting as the flags of collapse solve.
func (m modelTable) words() string {
	out := fmt.Sprintf("%s --k %d --d %d --n %d", m.Model, m.K, m.D, m.N)
	if m.L2 > 0 {
		return out + fmt.Sprintf(" --l2 %g --l1 %g --lh1 %g", m.L2, m.L1, m.LH1)
	}
	out += fmt.Sprintf(" --lw %g --lh %g", m.LW, m.LH)
	if m.LB != nil {
		out += fmt.Sprintf(" --lb %v", m.LB)
	}
	return out
}

// List returns the recipes' IDs in order.
func List() []string {
	var out []string
	entries, err := fs.ReadDir(recipes.Files, ".")
	if err != nil {
		panic("theory: the embedded recipes cannot be listed: " + err.Error())
	}
	for _, e := range entries {
		if id, ok := strings.CutSuffix(e.Name(), ".toml"); ok && isTheory(id) {
			out = append(out, id)
		}
	}
	return out
}

// isTheory says whether a recipe file is one of this package: it has a kind that Kinds lists.
func isTheory(id string) bool {
	b, err := fs.ReadFile(recipes.Files, id+".toml")
	if err != nil {
		return false
	}
	var head struct {
		Kind string `toml:"kind"`
	}
	return toml.Unmarshal(b, &head) == nil && slices.Contains(Kinds(), head.Kind)
}

// Load returns the recipe of an ID; the error lists the known ones.
func Load(id string) (*Recipe, error) {
	b, err := fs.ReadFile(recipes.Files, id+".toml")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("theory: there is no recipe %q; there are %s", id, strings.Join(List(), ", "))
	}
	if err != nil {
		return nil, fmt.Errorf("theory: recipe %s: %w", id, err)
	}
	return parse(id, b)
}

func parse(id string, b []byte) (*Recipe, error) {
	var r Recipe
	dec := toml.NewDecoder(bytes.NewReader(b))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&r); err != nil {
		var strict *toml.StrictMissingError
		if errors.As(err, &strict) {
			return nil, fmt.Errorf("theory: recipe %s has unknown keys:\n%s", id, strict.String())
		}
		return nil, fmt.Errorf("theory: recipe %s: %w", id, err)
	}
	if r.ID != id {
		return nil, fmt.Errorf("theory: recipe file %s has id %q", id, r.ID)
	}
	if !slices.Contains(Kinds(), r.Kind) {
		return nil, fmt.Errorf("theory: recipe %s has kind %q, wanted one of %s", id, r.Kind, strings.Join(Kinds(), ", "))
	}
	return &r, nil
}

func number(x float64) string {
	if math.IsNaN(x) {
		return "–"
	}
	return fmt.Sprintf("%.6g", x)
}
