package cli

import (
	"io"
	"math"
	"strings"
	"testing"
	"time"

	"collapse.example/collapse/deep"
)

// TestExploreProgress: a bar carries the stage and the lowest value, and is never full before the end; elsewhere a line comes now and then.
func TestExploreProgress(t *testing.T) {
	var b strings.Builder
	p := newExploreProgress(&b, exploreFor)
	if p.bar != nil {
		t.Fatal("a bar without a terminal")
	}
	p.step(deep.Step{Stage: "random starts", Ended: 1, Of: 9, Lowest: 0.25})
	if b.Len() > 0 {
		t.Errorf("at once: %q", b.String())
	}
	p.told = time.Now().Add(-time.Minute)
	p.step(deep.Step{Stage: "random starts", Ended: 2, Of: 9, Lowest: 0.125})
	p.step(deep.Step{Stage: "random starts", Ended: 3, Of: 9, Lowest: 0.125})
	if b.String() != "random starts: 2 of 9, lowest 0.125\n" {
		t.Errorf("after a while: %q", b.String())
	}
	p.close()

	p.bar, p.started = newBar(io.Discard, p.limitInSeconds, "seconds"), time.Now().Add(-time.Hour)
	p.step(deep.Step{Stage: "blocks of 3 classes", Ended: 1, Of: 2, Lowest: math.Inf(1)})
	if text := p.bar.text.Load().(string); text != "blocks of 3 classes: 1 of 2" || p.bar.bar.Current() != p.limitInSeconds-1 {
		t.Errorf("on a terminal: %q at %d", text, p.bar.bar.Current())
	}
	p.close()
}
