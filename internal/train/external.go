package train

import (
	"context"
	"fmt"

	"collapse.example/collapse/arrayfile"
	"collapse.example/collapse/internal/engine"
	"collapse.example/collapse/nn"
)

// external is an engine in another process, reached through package engine. All random numbers are drawn here: initial weights,
// label noise, order and views. link.go has the communication with the process, externalopen.go the opening of a run; audit.go
// compares its numbers with those of our own kernels.
type external[T Float] struct {
	*link
	taps    []nn.Tap
	witness *native[T]   // our own kernels, until both agree after some training; then nil
	weight  *nn.Param[T] // the classifier of the last evaluation
	bias    *nn.Param[T]
}

// newExternal finds a process for the run. The witness draws the initial weights.
func newExternal[T Float](ctx context.Context, c Plan, in inputs, taps []nn.Tap, opts Options) (*external[T], error) {
	witness, err := newNative[T](c.audited(), in, opts.Team, nil)
	if err != nil {
		return nil, err
	}
	x := &external[T]{taps: taps, witness: witness}
	want, err := x.wants(c, in, opts)
	if err != nil {
		return nil, err
	}
	if x.link, err = newLink(ctx, c, in, opts, want); err != nil {
		return nil, err
	}
	x.state, x.trains = shapeOf(witness), len(witness.penaltySquares())
	w, b := witness.net.Classifier()
	x.weight, x.bias = blank(w), blank(b)
	return x, nil
}

// blank returns a parameter like p with its own memory.
func blank[T Float](p *nn.Param[T]) *nn.Param[T] {
	if p == nil {
		return nil
	}
	return &nn.Param[T]{Name: p.Name, Shape: p.Shape, Value: make([]T, len(p.Value)), Frozen: p.Frozen}
}

// epoch implements backend.
func (x *external[T]) epoch(e epochOrder[T]) (tally, error) {
	sum, err := x.train(engine.Epoch{Epoch: e.number, LR: e.lr, Keep: e.keep != nil}, e.stop, e.stepped)
	if err != nil {
		return sum, err
	}
	if e.keep != nil {
		if err := x.hand("train.pass", x.in.train.N(), len(x.taps) > 0, e.keep); err != nil {
			return sum, err
		}
	}
	return sum, e.stop()
}

// evaluate implements backend.
func (x *external[T]) evaluate(split string, tapped bool, take taker[T]) error {
	if err := x.pass(engine.Evaluate{Splits: []string{split}, Layers: tapped}); err != nil {
		return err
	}
	if err := x.readHead(); err != nil {
		return err
	}
	return x.hand(split+".0", x.in.pixels(split).N(), tapped, take)
}

// readHead reads the classifier that an evaluation has left.
func (x *external[T]) readHead() error {
	arrays, err := x.folder.Tensors("head.0.safetensors", x.state.limit(1), nil)
	if err != nil {
		return err
	}
	wanted := map[string]*nn.Param[T]{x.weight.Name: x.weight}
	if x.bias != nil {
		wanted[x.bias.Name] = x.bias
	}
	for _, a := range arrays {
		p := wanted[a.Name]
		if p == nil || a.Len() != len(p.Value) {
			return x.broken("its classifier has %s of shape %v", a.Name, a.Shape)
		}
		if err := arrayfile.Convert(a, 0, p.Value); err != nil {
			return err
		}
		delete(wanted, a.Name)
	}
	if len(wanted) > 0 {
		return x.broken("its classifier lacks %d tensors", len(wanted))
	}
	return nil
}

func (x *external[T]) head() (weight, bias *nn.Param[T]) { return x.weight, x.bias }

// handRows is how many rows are handed over at a time.
const handRows = 512

// hand reads what a pass over n samples has left in files whose names begin with name, in the order of the samples.
func (x *external[T]) hand(name string, n int, tapped bool, take taker[T]) error {
	widths := []int{x.weight.Shape[1], x.weight.Shape[0]}
	names := []string{name + ".features.npy", name + ".logits.npy"}
	if tapped {
		for i, t := range x.taps {
			names, widths = append(names, fmt.Sprintf("%s.layer.%d.npy", name, i)), append(widths, t.Dim(x.cfg.flatten()))
		}
	}
	files, room := make([]*engine.Rows[T], len(names)), make([][]T, len(names))
	for i := range names {
		var err error
		if files[i], err = engine.OpenRows[T](x.folder, names[i], n, widths[i]); err != nil {
			return err
		}
		defer files[i].Close()
		room[i] = make([]T, handRows*widths[i])
	}
	samples, rows := make([]int32, 0, handRows), make([][]T, len(names))
	for first := 0; first < n; first += handRows {
		samples = samples[:0]
		for i := first; i < min(first+handRows, n); i++ {
			samples = append(samples, int32(i))
		}
		for i, f := range files {
			var err error
			if rows[i], err = f.Next(room[i]); err != nil {
				return err
			}
		}
		take(samples, outputs[T]{features: rows[0], logits: rows[1], layers: rows[2:]})
	}
	return nil
}

// save implements backend.
func (x *external[T]) save() (model, optim []arrayfile.Array, err error) {
	if model, optim, err = x.fetch(); err == nil && x.witness != nil && x.trained {
		if err = x.audit(model, "after training"); err == nil {
			x.witness = nil
		}
	}
	return model, optim, err
}

// load implements backend. It is called before training, so the witness reports what does not fit.
func (x *external[T]) load(model, optim []arrayfile.Array) error {
	if x.witness == nil {
		return x.give(model, optim)
	}
	if err := x.witness.load(model, optim); err != nil {
		return err
	}
	if err := x.give(model, optim); err != nil {
		return err
	}
	return x.audit(model, "before training")
}
