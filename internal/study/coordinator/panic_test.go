package coordinator

import (
	"errors"
	"strings"
	"testing"
)

// TestAPanicEndsOnlyItsStudy: a process that coordinates several studies, as serve --control does, goes on.
func TestAPanicEndsOnlyItsStudy(t *testing.T) {
	t.Parallel()
	configs := smallGrid()[:2]
	lab := saved(t, configs)
	o := options(t, 1)
	o.Watch = func(e Event) {
		if e.Ended != nil {
			panic("a fault")
		}
	}
	_, err := Execute(t.Context(), lab, []string{"s"}, o)
	var fault *PanicError
	if !errors.As(err, &fault) || !strings.Contains(err.Error(), "a fault") || !strings.Contains(err.Error(), "panic_test.go") {
		t.Fatalf("%v, want a PanicError with the stack", err)
	}
	o.Watch = nil
	if s, err := Execute(t.Context(), lab, []string{"s"}, o); err != nil || s != (Summary{Runs: 2, Done: 2}) {
		t.Fatalf("%+v, %v", s, err)
	}
}
