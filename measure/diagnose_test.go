package measure_test

import (
	"collapse.example/collapse/internal/reporttest"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"collapse.example/collapse/measure"
	"collapse.example/collapse/measure/measuretest"
)

// erring is one measured number of one set.
type erring struct {
	index                      int
	value, exact, err, natural float64
}

// TestDiagnose prints how far measures are from their definitions, with COLLAPSE_DIAGNOSE=1: for each key the relative error,
// the error in units of what one rounding of means, samples and W does to the exact value, and the worst sets.
func TestDiagnose(t *testing.T) {
	if os.Getenv("COLLAPSE_DIAGNOSE") == "" {
		t.Skip("COLLAPSE_DIAGNOSE=1 prints it")
	}
	found, missing, traits := map[string][]erring{}, map[string][]string{}, map[int]string{}
	n := sets(t, 200)
	compareAll(measuretest.Random, setsFrom(t), n, true, func(c *compared) {
		if c.err != nil {
			t.Fatalf("set %d: %v", c.index, c.err)
		}
		s := c.set
		traits[c.index] = fmt.Sprintf("K=%d d=%d N=%d min n=%d float32 %v class-weighted %v well %v rank %g %+v", s.Train.K, s.D, len(s.Train.Labels),
			slices.Min(c.report.ClassCounts), s.Float32, s.PerClass, c.well, reporttest.Of(c.report.Measures, measure.KeyRankBetween), s.Traits)
		for key, exact := range c.exact {
			value, measured := c.report.Measures.Get(key)
			switch {
			case exact.TooExpensive:
			case measured && exact.Undefined != "":
				missing[key] = append(missing[key], fmt.Sprintf("set %d: VALUE %.6g, oracle undefined: %s", c.index, value, exact.Undefined))
			case measured:
				found[key] = append(found[key], erring{c.index, value, exact.V.Hi, errorOf(value, exact), c.loose[key]})
			case exact.Undefined == "":
				missing[key] = append(missing[key], fmt.Sprintf("set %d: missing %q, oracle %.6g ± %.2g", c.index, c.report.Missing[key], exact.V.Hi, c.loose[key]))
			}
		}
	})
	var out strings.Builder
	for _, d := range measure.Definitions() {
		describe(&out, d.Key, found[d.Key], missing[d.Key], traits)
	}
	fmt.Print(out.String())
}

// describe writes the lines of one key.
func describe(out *strings.Builder, key string, all []erring, missing []string, traits map[int]string) {
	relative := func(e erring) float64 { return e.err / math.Abs(e.exact) }
	natural := func(e erring) float64 { return e.err / (e.natural + halfUlp(e.exact)) }
	fmt.Fprintf(out, "%s: %d sets\n  relative          %s\n  over natural      %s\n", key, len(all), quantiles(all, relative), quantiles(all, natural))
	if len(all) > 0 {
		slices.SortFunc(all, func(a, b erring) int { return -compareFloats(natural(a), natural(b)) })
		for _, e := range all[:min(3, len(all))] {
			fmt.Fprintf(out, "    %.2g natural, %.2g relative: %.17g, exact %.17g, natural %.2g; set %d %s\n", natural(e), relative(e), e.value, e.exact, e.natural, e.index, traits[e.index])
		}
	}
	fmt.Fprintf(out, "  disagree on being defined: %d\n", len(missing))
	for _, line := range missing[:min(4, len(missing))] {
		fmt.Fprintf(out, "    %s\n", line)
	}
}

func compareFloats(a, b float64) int {
	switch {
	case a < b || a != a && b == b:
		return -1
	case a > b || b != b && a == a:
		return 1
	}
	return 0
}

// quantiles writes median, 90 %, 99 % and largest.
func quantiles(all []erring, of func(erring) float64) string {
	var x []float64
	for _, e := range all {
		if v := of(e); !math.IsNaN(v) {
			x = append(x, v)
		}
	}
	if len(x) == 0 {
		return "-"
	}
	slices.Sort(x)
	at := func(q float64) float64 { return x[int(q*float64(len(x)-1))] }
	return fmt.Sprintf("median %.1e  90%% %.1e  99%% %.1e  max %.1e", at(.5), at(.9), at(.99), at(1))
}
