package cli

import (
	"io"
	"strings"
	"testing"
	"time"

	"collapse.example/collapse/internal/study/coordinator"
)

// TestABarGoesOnInTheNextRound: that of a search, whose first round was all there was to do so far, is not over.
func TestABarGoesOnInTheNextRound(t *testing.T) {
	p := &coordinatorProgress{w: io.Discard, bar: newBar(io.Discard, 0, "runs"), round: " in this round"}
	at := func(done, runs int) coordinator.Event {
		return coordinator.Event{Snapshot: coordinator.Snapshot{Runs: runs, Done: done, Left: 3 * time.Second}, Ended: &coordinator.Ended{Note: "a"}}
	}
	for _, e := range []coordinator.Event{at(3, 4), at(4, 4), at(5, 8)} {
		p.draw(e)
	}
	if text := p.bar.text.Load().(string); p.bar.bar.Current() != 5 || p.bar.bar.Completed() || !strings.Contains(text, "3 s left in this round") {
		t.Errorf("%q at %d, completed %v", text, p.bar.bar.Current(), p.bar.bar.Completed())
	}
	p.draw(at(8, 8))
	p.close()
	if p.bar.bar.Current() != 8 {
		t.Errorf("at %d", p.bar.bar.Current())
	}
}
