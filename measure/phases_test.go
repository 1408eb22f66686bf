package measure

import (
	"math"
	"testing"
	"time"
)

// What moves from a stage to another is in neither twice.
func TestClockMoves(t *testing.T) {
	var c clock
	c.start()
	c.enter("a")
	c.move("a", "b", 100)
	c.move("a", "b", 50)
	c.stop(time.Now())
	if len(c.phases) != 2 || c.phases[0].Name != "a" || c.phases[1].Name != "b" {
		t.Fatalf("stages %v", c.phases)
	}
	a, b := c.phases[0].Seconds, c.phases[1].Seconds
	if !(math.Abs(a+150) <= 1) || !(math.Abs(b-150) <= 1) {
		t.Errorf("%g and %g seconds, want -150 and 150 of what took none", a, b)
	}
}
