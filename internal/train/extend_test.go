package train

import (
	"context"
	"errors"
	"strings"
	"testing"

	"collapse.example/collapse/data"
	"collapse.example/collapse/measure"
	"collapse.example/collapse/nn"

	"collapse.example/collapse/internal/longtest"
	"collapse.example/collapse/internal/rundir"
)

func heldConfig() Config {
	c := tinyConfig()
	c.Data.Validation = 0.25
	return c
}

// A run that continues a shorter one, even if it is interrupted after that, ends with the bits and the rows of an uninterrupted run,
// and trains no epoch twice.
func TestExtendedRunHasTheBitsOfAWholeOne(t *testing.T) {
	short, long := heldConfig(), heldConfig()
	short.Run.Epochs, long.Run.Epochs = 2, 5
	apart := newLab(t)
	want := mustRun(t, long, apart, Options{})
	lab := newLab(t)
	begin := mustRun(t, short, lab, Options{})
	ctx, cancel := context.WithCancel(context.Background())
	s := &stopAfter{epochs: 3, cancel: cancel}
	if _, err := Run(ctx, long, lab, Options{From: begin.Run, Sink: s, Open: openOnce}); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if s.begun.FirstEpoch != 3 || len(s.notes) != 0 {
		t.Fatalf("started at epoch %d, notes %q", s.begun.FirstEpoch, s.notes)
	}
	again := &recorder{}
	got := mustRun(t, long, lab, Options{From: begin.Run, Sink: again})
	if again.begun.FirstEpoch != 4 {
		t.Fatalf("went on at epoch %d", again.begun.FirstEpoch)
	}
	sameFiles(t, "extended", endFiles(t, want), endFiles(t, got))
	sameValues(t, "extended", epochValues(t, apart, want.Run), epochValues(t, lab, got.Run))
}

// Every failure of a call while a run continues a shorter one leaves a lab in which it ends like an uninterrupted run.
func TestEveryFailureOfAnExtensionLosesNothing(t *testing.T) {
	longtest.Only(t)
	short, long := heldConfig(), heldConfig()
	short.Run.Epochs, long.Run.Epochs = 1, 2
	apart, lab := newLab(t), newLab(t)
	whole := mustRun(t, long, apart, Options{})
	want, rows := endFiles(t, whole), epochValues(t, apart, whole.Run)
	begin := mustRun(t, short, lab, Options{})
	for n := 1; ; n += longtest.Of(3, 1) {
		fs := newFaultFS(n, true, errFull)
		_, err := Run(context.Background(), long, lab, Options{FS: fs, Open: openOnce, Again: true, From: begin.Run})
		if fs.calls < n {
			if n < 30 {
				t.Errorf("only %d calls were failed", n)
			}
			return
		}
		if !errors.Is(err, errFull.Err) {
			t.Fatalf("call %d: %v", n, err)
		}
		if err := fs.powerOff(); err != nil {
			t.Fatal(err)
		}
		r := mustRun(t, long, lab, Options{From: begin.Run})
		sameFiles(t, fs.log[n-1], want, endFiles(t, r))
		sameValues(t, fs.log[n-1], rows, epochValues(t, lab, r.Run))
	}
}

