package chart

import "math"

// sharing gives panels that show the same quantities the same axes, and heat maps of one quantity the same colours, so that readers
// can compare them. What a figure sets itself stays.
func (f Figure) sharing() Figure {
	f.Panels = append([]Panel(nil), f.Panels...)
	type names struct {
		x, y           string
		scaleX, scaleY Scale
	}
	groups := map[names][]*Panel{}
	for i := range f.Panels {
		if p := &f.Panels[i]; p.X.Label != "" && p.Y.Label != "" {
			key := names{p.X.title(), p.Y.title(), p.X.Scale, p.Y.Scale}
			groups[key] = append(groups[key], p)
		}
	}
	for _, alike := range groups {
		if len(alike) > 1 {
			shareAxes(alike)
		}
	}
	f.shareColors()
	return f
}

// leastShare is the fraction of a shared axis that each panel must fill: if one would fill less, all keep their own.
const leastShare = 0.25

// shareAxes sets the ranges that panels leave open to what all of them need, for each axis separately.
func shareAxes(panels []*Panel) {
	var xs, ys [][2]float64
	for _, p := range panels {
		if ex, ey := p.extents(); ex.any && ey.any {
			sx, sy := p.ranges()
			if p.X.Range == nil {
				xs = append(xs, [2]float64{sx.lo, sx.hi})
			}
			if p.Y.Range == nil {
				ys = append(ys, [2]float64{sy.lo, sy.hi})
			}
		}
	}
	x, y := common(xs, panels[0].X.Scale), common(ys, panels[0].Y.Scale)
	for _, p := range panels {
		if p.X.Range == nil {
			p.X.Range = x
		}
		if p.Y.Range == nil {
			p.Y.Range = y
		}
	}
}

// common returns the range that contains all others, or nil if one of them is too small a part of it.
func common(ranges [][2]float64, scale Scale) (all *[2]float64) {
	for _, r := range ranges {
		all = widen(all, r[0], r[1])
	}
	length := func(r [2]float64) float64 {
		if scale == Log {
			return math.Log(r[1]) - math.Log(r[0])
		}
		return r[1] - r[0]
	}
	for _, r := range ranges {
		if length(r) < leastShare*length(*all) {
			return nil
		}
	}
	return all
}

// widen returns a range that also contains another.
func widen(r *[2]float64, lo, hi float64) *[2]float64 {
	if r == nil {
		return Range(lo, hi)
	}
	return Range(min(r[0], lo), max(r[1], hi))
}

// shareColors sets the colour ranges that heat maps leave open.
func (f *Figure) shareColors() {
	ranges := map[string]*[2]float64{}
	each := func(do func(s *Series)) {
		for i := range f.Panels {
			for j := range f.Panels[i].Series {
				if s := &f.Panels[i].Series[j]; s.Heat != nil && s.Heat.Label != "" && s.Heat.Range == nil {
					do(s)
				}
			}
		}
	}
	each(func(s *Series) {
		lo, hi := s.Heat.limits()
		ranges[s.Heat.Label] = widen(ranges[s.Heat.Label], lo, hi)
	})
	for i := range f.Panels {
		f.Panels[i].Series = append([]Series(nil), f.Panels[i].Series...)
	}
	each(func(s *Series) {
		heat := *s.Heat
		heat.Range = ranges[heat.Label]
		s.Heat = &heat
	})
}
