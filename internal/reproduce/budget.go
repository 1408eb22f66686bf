package reproduce

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"collapse.example/collapse/internal/findings"
	"collapse.example/collapse/internal/format"
	"collapse.example/collapse/internal/judge"
	"collapse.example/collapse/internal/recipe"
	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/internal/study"
)

// seedsFirst sorts the items of runs so that each setting has its first seed before any has its second: what a budget leaves undone is then as even
// as can be, and each claim comes nearer to its verdict.
func seedsFirst(runs []recipe.Run, items []study.Item) []study.Item {
	rank := map[uint64]int{}
	for _, run := range runs {
		if _, known := rank[run.Config.Run.Seed]; !known {
			rank[run.Config.Run.Seed] = len(rank)
		}
	}
	order := make([]int, len(runs))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(rank[runs[a].Config.Run.Seed], rank[runs[b].Config.Run.Seed]) })
	sorted := make([]study.Item, len(items))
	for i, k := range order {
		sorted[i] = items[k]
	}
	return sorted
}

// coverage counts the ended runs of each setting.
type coverage struct {
	ended, all  map[string]int
	done, total int
}

// covered says how far the runs are, whose names in the lab are hashes.
func covered(runs []recipe.Run, hashes []string, loaded []judge.Run) coverage {
	status := map[string]store.Status{}
	for _, run := range loaded {
		status[run.Hash] = run.Status
	}
	c := coverage{map[string]int{}, map[string]int{}, 0, len(runs)}
	for i, run := range runs {
		setting := strings.Join(run.Varied, ", ")
		c.all[setting]++
		if s := status[hashes[i]]; s == store.Done || s == store.Failed {
			c.ended[setting]++
			c.done++
		}
	}
	return c
}

// missing says what there is not yet; "" if nothing is missing.
func (c coverage) missing() string {
	if c.done == c.total {
		return ""
	}
	least, most, seeds := c.total, 0, 0
	for setting, all := range c.all {
		least, most, seeds = min(least, c.ended[setting]), max(most, c.ended[setting]), max(seeds, all)
	}
	each := fmt.Sprint(least)
	if most > least {
		each = fmt.Sprintf("%d to %d", least, most)
	}
	return fmt.Sprintf("%d of %s are finished: each of %s has %s of %s. The same command goes on with the others.",
		c.done, format.Count(c.total, "run"), format.Count(len(c.all), "setting"), each, format.Count(seeds, "seed"))
}

// untouched is how many settings have no run that has ended.
func (c coverage) untouched() (n int) {
	for setting := range c.all {
		if c.ended[setting] == 0 {
			n++
		}
	}
	return n
}

// withhold makes every claim open, since runs that may contradict it are missing.
func withhold(found *findings.RecipeFindings, why string) {
	for i := range found.Judged {
		found.Judged[i].Withhold(why)
	}
}
