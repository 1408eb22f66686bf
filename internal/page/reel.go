package page

import (
	"html/template"
	"math"

	"collapse.example/collapse/internal/chart"
	"collapse.example/collapse/internal/figure"
	"collapse.example/collapse/internal/judge"
)

// reel is a film of one run's features on a page without scripts: stills that the style sheet shows one after another.
type reel struct {
	Title  string
	Noisy  bool // some labels are wrong
	Legend []swatch
	Stills []still
}

type still struct {
	Epoch int64
	Panel template.HTML
}

const (
	reelStills = 6 // the style sheet has as many steps
	reelTries  = 5 // runs that are looked at
)

// reelOf films the first regular run of a group, with label noise if there is any; nil if none kept its features epoch by epoch.
func reelOf(g *judge.Experiment) *reel {
	noisy := g.Pick(func(s *judge.JudgedRun) bool { return judge.IsRegular(s) && s.Noise > 0 })
	rest := g.Pick(func(s *judge.JudgedRun) bool { return judge.IsRegular(s) && s.Noise == 0 })
	for i, run := range append(noisy, rest...) {
		if i == reelTries {
			break
		}
		if run.Folder() == "" {
			continue
		}
		if film, err := figure.OpenFilm(run.Folder()); err == nil && len(film.Epochs) >= reelStills {
			if r, err := filmed(film, run); err == nil {
				return r
			}
		}
	}
	return nil
}

func filmed(film *figure.Film, run *judge.JudgedRun) (*reel, error) {
	r := &reel{Title: "How features collapse: " + run.Title(), Noisy: run.Noise > 0}
	for i := range reelStills {
		// Most happens in the first epochs.
		at := int(math.Round(float64(len(film.Epochs)-1) * math.Pow(float64(i)/(reelStills-1), 1.5)))
		epoch := film.Epochs[max(at, i)]
		scene, err := film.Scene(epoch)
		if err != nil {
			return nil, err
		}
		scene.Panels = scene.Panels[:1]
		in := chart.Inline(scene.Figure)
		r.Stills = append(r.Stills, still{epoch, template.HTML(in.Panels[0])})
		if i == 0 {
			for _, e := range in.Legend {
				r.Legend = append(r.Legend, swatch{template.HTML(e.Swatch), e.Label})
			}
		}
	}
	return r, nil
}
