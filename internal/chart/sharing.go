package chart

// sharing gives panels that show the same quantities the same axes, and heat maps of one quantity the same colours, so that a
// reader can compare them. What a figure fixes itself stays.
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

// shareAxes sets the ranges that panels leave open to what all of them need.
func shareAxes(panels []*Panel) {
	var x, y *[2]float64
	for _, p := range panels {
		if ex, ey := p.extents(); ex.any && ey.any {
			sx, sy := p.ranges()
			x, y = widen(x, sx.lo, sx.hi), widen(y, sy.lo, sy.hi)
		}
	}
	for _, p := range panels {
		if p.X.Range == nil {
			p.X.Range = x
		}
		if p.Y.Range == nil {
			p.Y.Range = y
		}
	}
}

// widen is a range that holds another, too.
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
