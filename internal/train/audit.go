package train

import (
	"fmt"
	"math"

	"collapse.example/collapse/arrayfile"
	"collapse.example/collapse/internal/engine"
)

// auditSamples is how many samples our own kernels evaluate to check another engine.
const auditSamples = 32

// audited is the plan of the network that evaluates them.
func (c Plan) audited() Plan {
	c.Run.Batch = auditSamples
	return c
}

// auditTolerance bounds the difference of logits, relative to the largest one.
func auditTolerance(dtype string) float64 {
	if dtype == "float64" {
		return 1e-9
	}
	return 1e-4
}

// AuditError says that an engine and this program's own kernels compute different logits from the same weights: one of them is
// wrong.
type AuditError struct {
	Machine       Machine
	When          string // before or after training
	Sample, Class int    // of the training set, where they differ most
	There, Here   float64
	Largest       float64 // logit
	Tolerance     float64
}

func (e *AuditError) Error() string {
	return fmt.Sprintf("train: %s, %s and this program's own kernels disagree for the same weights: for training sample %d, the logit of class %d is %.9g there and %.9g here, "+
		"a difference of %.2g of the largest logit, where %g is allowed; nothing was computed with the engine since; `collapse engine check` shows where it goes wrong",
		e.When, e.Machine, e.Sample, e.Class, e.There, e.Here, math.Abs(e.There-e.Here)/e.Largest, e.Tolerance)
}

// audit evaluates a few samples with the weights of the process, given as model, on both sides.
func (x *external[T]) audit(model []arrayfile.Array, when string) error {
	if err := loadModel(x.witness.net, model); err != nil {
		return err
	}
	n := min(auditSamples, x.in.train.N())
	if _, err := x.do("evaluate", engine.Evaluate{Splits: []string{splitTrain}, Set: 1, Samples: n}, nil); err != nil {
		return err
	}
	k := x.weight.Shape[0]
	rows, err := engine.OpenRows[T](x.folder, splitTrain+".1.logits.npy", n, k)
	if err != nil {
		return err
	}
	defer rows.Close()
	there, err := rows.Next(make([]T, n*k))
	if err != nil {
		return err
	}
	return x.compare(x.witness.firstLogits(n), there, when)
}

// compare returns an *AuditError unless the logits are close. Weights for which ours are infinite are left for the measures to report.
func (x *external[T]) compare(here, there []T, when string) error {
	largest, worst, at := 0.0, -1.0, 0
	for i := range here {
		if !finite(float64(here[i])) {
			return nil
		}
		largest = max(largest, math.Abs(float64(here[i])))
		if d := math.Abs(float64(here[i]) - float64(there[i])); !(d <= worst) && !math.IsNaN(worst) { // NaN counts as the largest difference
			worst, at = d, i
		}
	}
	tolerance := auditTolerance(x.cfg.Run.DType)
	if worst <= tolerance*largest {
		return nil
	}
	k := x.weight.Shape[0]
	return &AuditError{Machine: x.here, When: when, Sample: at / k, Class: at % k, There: float64(there[at]), Here: float64(here[at]),
		Largest: largest, Tolerance: tolerance}
}

// firstLogits returns the logits of the first samples of the training set, at most a batch; they are valid until the next pass.
func (n *native[T]) firstLogits(count int) []T {
	samples := make([]int32, count)
	for i := range samples {
		samples[i] = int32(i)
	}
	return n.pass(splitTrain, samples).Logits
}
