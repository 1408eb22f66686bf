package cli

import (
	"cmp"
	"fmt"
	"math"
	"path/filepath"
	"time"

	"collapse.example/collapse/arrayfile"
	"collapse.example/collapse/internal/chart"
	"collapse.example/collapse/internal/findings"
	"collapse.example/collapse/internal/theoryfig"
	"collapse.example/collapse/internal/version"
	"collapse.example/collapse/landscape"
	"collapse.example/collapse/ufm"
)

type landscapeCmd struct {
	writesFolder

	K        int       `name:"k" default:"10" help:"Classes." placeholder:"K"`
	Alpha    float64   `default:"1" help:"Weight of the true class's squared error." placeholder:"A"`
	M        float64   `name:"m" default:"1" help:"Target of the true class." placeholder:"M"`
	Position []float64 `help:"Print losses and gradients at a length and an angle, instead of drawing pictures." placeholder:"S,THETA"`

	SMax     float64 `name:"s-max" default:"5" help:"Largest s of the pictures." placeholder:"S" group:"Pictures:"`
	ThetaMax float64 `name:"theta-max" default:"3.141592653589793" help:"Largest θ of the pictures." placeholder:"T" group:"Pictures:"`
	Out      string  `help:"Where to write: a folder for the page; default: ./out/landscape." type:"path" placeholder:"DIR" group:"Pictures:"`

	Classifier string `help:"A trained classifier: a file with a K×d matrix, such as a checkpoint's model.safetensors." type:"existingfile" placeholder:"FILE" group:"A trained classifier:"`
	WeightsKey string `help:"Name of the classifier's weight in its file; default: the only matrix with K rows." placeholder:"NAME" group:"A trained classifier:"`
	BiasKey    string `help:"Name of the classifier's bias in its file; default: no bias." placeholder:"NAME" group:"A trained classifier:"`
	Pair       []int  `help:"The feature's class and the other class that spans the plane." default:"0,1" placeholder:"A,B" group:"A trained classifier:"`
	Path       string `help:"A file with features over time (T×d), drawn as a path across the plane." type:"existingfile" placeholder:"FILE.npy" group:"A trained classifier:"`
}

func (c *landscapeCmd) effects() []effect {
	trained := "goes with --classifier, whose rows span the plane"
	return []effect{
		{"s-max theta-max out classifier weights-key bias-key pair path", len(c.Position) == 0, "is about pictures, and --position draws none"},
		{"weights-key bias-key pair path", c.Classifier != "", trained},
	}
}

// landscapeAt is the JSON of collapse landscape --position.
type landscapeAt struct {
	S, Theta float64 `json:"-"`

	Logits        map[string]float64 `json:"logits"`
	MSE           float64            `json:"mse"`
	MSEDS         float64            `json:"mse_ds"`
	MSEDTheta     float64            `json:"mse_dtheta"`
	CE            float64            `json:"ce"`
	CEDS          float64            `json:"ce_ds"`
	CEDTheta      float64            `json:"ce_dtheta"`
	MSEInf        float64            `json:"mse_inf"`
	MSEInfDS      float64            `json:"mse_inf_ds"`
	MSEInfDTheta  float64            `json:"mse_inf_dtheta"`
	CEInf         ufm.Number         `json:"ce_inf"` // null: the loss itself grows like log K
	CEInfDS       float64            `json:"ce_inf_ds"`
	CEInfDTheta   float64            `json:"ce_inf_dtheta"`
	CEShare       float64            `json:"ce_angle_share"`
	MSEAngleShare float64            `json:"mse_angle_share"`
}

func (c *landscapeCmd) Run(a *app) error {
	a.onlyComputes()
	params := landscape.Params{K: c.K, Alpha: c.Alpha, M: c.M}
	if err := params.Validate(); err != nil {
		return usageError{err}
	}
	if len(c.Position) > 0 {
		return c.at(a, params)
	}
	if !(c.SMax > 0) || !(c.ThetaMax > 0) || math.IsInf(c.SMax+c.ThetaMax, 0) {
		return usagef("--s-max and --theta-max are %g and %g, wanted finite and above 0", c.SMax, c.ThetaMax)
	}
	began, out := time.Now(), cmp.Or(c.Out, filepath.Join("out", "landscape"))
	o := a.outputs()
	o.Reads(c.Classifier, c.Path)
	to, err := pageFolder(o, out)
	if err != nil {
		return err
	}
	extra, path, err := c.trained()
	if err != nil {
		return err
	}
	p := findings.Theory{ID: "landscape", Title: "The loss around a simplex-ETF classifier", Source: "Zhou et al. 2022, Proposition C.1, with the errata applied",
		Figures: theoryfig.LandscapeFigures(params, c.SMax, c.ThetaMax, extra, path), Command: fmt.Sprintf("collapse landscape --k %d --alpha %g --m %g", c.K, c.Alpha, c.M)}
	result, err := new(reproduceCmd).write(a, p.Findings(), to)
	if err != nil {
		return err
	}
	result.Seconds, result.Program = time.Since(began).Seconds(), version.Version
	return a.emit(result, func() { result.print(a) })
}

