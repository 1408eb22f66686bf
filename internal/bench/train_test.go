package bench

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"collapse.example/collapse/internal/longtest"
	"collapse.example/collapse/nn"
	"collapse.example/collapse/parallel"
)

// smallNet is the named network at a size suitable for tests.
func smallNet(t *testing.T, name string) TrainConfig {
	t.Helper()
	width := 0
	switch name {
	case "mlp":
		width = 32
	case "resnet18-adapt":
		width = 2
	}
	arch, batch, err := Net(name, width)
	if err != nil {
		t.Fatal(err)
	}
	if batch < 64 {
		t.Errorf("%s: batch %d", name, batch)
	}
	return TrainConfig{Name: name, Arch: arch, Batch: 4, Steps: 1}
}

// TestProductsOfThePapersNetworks compares with the multiply-adds of a forward pass in the papers' tables and PyTorch's counters.
func TestProductsOfThePapersNetworks(t *testing.T) {
	longtest.Only(t)
	for name, want := range map[string]float64{"resnet18": 37.0e6, "resnet18-cifar": 555e6, "vgg13": 228e6, "mlp": 784*2048 + 8*2048*2048 + 2*2048 + 4} {
		arch, _, err := Net(name, 0)
		if err != nil {
			t.Fatal(err)
		}
		net, err := nn.NewArch[float32](arch, nil, 4, 1)
		if err != nil {
			t.Fatal(err)
		}
		list := listProducts(net)
		all, useful := 0.0, 0.0
		for _, p := range list {
			all, useful = all+p.all, useful+p.useful
		}
		if !(math.Abs(all-want) <= 0.005*want) || !(useful <= all) {
			t.Errorf("%s: %g multiply-adds, wanted %g; useful %g", name, all, want, useful)
		}
		if share := useful / all; name == "resnet18" && !(math.Abs(share-0.58) < 0.02) {
			t.Errorf("resnet18: %.3f of the taps see a pixel, wanted 0.58", share)
		}
		eval, _ := flops(list, 3, true)
		step, _ := flops(list, 3, false)
		if eval != 6*all || step != 18*all-6*list[0].all {
			t.Errorf("%s: %g operations in evaluation and %g in training of %g multiply-adds", name, eval, step, all)
		}
	}
}

func TestTrainReport(t *testing.T) {
	tm := parallel.NewTeam(2)
	defer tm.Close()
	for _, name := range longtest.Of([]string{"mlp", "resnet18-adapt"}, []string{"mlp", "resnet18-adapt", "resnet18", "vgg13"}) { // the others have millions of weights
		for _, eval := range []bool{false, true} {
			c := smallNet(t, name)
			c.Eval = eval
			r, err := Train(c, tm)
			if err != nil {
				t.Fatal(err)
			}
			if r.Net != name || r.Batch != 4 || r.Eval != eval || r.Threads != 2 || !(r.StepMS > 0 && r.BestMS <= r.StepMS) ||
				!(math.Abs(r.ImagesPerS-4e3/r.StepMS) <= 1e-9*r.ImagesPerS) || !(r.GFLOPS >= r.UsefulGFLOPS && r.UsefulGFLOPS > 0) ||
				!(math.Abs(r.FractionOfPeak-r.GFLOPS/r.PeakGFLOPS) < 1e-12) || !(r.RSSMB > 0) {
				t.Errorf("report %+v", r)
			}
		}
	}
	text, err := json.Marshal(TrainResult{})
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"net", "batch", "eval", "threads", "step_ms", "images_per_s", "rss_mb", "gflops", "fraction_of_peak"} {
		if !strings.Contains(string(text), `"`+key+`":`) {
			t.Errorf("no %s in %s", key, text)
		}
	}
	if _, err := Train(TrainConfig{Arch: smallNet(t, "mlp").Arch, Batch: 4}, tm); err == nil {
		t.Error("no steps were timed")
	}
}

func TestNetsAreNamed(t *testing.T) {
	if _, _, err := Net("resnet19", 0); err == nil || !strings.Contains(err.Error(), "resnet18-cifar") {
		t.Errorf("an unknown network: %v", err)
	}
	if _, _, err := Net("vgg13", 8); err == nil || !strings.Contains(err.Error(), "fixed width") {
		t.Errorf("a narrow VGG13: %v", err)
	}
	if a, _, err := Net("resnet18-adapt", 16); err != nil || a.StemWidth != 16 {
		t.Errorf("%+v, %v", a, err)
	}
}

// TestLayersAddUpToTheStep compares the sum of all operations with the step, and each layer's rates with its products.
func TestLayersAddUpToTheStep(t *testing.T) {
	for _, name := range longtest.Of([]string{"mlp", "resnet18-adapt"}, []string{"mlp", "resnet18-adapt", "vgg13-bn"}) {
		c := smallNet(t, name)
		c.Steps = 5
		r, err := Layers(c, nil)
		if err != nil {
			t.Fatal(err)
		}
		sum, ops := 0.0, map[string]int{}
		for _, o := range r.Operations {
			sum += o.MS
			ops[o.Op]++
			if products := o.Op == nn.OpForward || o.Op == nn.OpInputGrad || o.Op == nn.OpWeightGrad; products != (o.UsefulGFLOPS > 0) || o.Layer == "" && o.Op != opLoss && o.Op != opOptimiser {
				t.Errorf("%s: %+v", name, o)
			}
		}
		if !(r.Uncounted >= 0 && r.Uncounted < 0.1) {
			t.Errorf("%s: %.3f of the steps' time is not counted", name, r.Uncounted)
		}
		if ops[nn.OpForward] != ops[nn.OpWeightGrad] || ops[nn.OpForward] != ops[nn.OpInputGrad]+1 || ops[opOptimiser] != 1 || ops[nn.OpNorm] != ops[nn.OpNormGrad] {
			t.Errorf("%s: %v", name, ops)
		}
		kinds := 0.0
		for i, k := range r.Kinds {
			kinds += k.MS
			if i > 0 && k.MS > r.Kinds[i-1].MS {
				t.Errorf("%s: kinds are not sorted: %+v", name, r.Kinds)
			}
		}
		if !(math.Abs(kinds-sum) < 1e-9*sum) {
			t.Errorf("%s: kinds take %v, operations %v", name, kinds, sum)
		}
	}
}

func TestSlotsReport(t *testing.T) {
	r, err := slotsOf([]TrainConfig{smallNet(t, "mlp"), smallNet(t, "resnet18-adapt"), smallNet(t, "mlp")}, 2, time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Nets) != 3 || r.Slots < 1 || r.Slots > 2 {
		t.Fatalf("report %+v", r)
	}
	for _, n := range r.Nets {
		most := 0.0
		for i, w := range n.Ways {
			if w.Slots != i+1 || w.ThreadsEach != 2/(i+1) || !(w.ImagesPerHour > 0) {
				t.Errorf("%s: %+v", n.Net, w)
			}
			most = max(most, w.ImagesPerHour)
		}
		if n.Ways[n.Best-1].ImagesPerHour != most {
			t.Errorf("%s: best is %d of %+v", n.Net, n.Best, n.Ways)
		}
	}
}
