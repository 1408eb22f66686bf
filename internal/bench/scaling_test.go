package bench

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"collapse.example/collapse/nn"
	"collapse.example/collapse/parallel"
)

// TestMakespan against parts that are handed out one by one to the thread that is free first.
func TestMakespan(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.SliceOfN(rapid.Float64Range(0, 10), 1, 40).Draw(t, "parts")
		threads := rapid.IntRange(1, 12).Draw(t, "threads")
		free := make([]float64, threads)
		for _, p := range parts {
			i := slices.Index(free, slices.Min(free))
			free[i] += p
		}
		if got, want := (job{parts: parts}).makespan(threads), slices.Max(free); math.Abs(got-want) > 1e-12*want {
			t.Fatalf("%g, wanted %g", got, want)
		}
	})
	if got := (job{}).makespan(3); got != 0 {
		t.Errorf("no parts take %g", got)
	}
}

// TestScale: one thread takes what was recorded, more take less, and a machine's own threads are measured.
func TestScale(t *testing.T) {
	arch, batch, err := Net("resnet18-adapt", 2)
	if err != nil {
		t.Fatal(err)
	}
	r, err := Scale(TrainConfig{Name: "resnet18-adapt", Arch: arch, Batch: batch, Steps: 1}, []int{1, 4, 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	one, four, many := r.Rows[0], r.Rows[1], r.Rows[2]
	if one.Gain != 1 || !(four.Gain > 1 && four.Gain <= 4 && many.Gain >= four.Gain) || r.Jobs < 100 || !(one.ForecastMS > r.SerialMS && r.SerialMS > 0) {
		t.Errorf("%+v", r)
	}
	if one.MeasuredMS == nil || !(*one.MeasuredMS > 0) || many.MeasuredMS != nil {
		t.Errorf("measured %v and %v", one.MeasuredMS, many.MeasuredMS)
	}
	if _, err := Scale(TrainConfig{Name: "x", Arch: arch, Batch: batch}, nil); err == nil {
		t.Error("no steps are timed")
	}
}

// productOps are operations whose time is that of their products.
var productOps = []string{nn.OpForward, nn.OpInputGrad, nn.OpWeightGrad}

// longest returns for each product of a step its operations, and how many parts the longest of its jobs has: those before and behind it only
// arrange. It is known from shapes alone, the same on every machine.
func longest(t *testing.T, name string) (flops map[nn.Operation]float64, parts map[nn.Operation]int) {
	arch, batch, err := Net(name, 0)
	if err != nil {
		t.Fatal(err)
	}
	team := parallel.NewTeam(1)
	defer team.Close()
	s, err := newStepper(TrainConfig{Name: name, Arch: arch, Batch: batch, Steps: 1}, team)
	if err != nil {
		t.Fatal(err)
	}
	of := map[string]float64{}
	for _, p := range listProducts(s.net) {
		of[p.layer] = p.all
	}
	flops, parts = map[nn.Operation]float64{}, map[nn.Operation]int{}
	jobs, _ := s.record(team, 1, false)
	for _, j := range jobs {
		if slices.Contains(productOps, j.op.Op) {
			flops[j.op], parts[j.op] = of[j.op.Layer], max(parts[j.op], len(j.parts))
		}
	}
	return flops, parts
}

// TestStepsHavePartsForManyThreads: whoever sets a constant that makes a few large parts hears of it. The share of the ideal gain is that of equal
// parts, of the products alone.
func TestStepsHavePartsForManyThreads(t *testing.T) {
	for name, least := range map[string]map[int]float64{
		"mlp": {4: .9, 8: .9, 16: .9}, "resnet18": {4: .9, 8: .9, 16: .8}, "resnet18-cifar": {4: .9, 8: .9, 16: .88}, "vgg13": {4: .9, 8: .9, 16: .85},
		"resnet18-adapt": {4: .9, 8: .85, 16: .7},
	} {
		flops, parts := longest(t, name)
		for threads, share := range least {
			one, many := 0.0, 0.0
			for op, n := range parts {
				one += flops[op]
				many += flops[op] / float64(n) * math.Ceil(float64(n)/float64(threads))
			}
			got := one / many / float64(threads)
			t.Logf("%s, %d threads: %.2f", name, threads, got)
			if !(got >= share) {
				t.Errorf("%s, %d threads: %.2f of the ideal gain, wanted %.2f", name, threads, got, share)
			}
		}
	}
}