func (c *landscapeCmd) at(a *app, params landscape.Params) error {
	if len(c.Position) != 2 || !(c.Position[0] >= 0) || math.IsNaN(c.Position[1]) || math.IsInf(c.Position[0]+c.Position[1], 0) {
		return usagef("--position wants a length s ≥ 0 and an angle: --position 1.7,0.6")
	}
	s, theta := c.Position[0], c.Position[1]
	own, other, rest := params.Logits(s, theta)
	mse, ce, mseInf, ceInf := params.MSE(s, theta), params.CE(s, theta), params.MSELimit(s, theta), landscape.CELimit(s, theta)
	out := landscapeAt{S: s, Theta: theta, Logits: map[string]float64{"own": own, "other": other, "rest": rest},
		MSE: mse.Loss, MSEDS: mse.DS, MSEDTheta: mse.DTheta, CE: ce.Loss, CEDS: ce.DS, CEDTheta: ce.DTheta,
		MSEInf: mseInf.Loss, MSEInfDS: mseInf.DS, MSEInfDTheta: mseInf.DTheta, CEInf: ufm.None, CEInfDS: ceInf.DS, CEInfDTheta: ceInf.DTheta,
		CEShare: landscape.AngleShare(params.CE, 200), MSEAngleShare: landscape.AngleShare(params.MSE, 200)}
	return a.emit(out, func() {
		a.printf("K = %d, s = %g, θ = %g, α = %g, M = %g\nlogits     own %.8g, other %.8g, each of the rest %.8g\n\n", c.K, s, theta, c.Alpha, c.M, own, other, rest)
		a.printf("%-14s %14s %14s %14s\n", "", "loss", "∂/∂s", "∂/∂θ")
		for _, row := range []struct {
			name string
			v    landscape.Value
		}{{"MSE", mse}, {"CE", ce}, {"MSE, K → ∞", mseInf}} {
			a.printf("%-14s %14.8g %14.8g %14.8g\n", row.name, row.v.Loss, row.v.DS, row.v.DTheta)
		}
		a.printf("%-14s %14s %14.8g %14.8g\n", "CE, K → ∞", "like log K", ceInf.DS, ceInf.DTheta)
	})
}

// trained reads the classifier and the path, if asked for.
func (c *landscapeCmd) trained() (map[string]theoryfig.Loss, []chart.Series, error) {
	if c.Classifier == "" {
		return nil, nil, nil
	}
	if len(c.Pair) != 2 {
		return nil, nil, usagef("--pair wants two classes, such as 0,1")
	}
	var w, bias []float64
	var shape []int
	err := arrayfile.Read(c.Classifier, func(f *arrayfile.File) error {
		name, err := c.weightName(f)
		if err != nil {
			return err
		}
		if w, shape, err = loadMatrix(f, name); err == nil && c.BiasKey != "" {
			bias, _, err = loadMatrix(f, c.BiasKey)
		}
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	plane, err := landscape.NewPlane(w, bias, shape[0], shape[1], c.Pair[0], c.Pair[1])
	if err != nil {
		return nil, nil, usageError{err}
	}
	path, err := c.path(plane, shape[1])
	return map[string]theoryfig.Loss{"trained CE": plane.CE,
		"trained MSE": func(s, theta float64) landscape.Value { return plane.MSE(s, theta, c.Alpha, c.M) }}, path, err
}

// weightName is --weight, or the one matrix with K rows.
func (c *landscapeCmd) weightName(f *arrayfile.File) (string, error) {
	if c.WeightsKey != "" {
		return c.WeightsKey, nil
	}
	var found []string
	for _, h := range f.Headers() {
		if len(h.Shape) == 2 && h.Shape[0] == c.K {
			found = append(found, h.Name)
		}
	}
	if len(found) != 1 {
		return "", usagef("%s has %d matrices with %d rows (%v): name one with --weights-key", c.Classifier, len(found), c.K, found)
	}
	return found[0], nil
}

// loadMatrix reads a vector or matrix.
func loadMatrix(f *arrayfile.File, name string) ([]float64, []int, error) {
	array, err := f.Load(name)
	if err != nil {
		return nil, nil, err
	}
	if len(array.Shape) < 1 || len(array.Shape) > 2 {
		return nil, nil, fmt.Errorf("%s has shape %v, wanted a matrix or a vector", name, array.Shape)
	}
	values, err := array.Float64s()
	return values, append(append([]int(nil), array.Shape...), 1)[:2], err
}

// path places the features of --path on the plane.
func (c *landscapeCmd) path(plane *landscape.Plane, d int) ([]chart.Series, error) {
	if c.Path == "" {
		return nil, nil
	}
	var h []float64
	var shape []int
	err := arrayfile.Read(c.Path, func(f *arrayfile.File) (err error) {
		headers := f.Headers()
		if len(headers) != 1 {
			return fmt.Errorf("%s holds %d arrays, wanted one of features over time", c.Path, len(headers))
		}
		h, shape, err = loadMatrix(f, headers[0].Name)
		return err
	})
	if err != nil {
		return nil, err
	}
	if shape[1] != d {
		return nil, fmt.Errorf("%s has features of width %d, the classifier %d", c.Path, shape[1], d)
	}
	line := chart.Series{ID: "path", Label: "feature over time", Kind: chart.LinePoints, Marker: chart.Dot, Color: chart.Ink}
	for i := range shape[0] {
		s, theta := plane.Place(h[i*d:][:d])
		line.X, line.Y = append(line.X, s), append(line.Y, math.Abs(theta))
	}
	return []chart.Series{line}, nil
}
