package demo

import "collapse.example/collapse/internal/train"

// Grid is a memorization–dilation experiment: one base configuration run for every loss, noise
// level and seed (Nguyen et al. 2023, Fig. 1).
type Grid struct {
	Base   train.Config
	Losses []string
	Noise  []float64
	Seeds  int // seeds 1…Seeds
}

// Configs expands the grid, seed by seed, so that a study cut short has whole curves of the
// first seeds rather than a few points with all seeds.
func (g Grid) Configs() []train.Config {
	var all []train.Config
	for seed := 1; seed <= g.Seeds; seed++ {
		for _, noise := range g.Noise {
			for _, loss := range g.Losses {
				c := g.Base
				c.Loss.Kind, c.Data.Noise, c.Run.Seed = loss, noise, uint64(seed)
				all = append(all, c)
			}
		}
	}
	return all
}
