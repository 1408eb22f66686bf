package ufm

import (
	"strings"
	"testing"
)

// Points where the objective overflows, and penalties near the smallest numbers, get an answer, not a panic.
func TestExtremesAreLabelled(t *testing.T) {
	c := Config{Model: MSE, K: 3, N: 2, D: 4, LW: .1, LH: .1, LB: NoBias}
	problem, err := NewProblem(c, nil)
	if err != nil {
		t.Fatal(err)
	}
	exact, err := c.Exact()
	if err != nil {
		t.Fatal(err)
	}
	huge := c.Start(InitScale{1e200, 1e200, 0}, 1)
	if cert := problem.Certify(huge.X, exact); !strings.HasPrefix(cert.Verdict, "not finite") {
		t.Errorf("verdict of an overflow: %q", cert.Verdict)
	}
	tiny := Config{Model: CE, K: 4, N: 2, D: 5, LW: 1e-300, LH: 1e-300, LB: NoBias}
	if exact, err = tiny.Exact(); err != nil {
		t.Fatal(err)
	}
	if problem, err = NewProblem(tiny, nil); err != nil {
		t.Fatal(err)
	}
	at, err := problem.Instance(exact, seeded64(1))
	if err != nil {
		t.Fatal(err)
	}
	if cert := problem.Certify(at.X, exact); !strings.HasPrefix(cert.Verdict, "global") {
		t.Errorf("verdict at penalties of 1e-300: %q, exact %+v", cert.Verdict, exact.Objective)
	}
}