// A run that is not the beginning of this one is skipped, with a note, and changes nothing.
func TestOtherRunsAreNoBeginning(t *testing.T) {
	c := heldConfig()
	apart := newLab(t)
	want := endFiles(t, mustRun(t, c, apart, Options{}))
	for name, change := range map[string]func(short, long *Config){
		"another rate":   func(s, _ *Config) { s.Optim.LR = 0.05 },
		"another split":  func(s, _ *Config) { s.Data.Seed = 2 },
		"not measured":   func(s, l *Config) { s.Run.MeasureEvery, l.Run.MeasureEvery = 2, 2; s.Run.Epochs = 1 },
		"cosine":         func(s, l *Config) { s.Optim.Schedule.Kind, l.Optim.Schedule.Kind = "cosine", "cosine" },
		"unknown":        nil,
		"longer":         func(s, _ *Config) { s.Run.Epochs = 4 },
		"saved features": func(_, l *Config) { l.Run.SaveFeatures = "all" },
	} {
		lab := newLab(t)
		short, long := c, c
		short.Run.Epochs = 2
		from := strings.Repeat("0", 64)
		if change != nil {
			change(&short, &long)
			short.Optim.Schedule.Every, long.Optim.Schedule.Every = 40, 40
			if short.Optim.Schedule.Kind != "cosine" {
				short.Optim.Schedule.Every, long.Optim.Schedule.Every = 2, 2
			}
			from = mustRun(t, short, lab, Options{}).Run
		}
		s := &recorder{}
		r := mustRun(t, long, lab, Options{From: from, Sink: s})
		if len(s.notes) != 1 || !strings.Contains(s.notes[0], "not continuing run") || s.begun.FirstEpoch != 1 {
			t.Errorf("%s: notes %q, first epoch %d", name, s.notes, s.begun.FirstEpoch)
		}
		if long == c {
			sameFiles(t, name, want, endFiles(t, r))
		}
	}
}

// The validation split is the held-out samples with their true labels, none of which is trained on or redrawn, and its rows are what
// the network of the last checkpoint makes of them.
func TestValidationSplit(t *testing.T) {
	c, lab := heldConfig(), newLab(t)
	r := mustRun(t, c, lab, Options{})
	full, err := openOnce(c.source(data.Train), data.Train)
	if err != nil {
		t.Fatal(err)
	}
	kept, held, err := full.HoldOut(0.25, c.Data.Seed)
	if err != nil {
		t.Fatal(err)
	}
	if kept.N() != 60 || held.N() != 20 {
		t.Fatalf("%d kept and %d held out", kept.N(), held.N())
	}
	in, err := openInputs(mustPlan(t, c), Options{Open: openOnce})
	if err != nil {
		t.Fatal(err)
	}
	if err := in.prepare(c.Data.Pipeline); err != nil {
		t.Fatal(err)
	}
	s, err := newSession[float32](t.Context(), mustPlan(t, c), in, Options{})
	if err != nil {
		t.Fatal(err)
	}
	ckpt := &checkpoints{Writer: rundir.Dir(r.Dir).Writer(nil), run: r.Run}
	saved, err := ckpt.read(c.Run.Epochs)
	if err != nil {
		t.Fatal(err)
	}
	if err := loadModel(nativeOf(s).net, saved.model); err != nil {
		t.Fatal(err)
	}
	pipeline, err := data.PipelineNamed(c.Data.Pipeline)
	if err != nil {
		t.Fatal(err)
	}
	pixels, err := pipeline.Prepare(held)
	if err != nil {
		t.Fatal(err)
	}
	right := 0
	x := make([]float32, pixels.Dim())
	for i := range held.N() {
		data.FillAugmented(x, pixels, []int32{int32(i)}, data.Augment{}, 0)
		out := nativeOf(s).net.Forward(x, 1, nn.Eval)
		if nn.Argmax(out.Logits) == int(held.True[i]) {
			right++
		}
	}
	if got, want := r.Values["validation/"+measure.KeyAccuracy], float64(right)/float64(held.N()); got != want {
		t.Errorf("validation accuracy %g, wanted %g", got, want)
	}
	if loss, ok := r.Values["validation/loss"]; !ok || !(loss > 0) {
		t.Errorf("validation loss %g", loss)
	}
	// What is held out is part of the identity, and a share of 0 is not.
	other := c
	other.Data.Validation = 0
	a, text, err := Identify(c, openOnce)
	if err != nil {
		t.Fatal(err)
	}
	b, plain, err := Identify(other, openOnce)
	if err != nil {
		t.Fatal(err)
	}
	if a == b || !strings.Contains(string(text), held.Digest) || strings.Contains(string(plain), "validation") {
		t.Errorf("identities:\n%s\n%s", text, plain)
	}
	if back, err := FromCanonical(text); err != nil || back.Data.Validation != 0.25 {
		t.Errorf("read back: %v, %v", back.Data.Validation, err)
	}
}
