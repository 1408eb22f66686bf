package judge

import (
	"fmt"
	"math"

	"collapse/internal/format"
)

// searchClaims is what can be asked of any search: whether what it found lies in its space, whether it was worth it, and what
// early stopping saved. Each search of a seed and combination is one answer.
func searchClaims(all []Search) []Claim {
	if len(all) == 0 {
		return nil
	}
	return []Claim{foundInSpace(all), beatsDefault(all), beatsDefaultOnTest(all), spendsLess(all)}
}

func foundInSpace(all []Search) Claim {
	c := Claim{ID: "found-in-space", Statement: "The search finds settings inside the space it was given", Verdict: Holds}
	found, outside := 0, 0
	for _, s := range all {
		if s.Best < 0 {
			continue
		}
		found++
		for _, q := range s.Params {
			if !q.holds(s.Trials[s.Best]) {
				outside++
			}
		}
	}
	c.Reason = fmt.Sprintf("%d of %d searches found settings, %d of the values outside the space", found, len(all), outside)
	switch {
	case outside > 0:
		c.Verdict = Fails
	case found < len(all):
		c.Verdict = CannotTell
	}
	return c
}

// notWorse judges whether differences, one of each search, are at least zero on average.
func notWorse(c Claim, differences []float64, unit string, factor float64) Claim {
	var indices []uint64
	for i := range differences {
		indices = append(indices, uint64(i))
	}
	if len(differences) < 3 {
		c.Verdict, c.Reason = CannotTell, fmt.Sprintf("%d searches have both numbers; at least 3 are needed", len(differences))
		return c
	}
	d := bootstrap(indices, func(draw []uint64) float64 {
		sum := 0.0
		for _, i := range draw {
			sum += factor * differences[i] / float64(len(draw))
		}
		return sum
	})
	worse := 0
	for _, x := range differences {
		if x < 0 {
			worse++
		}
	}
	c.Statistics = []string{fmt.Sprintf("mean difference %s%s, 95 %% interval from %s to %s", format.Digits(d.Value), unit, format.Digits(d.Lo), format.Digits(d.Hi)),
		fmt.Sprintf("worse in %d of %d searches", worse, len(differences))}
	switch {
	case d.Lo >= 0:
		c.Verdict, c.Reason = Holds, "the mean difference is not below zero in 97.5 % of draws of the searches"
	case d.Hi < 0:
		c.Verdict, c.Reason = Fails, "the mean difference is below zero in 97.5 % of draws of the searches"
	default:
		c.Verdict, c.Reason = CannotTell, "the interval of the mean difference contains zero"
	}
	return c
}

func beatsDefault(all []Search) Claim {
	c := Claim{ID: "no-worse-than-default", Statement: "The best trial is no worse than the default settings on " + all[0].Metric}
	var differences []float64
	factor, unit := all[0].Unit()
	for _, s := range all {
		if s.Best < 0 || s.Default == nil || math.IsNaN(s.Default.Value) {
			continue
		}
		d := s.Trials[s.Best].Value - s.Default.Value
		if s.Lowest {
			d = -d
		}
		differences = append(differences, d)
	}
	return notWorse(c, differences, " "+unit, factor)
}

func beatsDefaultOnTest(all []Search) Claim {
	c := Claim{ID: "no-worse-on-test", Statement: "Trained on all samples, the settings found are no worse than the default on test data, which the search never saw"}
	var differences []float64
	for _, s := range all {
		if d := s.Final[0] - s.Final[1]; !math.IsNaN(d) {
			differences = append(differences, d)
		}
	}
	return notWorse(c, differences, " %", 100)
}

func spendsLess(all []Search) Claim {
	c := Claim{ID: "spends-less", Statement: "The search spends less than the whole budget on every trial would take", Verdict: Holds}
	spent, whole := 0, 0
	for _, s := range all {
		spent, whole = spent+s.Spent, whole+s.Whole
		if s.Spent >= s.Whole {
			c.Verdict = Fails
		}
	}
	c.Reason = fmt.Sprintf("%d of %d epochs were trained, %s", spent, whole, format.Percent(float64(spent)/float64(max(whole, 1))))
	return c
}
