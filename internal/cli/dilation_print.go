package cli

import "time"

func printDilation(a *app, d *dilated, took time.Duration) {
	a.printf("memorization–dilation model, law %s, λ_W = %g, λ_H = %g, α = %g, C_MD = %g, η = %g\n\n", d.Law, d.Setting.LW, d.Setting.LH, d.Setting.Alpha, d.Setting.CMD, d.Setting.Eta)
	a.printf("%-26s %14s %14s\n", "", "CE", "LS")
	for _, row := range []struct {
		name   string
		ce, ls float64
	}{
		{"margin x", d.CE.Margin, d.LS.Margin}, {"‖h1−h2‖", d.CE.Dist, d.LS.Dist}, {"‖w2−w1‖", d.CE.WDiffNorm, d.LS.WDiffNorm},
		{"r_max", d.CE.RMax, d.LS.RMax}, {"r*", d.CE.RStar, d.LS.RStar}, {"r*/‖h1−h2‖", d.CE.Normalised, d.LS.Normalised},
		{"memorization", d.CE.Memorization, d.LS.Memorization}, {"risk", d.CE.Risk, d.LS.Risk},
	} {
		a.printf("%-26s %14.8g %14.8g\n", row.name, row.ce, row.ls)
	}
	as := d.Assumption
	a.printf("\nAssumption 4.2  %s (noise: √η = %.4g, wanted below %.4g)\n", yesNo(as.Holds), as.SqrtEta, as.NoiseMost)
	a.printf("Theorem 4.3     %s (r*/‖h1−h2‖ smaller for LS)\n", yesNo(d.Theorem))
	for _, loss := range []string{"ce", "ls"} {
		for _, check := range d.Checks[loss] {
			if !check.Holds {
				a.printf("fails           %s, %s: %s\n", loss, check.Name, check.Words())
			}
		}
	}
	if d.Index != "" {
		a.printf("\n%s\n", d.Index)
	}
	a.printf("\n%.2f s\n", took.Seconds())
}

func yesNo(ok bool) string {
	if ok {
		return "holds"
	}
	return "does not hold"
}
