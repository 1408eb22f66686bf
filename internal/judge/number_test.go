package judge

import (
	"strings"
	"testing"
)

// TestPrintedNumbersAreNumbers: a paper's value keeps its digits, so it is text, and text that is not a number is refused by name.
func TestPrintedNumbersAreNumbers(t *testing.T) {
	good := Number{What: "accuracy", Paper: "99.50", Spread: "0.10", Unit: "%", Ours: `final("test.accuracy")`}
	if err := good.Check(); err != nil {
		t.Error(err)
	}
	for _, change := range []func(*Number){func(n *Number) { n.Paper = "" }, func(n *Number) { n.Paper = "99,5" }, func(n *Number) { n.Spread = "small" }} {
		bad := good
		change(&bad)
		if err := bad.Check(); err == nil || !strings.Contains(err.Error(), `"accuracy"`) {
			t.Errorf("%+v: %v; wanted an error that names it", bad, err)
		}
	}
	c, err := good.compare(nil, 0)
	if err != nil || c.Paper != "99.50 ± 0.10" {
		t.Errorf("shown as %q, %v", c.Paper, err)
	}
}
