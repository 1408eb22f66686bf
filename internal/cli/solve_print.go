package cli

import (
	"collapse.example/collapse/measure"
	"collapse.example/collapse/ufm"
)

// geometry are the measures that --verbose shows.
var geometry = []string{measure.KeyNC2W, measure.KeyNC2MeansETF, measure.KeyNC2MeansOF,
	measure.KeyNC2RankD, measure.KeyNC3Gram, measure.KeyNC3Direct, measure.KeyNC4Bias}

func printSolved(a *app, s *solved) {
	a.printf("%s, K = %d, d = %d, n = %d\nminimise   %s\n\n", s.Model, s.K, s.D, s.N, s.Objective)
	printExact(a, &s.Exact)
	printPoint(a, s)
	if s.Certificate != nil {
		printCertificate(a, s.Of, s.Certificate)
	}
	if s.Saved != "" {
		a.printf("saved      %s\n", s.Saved)
	}
}

func printExact(a *app, e *ufm.Exact) {
	if e.Available {
		label := "exact      f* ="
		if e.Status != ufm.Proved {
			label = "best known f ="
		}
		a.printf("%s %.10g  (%s; %s: %s)\n", label, float64(e.Objective), e.Regime, e.Status, e.Source)
		for _, v := range []struct {
			name   string
			value  ufm.Number
			detail bool
		}{{"rank", ufm.Number(e.Rank), false}, {"bias", e.Bias, true}, {"margin", e.Margin, false}, {"kappa", e.Kappa, true}, {"c", e.C, true}, {"q", e.Q, true}, {"tau", e.Tau, true},
			{"sigma", e.Sigma, true}, {"‖W‖²", e.WNorm2, false}, {"‖H‖²", e.HNorm2, false}, {"‖h_k‖²", e.ClassMeanNorm2, true}, {"attenuation", e.Attenuation, true}} {
			if v.value.Known() && (a.flags.Verbose || !v.detail) {
				a.printf("           %-12s %.8g\n", v.name, float64(v.value))
			}
		}
	} else {
		a.printf("exact      none: %s\n", e.Reason)
	}
}

// printPoint prints the point that was fitted, found or given, beside the exact one.
func printPoint(a *app, s *solved) {
	if f := s.Fit; f != nil {
		a.printf("fitted     attenuation %.6g, relative residual %.2g\n", f.Attenuation, f.Residual)
	}
	if f := s.Found; f != nil {
		a.printf("found      f = %.12g", float64(f.Objective))
		if f.Gap.Known() {
			a.printf("  (f − f* = %.2g)", float64(f.Gap))
		}
		a.printf("\n")
		a.detailf("           %d iterations, %d evaluations, %.3g s; stopped: %s\n", f.Iterations, f.Evaluations, f.Seconds, f.Stopped)
		if f.Trap != "" {
			a.printf("           trap: %s\n", f.Trap)
		}
		printMeasures(a, f.Measures, s.Exact.Measures)
	} else if s.At != nil {
		a.printf("at         f = %.12g\n", float64(s.At.Objective))
		printMeasures(a, s.At.Measures, s.Exact.Measures)
	} else if s.Exact.Available {
		printMeasures(a, measure.Values{}, s.Exact.Measures)
	}
}

// printMeasures prints NC1 to NC4, and with --verbose every form of them that the theory has a limit for.
func printMeasures(a *app, got, limit measure.Values) {
	for _, p := range measure.Properties() {
		printMeasure(a, p.Name+"  "+p.Short, p.Key, got, limit)
	}
	if !a.flags.Verbose {
		return
	}
	for _, key := range geometry {
		printMeasure(a, key, key, got, limit)
	}
}

// printMeasure prints a measure of a point beside its limit, as far as they are known.
func printMeasure(a *app, name, key string, got, limit measure.Values) {
	g, okG := got.Get(key)
	l, okL := limit.Get(key)
	switch {
	case okG && okL:
		a.printf("           %-33s %-12.4g limit %.6g\n", name, g, l)
	case okG:
		a.printf("           %-33s %.4g\n", name, g)
	case okL:
		a.printf("           %-33s limit %.6g\n", name, l)
	}
}

func printCertificate(a *app, of string, c *ufm.Certificate) {
	a.printf("verdict    %s  (of the %s point)\n", c.Verdict, of)
	for _, v := range []struct {
		name  string
		value ufm.Number
	}{{"gap bound", c.GapBound}, {"‖∇g‖₂", c.DualNorm}, {"√(λ_Wλ_H)", c.Threshold}, {"residual", c.Residual}, {"min Hessian eigenvalue", c.MinHessian}, {"balance", c.Balance}} {
		if v.value.Known() && (a.flags.Verbose || v.name == "gap bound") {
			a.printf("           %-22s %.6g\n", v.name, float64(v.value))
		}
	}
	if c.Negative != nil {
		a.detailf("           %-22s %d\n", "negative eigenvalues", *c.Negative)
	}
}
