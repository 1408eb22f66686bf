package ufm

import (
	"fmt"
	"io"
	"math"
	"slices"

	"collapse.example/collapse/arrayfile"
)

// A point file (.npz; .npy and .safetensors containers work as well) holds the variables by name, float64 or float32, row-major: W
// (K×d), H (d×N, class-major columns) and b (K), or W2 (K×d), W1 (d×d) and H1 (d×N).

// variable is one array of a point file.
type variable struct {
	name  string
	shape []int
	value []float64
}

// variables lists the arrays of p under their file names.
func (c Config) variables(p Point) []variable {
	N := c.K * c.N
	if c.ThreeFactor() {
		return []variable{{"W2", []int{c.K, c.D}, p.W}, {"W1", []int{c.D, c.D}, p.W1}, {"H1", []int{c.D, N}, p.H}}
	}
	out := []variable{{"W", []int{c.K, c.D}, p.W}, {"H", []int{c.D, N}, p.H}}
	if c.HasBias() {
		out = append(out, variable{"b", []int{c.K}, p.B})
	}
	return out
}

// WritePoint writes p as .npz.
func (c Config) WritePoint(w io.Writer, p Point) error {
	var arrays []arrayfile.Array
	for _, v := range c.variables(p) {
		arrays = append(arrays, arrayfile.Of(v.name, v.shape, v.value))
	}
	return arrayfile.WriteNPZ(w, arrays)
}

// ReadPoint reads a point file. If c.K, c.D or c.N is 0, it is taken from the file; the returned configuration has all three.
//
// It returns an error that names a missing or unknown array, a wrong shape, or the first variable that
// is not finite.
func (c Config) ReadPoint(path string) (Config, Point, error) {
	found, p := c, Point{}
	err := arrayfile.Read(path, func(f *arrayfile.File) (err error) {
		found, p, err = c.readPoint(f, path)
		return err
	})
	if err != nil {
		return c, Point{}, err
	}
	return found, p, nil
}

func (c Config) readPoint(f *arrayfile.File, path string) (Config, Point, error) {
	fail := func(format string, args ...any) (Config, Point, error) {
		return c, Point{}, fmt.Errorf("ufm: point file %s: %w", path, fmt.Errorf(format, args...))
	}
	shapes, held := map[string][]int{}, 0.0
	for _, h := range f.Headers() {
		shapes[h.Name] = h.Shape
		held += float64(h.Len())
	}
	c = c.sized(shapes)
	if c.K == 0 || c.D == 0 || c.N == 0 {
		return fail("its arrays are %v: wanted %s to tell k, d and n (or give them), H with as many columns for every class", names(shapes), c.sizing())
	}
	if err := c.Validate(); err != nil {
		return fail("%w", err)
	}
	const spare = 1 << 16 // a shape with a 0 in it can claim any size; small ones get a better error below
	if want := float64(c.D) * float64(c.K) * (float64(c.N) + 1); want > held+spare {
		return fail("its arrays hold %.0f numbers, wanted at least %.0f (k = %d, d = %d, n = %d)", held, want, c.K, c.D, c.N)
	}
	p := c.NewPoint()
	for _, v := range c.variables(p) {
		shape, ok := shapes[v.name]
		if !ok {
			return fail("array %s is missing, wanted %v; the file holds %v", v.name, v.shape, names(shapes))
		}
		if !slices.Equal(shape, v.shape) {
			return fail("%s has shape %v, wanted %v (k = %d, d = %d, n = %d)", v.name, shape, v.shape, c.K, c.D, c.N)
		}
		delete(shapes, v.name)
		array, err := f.Load(v.name)
		if err != nil {
			return fail("%w", err)
		}
		values, err := array.Float64s()
		if err != nil {
			return fail("%s: %w", v.name, err)
		}
		copy(v.value, values)
		if err := v.finite(); err != nil {
			return fail("%w", err)
		}
	}
	if len(shapes) > 0 {
		return fail("arrays %v do not belong to %s with these penalties (a bias needs lb)", names(shapes), c.Model)
	}
	return c, p, nil
}

// finite returns an error that names the first entry that is not finite, by row and column from 0.
func (v variable) finite() error {
	for i, x := range v.value {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			at := fmt.Sprint(i)
			if len(v.shape) == 2 {
				at = fmt.Sprintf("%d,%d", i/v.shape[1], i%v.shape[1])
			}
			return fmt.Errorf("%s[%s] is %g, wanted finite numbers", v.name, at, x)
		}
	}
	return nil
}

// sizing names the arrays whose shapes determine K, d and n.
func (c Config) sizing() string {
	if c.ThreeFactor() {
		return "W2 (k×d) and H1 (d×kn)"
	}
	return "W (k×d) and H (d×kn)"
}

// sized fills in K, d and n where they are 0, from the shapes of W or W2 and of H or H1.
func (c Config) sized(shapes map[string][]int) Config {
	w, h := shapes["W"], shapes["H"]
	if c.ThreeFactor() {
		w, h = shapes["W2"], shapes["H1"]
	}
	if len(w) == 2 {
		if c.K == 0 {
			c.K = w[0]
		}
		if c.D == 0 {
			c.D = w[1]
		}
	}
	if c.N == 0 && len(h) == 2 && c.K > 0 && h[1]%c.K == 0 {
		c.N = h[1] / c.K
	}
	return c
}

func names(shapes map[string][]int) []string {
	out := make([]string, 0, len(shapes))
	for name := range shapes {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}
