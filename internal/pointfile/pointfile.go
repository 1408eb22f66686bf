// Package pointfile keeps a point of an unconstrained-features model in a file of arrays.
package pointfile

import (
	"fmt"
	"io"
	"math"
	"slices"

	"collapse.example/collapse/arrayfile"
	"collapse.example/collapse/ufm"
)

// A point file (.npz; .npy and .safetensors containers work as well) holds the variables by name, float64 or float32, row-major: W
// (K×d), H (d×N, class-major columns) and b (K), or W2 (K×d), W1 (d×d) and H1 (d×N).

// Write writes p as .npz.
func Write(w io.Writer, c ufm.Config, p ufm.Point) error {
	var arrays []arrayfile.Array
	for _, v := range c.Arrays(p) {
		arrays = append(arrays, arrayfile.Of(v.Name, v.Shape, v.Value))
	}
	return arrayfile.WriteNPZ(w, arrays)
}

// Read reads a point file. If c.K, c.D or c.N is 0, it is taken from the file; the returned configuration has all three.
//
// It returns an error that names a missing or unknown array, a wrong shape, or the first variable that
// is not finite.
func Read(c ufm.Config, path string) (ufm.Config, ufm.Point, error) {
	found, p := c, ufm.Point{}
	err := arrayfile.Read(path, func(f *arrayfile.File) (err error) {
		found, p, err = read(c, f, path)
		return err
	})
	if err != nil {
		return c, ufm.Point{}, err
	}
	return found, p, nil
}

func read(c ufm.Config, f *arrayfile.File, path string) (ufm.Config, ufm.Point, error) {
	fail := func(format string, args ...any) (ufm.Config, ufm.Point, error) {
		return c, ufm.Point{}, fmt.Errorf("point file %s: %w", path, fmt.Errorf(format, args...))
	}
	shapes, held := map[string][]int{}, 0.0
	for _, h := range f.Headers() {
		shapes[h.Name] = h.Shape
		held += float64(h.Len())
	}
	c = sized(c, shapes)
	if c.K == 0 || c.D == 0 || c.N == 0 {
		return fail("its arrays are %v: wanted %s to tell k, d and n (or give them), H with as many columns for every class", names(shapes), sizing(c))
	}
	if err := c.Validate(); err != nil {
		return fail("%w", err)
	}
	const spare = 1 << 16 // a shape with a 0 in it can claim any size; small ones get a better error below
	if want := float64(c.D) * float64(c.K) * (float64(c.N) + 1); want > held+spare {
		return fail("its arrays hold %.0f numbers, wanted at least %.0f (k = %d, d = %d, n = %d)", held, want, c.K, c.D, c.N)
	}
	p := c.NewPoint()
	for _, v := range c.Arrays(p) {
		shape, ok := shapes[v.Name]
		if !ok {
			return fail("array %s is missing, wanted %v; the file holds %v", v.Name, v.Shape, names(shapes))
		}
		if !slices.Equal(shape, v.Shape) {
			return fail("%s has shape %v, wanted %v (k = %d, d = %d, n = %d)", v.Name, shape, v.Shape, c.K, c.D, c.N)
		}
		delete(shapes, v.Name)
		array, err := f.Load(v.Name)
		if err != nil {
			return fail("%w", err)
		}
		values, err := array.Float64s()
		if err != nil {
			return fail("%s: %w", v.Name, err)
		}
		copy(v.Value, values)
		if err := finite(v); err != nil {
			return fail("%w", err)
		}
	}
	if len(shapes) > 0 {
		return fail("arrays %v do not belong to %s with these penalties (a bias needs lb)", names(shapes), c.Model)
	}
	return c, p, nil
}

// finite returns an error that names the first entry that is not finite, by row and column from 0.
func finite(v ufm.Array) error {
	for i, x := range v.Value {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			at := fmt.Sprint(i)
			if len(v.Shape) == 2 {
				at = fmt.Sprintf("%d,%d", i/v.Shape[1], i%v.Shape[1])
			}
			return fmt.Errorf("%s[%s] is %g, wanted finite numbers", v.Name, at, x)
		}
	}
	return nil
}

// sizing names the arrays whose shapes determine K, d and n.
func sizing(c ufm.Config) string {
	if c.ThreeFactor() {
		return "W2 (k×d) and H1 (d×kn)"
	}
	return "W (k×d) and H (d×kn)"
}

// sized fills in K, d and n where they are 0, from the shapes of W or W2 and of H or H1.
func sized(c ufm.Config, shapes map[string][]int) ufm.Config {
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
