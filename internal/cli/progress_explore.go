package cli

import (
	"fmt"
	"io"
	"math"
	"time"

	"collapse.example/collapse/deep"
	"collapse.example/collapse/internal/safetext"
)

// exploreProgress shows a search of deep models: a bar of its seconds on a terminal, elsewhere and without a limit of time a line now and then.
type exploreProgress struct {
	w              io.Writer
	bar            *bar // nil away from a terminal
	started, told  time.Time
	limitInSeconds int64
}

func newExploreProgress(w io.Writer, limit time.Duration) *exploreProgress {
	p := &exploreProgress{w: w, started: time.Now(), told: time.Now(), limitInSeconds: int64(limit / time.Second)}
	if limit > 0 && onTerminal(w) {
		p.bar = newBar(w, p.limitInSeconds, "seconds")
	}
	return p
}

func (p *exploreProgress) step(s deep.Step) {
	text := fmt.Sprintf("%s: %d of %d", s.Stage, s.Ended, s.Of)
	if !math.IsInf(s.Lowest, 0) {
		text += fmt.Sprintf(", lowest %.6g", s.Lowest)
	}
	if p.bar != nil {
		p.bar.set(min(int64(time.Since(p.started)/time.Second), p.limitInSeconds-1), "%s", text)
		return
	}
	if time.Since(p.told) > progressAfter {
		p.told = time.Now()
		safetext.Fprintf(p.w, "%s\n", text)
	}
}

func (p *exploreProgress) close() { p.bar.close() }
