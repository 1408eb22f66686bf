package train

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"strings"

	"collapse.example/collapse/nn"
)

// Part is one thing that takes memory in a run.
type Part struct {
	Name  string
	Bytes int64
	Try   string // what makes it smaller
}

// Footprint estimates what a run will allocate, before it does. The images are not included: they have been read by then.
type Footprint struct{ Parts []Part }

// Total returns the sum in bytes.
func (f Footprint) Total() (sum int64) {
	for _, p := range f.Parts {
		sum += p.Bytes
	}
	return sum
}

// MemoryError refuses a run that would not fit.
type MemoryError struct {
	Footprint
	Free int64 // bytes that this process may still take
}

// Error names the estimate, largest part first, and what to try about it.
func (e *MemoryError) Error() string {
	parts := slices.Clone(e.Parts)
	sort.SliceStable(parts, func(i, j int) bool { a, b := &parts[i], &parts[j]; return cmp.Compare(b.Bytes, a.Bytes) < 0 })
	var said []string
	for _, p := range parts {
		if p.Bytes*20 >= e.Total() {
			said = append(said, fmt.Sprintf("%s %s", p.Name, megabytes(p.Bytes)))
		}
	}
	return fmt.Sprintf("train: the run needs about %s (%s) and %s are free; %s, or start it anyway with --ignore-memory",
		megabytes(e.Total()), strings.Join(said, ", "), megabytes(e.Free), parts[0].Try)
}

func megabytes(bytes int64) string { return fmt.Sprintf("%.0f MB", float64(bytes)/(1<<20)) }

// footprint estimates what the session of a run will hold.
func footprint[T Float](c Plan, on sizes) (Footprint, error) {
	if c.External() {
		c = c.audited() // for a while, a network of our own exists next to the engine
	}
	net, err := nn.EstimateBytes[T](c.arch(on), c.batch(on), nn.Train)
	if err != nil {
		return Footprint{}, err
	}
	outline, err := nn.Outlined(c.arch(on))
	if err != nil {
		return Footprint{}, err
	}
	taps, err := c.tapped(outline.Taps)
	if err != nil {
		return Footprint{}, err
	}
	tapWidth := int64(0)
	for _, t := range taps {
		tapWidth += int64(t.Dim(c.flatten()))
	}
	size := int64(8)
	if c.Run.DType != "float64" {
		size = 4
	}
	k, d := on.classes, c.arch(on).Features()
	samples := int64(on.train + on.test + on.held)
	weights := net.Params / 2 // the rest are gradients
	batch := int64(c.batch(on)) * int64(on.image.Dim()+k) * size
	f := Footprint{[]Part{
		{"network", net.Params, "use a smaller network"},
		{"activations and scratch", net.Activations + net.Scratch + batch, fmt.Sprintf("lower run.batch (%d)", c.Run.Batch)},
		{"optimiser", weights * int64(c.Rule.Copies()), "use another optim.kind, or a smaller optim.lbfgs.history"},
		{"features of the splits", samples * (int64(d)*size + 9), "use a subset: data.samples_per_class, data.test_samples_per_class"},
		{"tapped layers", samples * tapWidth * size, "tap fewer layers, or run.tap_pool = average"},
		{"measures", int64(3*d*k+2*d*min(d, 2048)) * 8, "lower net.feature_dim"},
	}}
	// Every large slice is aligned to a large page, and the program itself takes some.
	f.Parts = append(f.Parts, Part{"program and alignment", 16<<20 + f.Total()/8, "free some memory"})
	return f, nil
}
