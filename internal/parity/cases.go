// Package parity compares runs that another engine computes with the same runs on this program's own kernels: their numbers, their bits
// after a resume, and how fast they are. Open cases.go for what is compared, check.go for how.
package parity

import (
	"fmt"
	"slices"
	"strings"

	"collapse.example/collapse/internal/train"
)

// Case is a run of a few tiny epochs.
type Case struct {
	Name       string
	Settings   []string // over base
	Tolerance  float64  // of every row, relative
	Heavy      bool     // a network with millions of weights: seconds to minutes
	LineSearch bool     // L-BFGS with Wolfe conditions
}

// base is what all cases have in common: three glyphs, 24 images of each split, two steps an epoch.
var base = []string{"data.name=glyphs", "data.classes=3", "data.samples_per_class=8", "data.test_samples_per_class=8", "data.pipeline=md", "data.noise=0.2",
	"run.epochs=2", "run.batch=12", "optim.lr=0.01", "optim.schedule.kind=constant", "optim.weight_decay=0.01", "run.taps=stages"}

// choice is one value of what cases differ in: its name and its settings.
type choice struct {
	name     string
	settings []string
	heavy    bool // a network of millions of weights: it meets every optimiser, and of other choices what comes along
}

func named(name string, settings ...string) choice { return choice{name: name, settings: settings} }

func heavy(name string, settings ...string) choice { return choice{name, settings, true} }

// optimisers is the axis of the optimisers.
const optimisers = 2

// axes are what cases differ in. Kinds that no line below speaks of come with their defaults, so that a new network, loss or optimiser
// is compared as soon as there is one.
func axes() [][]choice {
	return [][]choice{
		kinds("net.kind", map[string][]choice{
			"mlp":            {named("mlp", "net.depth=2", "net.width=24", "net.feature_dim=8"), named("mlp linear features", "net.depth=1", "net.width=24", "net.feature_dim=2", "net.linear_features=true"), named("mlp sigmoid", "net.depth=1", "net.width=24", "net.feature_dim=8", "net.activation=sigmoid", "net.batch_norm=false")},
			"resnet18":       {heavy("resnet18"), heavy("resnet18 cifar d=16", "net.stem=cifar", "net.feature_dim=16")},
			"resnet18-adapt": {named("resnet18-adapt", "net.stem_width=4")},
			"vgg13":          {heavy("vgg13")},
			"vgg13-bn":       {heavy("vgg13-bn")},
		}),
		kinds("loss.kind", map[string][]choice{
			"ls":  {named("ls", "loss.smoothing=0.1")},
			"lr":  {named("lr", "loss.smoothing=0.1")},
			"mse": {named("mse"), named("mse paper", "loss.reduction=paper")},
		}),
		kinds("optim.kind", map[string][]choice{
			"sgd": {named("sgd"), named("sgd plain", "optim.momentum=0", "optim.nesterov=false")},
			// Where a gradient is 0 within rounding, Adam's first moves are its sign, whatever its size, unless eps is above it.
			"adam": {named("adam", "optim.lr=0.001", "optim.adam.eps=1e-6")},
			"lbfgs": {named("lbfgs", "optim.lbfgs.max_iter=2", "optim.lbfgs.history=2"),
				named("lbfgs wolfe", "optim.lbfgs.max_iter=2", "optim.lbfgs.history=2", "optim.lbfgs.line_search=strong_wolfe", "optim.lr=0.1")},
		}),
		{named("decay"), named("peeled", "optim.decay=peeled"), named("peeled-batch", "optim.decay=peeled-batch"), named("peeled-code", "optim.decay=peeled-code")},
		{named("learned"), named("no bias", "net.bias=false"), named("etf", "net.classifier=etf"), named("etf, bias 0", "net.classifier=etf", "net.freeze_bias=true"),
			named("normalized", "net.classifier=normalized")},
		{named("eval"), named("training pass", "run.measure_from=training-pass"), named("start, views, held out", "run.measure_start=true", "data.augment=crop_flip", "data.validation=0.2"),
			named("latent, flat taps", "data.noise_kind=latent", "run.tap_pool=flatten")},
	}
}

