package cli

import (
	"fmt"
	"io"
	"math"
	"time"

	"collapse.example/collapse/internal/demo"
	"collapse.example/collapse/internal/format"
	"collapse.example/collapse/internal/safetext"
	"collapse.example/collapse/internal/train"
)

// studyProgress shows many runs: a bar on a terminal, elsewhere a line per finished run.
type studyProgress struct {
	w       io.Writer
	bar     *bar
	configs []train.Config
	started time.Time
	done    int
	failed  int
	epochs  int64 // finished, over all runs
	total   int64
}

func newStudyProgress(w io.Writer, configs []train.Config) *studyProgress {
	p := &studyProgress{w: w, configs: configs, started: time.Now()}
	for _, c := range configs {
		p.total += int64(c.Run.Epochs)
	}
	if onTerminal(w) {
		p.bar = newBar(w, int64(len(configs)), "runs")
	}
	return p
}

func (p *studyProgress) Epoch(i int, e train.EpochDone) {
	p.epochs++
	p.bar.set(int64(p.done), "%s: acc %.1f %%%s", demo.Name(p.configs[i]), 100*e.RunningAccuracy, timeLeft(p.left()))
}

func (p *studyProgress) Done(i int, o demo.Outcome) {
	p.done++
	what := fmt.Sprintf("NC1 %s", format.Digits(value(o.Result.Values, "train/nc1_pinv")))
	if o.Err != nil {
		p.failed++
		what = "failed: " + o.Err.Error()
	}
	if p.bar != nil {
		p.bar.set(int64(p.done), "%s: %s%s", demo.Name(p.configs[i]), what, timeLeft(p.left()))
		return
	}
	safetext.Fprintf(p.w, "%d/%d  %s: %s%s\n", p.done, len(p.configs), demo.Name(p.configs[i]), what, timeLeft(p.left()))
}

// left estimates the time left from the epochs done here so far.
func (p *studyProgress) left() time.Duration {
	if p.epochs == 0 {
		return 0
	}
	return time.Duration(float64(time.Since(p.started)) * float64(p.total-p.epochs) / float64(p.epochs))
}

func (p *studyProgress) close() { p.bar.close() }

// value is a measure of a result, NaN where it does not exist.
func value(values map[string]float64, key string) float64 {
	if v, ok := values[key]; ok {
		return v
	}
	return math.NaN()
}
