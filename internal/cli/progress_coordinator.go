package cli

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"collapse.example/collapse/internal/safetext"
	"collapse.example/collapse/internal/study/coordinator"
)

// coordinatorProgress shows running studies: a bar on a terminal, elsewhere a line per ended run.
type coordinatorProgress struct {
	w     io.Writer
	round string // what the time left is of, in a search; else ""

	mu    sync.Mutex
	bar   *bar
	last  string // what ended last
	drawn time.Time
}

// watch shows the progress of the studies of o until the returned function is called. round is what the time left is of, if not of all.
func (a *app) watch(o *coordinator.Options, round string) (end func()) {
	p := &coordinatorProgress{w: a.stderr, round: round}
	o.Watch, o.Logf = p.event, p.logf
	return p.close
}

func (p *coordinatorProgress) event(e coordinator.Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if e.Ended != nil {
		p.last = e.Ended.Note + ": " + e.Ended.Text
		if e.Ended.Failed {
			p.last = e.Ended.Note + ": failed: " + briefly(e.Ended.Text)
		}
	}
	if !onTerminal(p.w) {
		if e.Ended != nil {
			left := timeLeft(e.Left)
			if left != "" {
				left += p.round
			}
			safetext.Fprintf(p.w, "%d/%d  %s%s\n", e.Done+e.Failed, e.Runs, p.last, left)
		}
		return
	}
	if p.bar == nil {
		p.bar = newBar(p.w, 0, "runs")
	}
	p.draw(e)
}

func (p *coordinatorProgress) draw(e coordinator.Event) {
	if now := time.Now(); e.Ended != nil || now.Sub(p.drawn) > 100*time.Millisecond {
		p.drawn = now
		p.bar.grow(int64(e.Runs)) // a search asks for more in each round
		p.bar.set(int64(e.Done+e.Failed), "%s", p.line(e))
	}
}

// briefly puts a failure on one line: of what a program printed, the last line, which says what went wrong. `study status` shows all.
func briefly(failure string) string {
	lines := strings.Split(strings.TrimSpace(failure), "\n")
	if len(lines) == 1 {
		return lines[0]
	}
	return lines[0] + " " + lines[len(lines)-1]
}

// line is the text next to the bar.
func (p *coordinatorProgress) line(e coordinator.Event) string {
	parts := []string{fmt.Sprintf("%d running", len(e.Working))}
	if e.Failed > 0 {
		parts = append(parts, fmt.Sprintf("%d failed", e.Failed))
	}
	if e.Left > 0 {
		parts = append(parts, left(e.Left)+" left"+p.round)
	}
	if p.last != "" {
		parts = append(parts, p.last)
	} else if len(e.Working) > 0 {
		w := e.Working[0]
		parts = append(parts, fmt.Sprintf("%s: epoch %d/%d %s", w.Note, w.Progress.Epoch, w.Progress.Epochs, w.Progress.Text))
	}
	return strings.Join(parts, ", ")
}

func (p *coordinatorProgress) logf(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.bar != nil { // a separate line would break the bar
		p.last = safetext.Sprintf(format, args...)
		return
	}
	safetext.Fprintf(p.w, format+"\n", args...)
}

func (p *coordinatorProgress) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.bar.close()
}