// kinds lists the choices of a key that chooses a kind: those given, or the kind as it is.
func kinds(key string, given map[string][]choice) (list []choice) {
	for _, k := range train.Kinds(key) {
		choices := given[k.Name]
		if choices == nil {
			choices = []choice{named(k.Name)}
		}
		for _, c := range choices {
			c.settings = append([]string{key + "=" + k.Name}, c.settings...)
			list = append(list, c)
		}
	}
	return list
}

// Cases lists cases in which every two choices of different axes meet, unless no run has both or one is heavy. all: every combination of network, loss,
// optimiser and decay.
func Cases(all bool) (list []Case) {
	axes := axes()
	if all {
		for _, n := range axes[0] {
			for _, l := range axes[1] {
				for _, o := range axes[2] {
					for _, d := range axes[3] {
						i := len(list)
						list = appendCase(list, n, l, o, d, axes[4][i%len(axes[4])], axes[5][i%len(axes[5])])
					}
				}
			}
		}
		return list
	}
	for _, row := range pairwise(axes) {
		list = appendCase(list, row...)
	}
	return list
}

// appendCase adds a case, if the program can compute it.
func appendCase(list []Case, choices ...choice) []Case {
	c := Case{Tolerance: 1e-9}
	var names []string
	for _, choice := range choices {
		names, c.Settings, c.Heavy = append(names, choice.name), append(c.Settings, choice.settings...), c.Heavy || choice.heavy
	}
	c.Name = strings.Join(names, ", ")
	// At 0.01, two epochs of squared error multiply a rounding by up to 10⁷ in these networks: our own kernels, avx512 and generic, then
	// differ by 6e-9.
	if c.Heavy && strings.Contains(c.Name, "mse") && strings.Contains(c.Name, "sgd") {
		c.Settings = append(c.Settings, "optim.lr=0.003")
	}
	if strings.Contains(c.Name, "lbfgs") {
		c.Tolerance, c.LineSearch = 1e-6, strings.Contains(c.Name, "wolfe")
	}
	if _, err := c.config("go"); err != nil {
		return list
	}
	return append(list, c)
}

// config is the run of a case in float64.
func (c Case) config(engine string) (train.Config, error) {
	return train.LoadShared(append(append(slices.Clone(base), c.Settings...), "run.dtype=float64", "run.engine="+engine)...)
}

// pairwise picks rows, a choice of each axis, until every two choices have met: each row is begun with a pair that has not, and filled up
// with what meets most for the first time.
func pairwise(axes [][]choice) (rows [][]choice) {
	type pair [4]int
	open := map[pair]bool{}
	var order []pair
	for a := range axes {
		for b := a + 1; b < len(axes); b++ {
			for i := range axes[a] {
				for j := range axes[b] {
					p := pair{a, i, b, j}
					if axes[a][i].heavy && b != optimisers {
						continue
					}
					open[p], order = true, append(order, p)
				}
			}
		}
	}
	meets := func(row []int, a, i int) (n int) {
		for b, j := range row {
			switch {
			case j < 0 || b == a:
			case b < a && open[pair{b, j, a, i}], b > a && open[pair{a, i, b, j}]:
				n++
			}
		}
		return n
	}
	for _, p := range order {
		if !open[p] {
			continue
		}
		row := slices.Repeat([]int{-1}, len(axes))
		row[p[0]], row[p[2]] = p[1], p[3]
		for a := range axes {
			if row[a] >= 0 {
				continue
			}
			best, most := 0, -1
			for k := range axes[a] {
				i := (k + len(rows)) % len(axes[a]) // ties go round
				if n := meets(row, a, i); n > most {
					best, most = i, n
				}
			}
			row[a] = best
		}
		chosen := make([]choice, len(axes))
		for a, i := range row {
			chosen[a] = axes[a][i]
			for b := a + 1; b < len(row); b++ {
				delete(open, pair{a, i, b, row[b]})
			}
		}
		rows = append(rows, chosen)
	}
	return rows
}

// String is the case as messages name it.
func (c Case) String() string { return fmt.Sprintf("%s (to %g)", c.Name, c.Tolerance) }

// Resumed are the cases whose bits are compared after a resume.
func Resumed() (list []Case) {
	for _, net := range axes()[0] {
		for _, optimiser := range []string{"optim.kind=sgd", "optim.kind=adam"} {
			list = append(list, Case{Name: net.name + ", " + optimiser, Settings: append(slices.Clone(net.settings), optimiser, "optim.lr=0.001", "data.augment=crop_flip")})
		}
	}
	return list[:4]
}
