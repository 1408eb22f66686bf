package cli

import (
	"context"
	"fmt"
	"strings"

	"collapse.example/collapse/internal/study/coordinator"
)

// fewFailures is how many runs of a script fail alike, one after another, while none is done, before the others are not tried.
const fewFailures = 5

// sameFailures stops studies of a script of which no run is done while several in a row fail with the same last words: the mistake is in the script or its command, and
// the rest of the night would find it again.
type sameFailures struct {
	names []string
	stop  context.CancelCauseFunc
	watch func(coordinator.Event)
	more  bool // runs that ended are not all: a search asks for others then

	last  string
	alike int
}

// sameFailureError says that these runs failed alike.
type sameFailureError struct {
	names []string
	last  string
}

func (e *sameFailureError) Error() string {
	name := strings.Join(e.names, " ")
	hint := ""
	if strings.Contains(e.last, "No module named 'collapse'") {
		hint = "; collapse is the Python package of this program: `pip install ./python` in its folder, or put its python folder on PYTHONPATH"
	}
	return fmt.Sprintf("stopped, since %d runs in a row failed alike, and none is done: %s%s\nmend it and run the study's file again; if only its surroundings were wrong, `collapse study retry %s` first. `collapse runs show RUN` has all that a run wrote", fewFailures, e.last, hint, name)
}

func (s *sameFailures) event(e coordinator.Event) {
	s.watch(e)
	if e.Ended == nil || e.Done > 0 { // where a run works, others may fail for reasons of their own
		return
	}
	last := briefly(e.Ended.Text)
	if last != s.last {
		s.last, s.alike = last, 0
	}
	if s.alike++; s.alike >= fewFailures && (s.more || e.Failed < e.Runs) {
		s.stop(&sameFailureError{s.names, last})
	}
}
