package chart

import (
	"encoding/json"
	"math"
	"os"
	"testing"

	"pgregory.net/rapid"
)

func TestTicks(t *testing.T) {
	for _, c := range []struct {
		s     span
		about int
		want  []string
	}{
		// At most three fit here, and a step rounded up leaves one.
		{span{lo: -0.003881, hi: 0.004209}, 3, []string{"−0.002", "0", "0.002", "0.004"}},
		{span{lo: 0, hi: 1}, 5, []string{"0", "0.2", "0.4", "0.6", "0.8", "1.0"}},
		{span{lo: -3, hi: 12}, 5, []string{"0", "5", "10"}},
		{span{lo: 0.01, hi: 0.99}, 5, []string{"0.2", "0.4", "0.6", "0.8"}},
		{span{lo: 0.11, hi: 12, log: true}, 5, []string{"0.3", "1", "3", "10"}},
		{span{lo: 1.1, hi: 9, log: true}, 5, []string{"2", "4", "6", "8"}},
		{span{lo: 0, hi: 3e6}, 5, []string{"0", "1·10⁶", "2·10⁶", "3·10⁶"}},
		{span{lo: 0.9e-3, hi: 11, log: true}, 5, []string{"10⁻³", "10⁻²", "10⁻¹", "10⁰", "10¹"}},
		{span{lo: 0.5, hi: 30, log: true}, 5, []string{"0.5", "1", "2", "5", "10", "20"}},
	} {
		var got []string
		for _, k := range c.s.ticks(c.about) {
			got = append(got, k.Label)
		}
		if len(got) != len(c.want) {
			t.Errorf("%+v: ticks %q, wanted %q", c.s, got, c.want)
			continue
		}
		for i := range got {
			if got[i] != c.want[i] {
				t.Errorf("%+v: ticks %q, wanted %q", c.s, got, c.want)
				break
			}
		}
	}
}

// TestTickPlaces compares with positions that internal/serve's test also requires of the scripts of live pages: one rule, in two languages.
func TestTickPlaces(t *testing.T) {
	text, err := os.ReadFile("testdata/ticks.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		Lo, Hi float64
		Log    bool
		Want   int
		At     []float64
	}
	if err := json.Unmarshal(text, &cases); err != nil || len(cases) < 50 {
		t.Fatal(len(cases), err)
	}
	for _, c := range cases {
		got := span{lo: c.Lo, hi: c.Hi, log: c.Log}.ticks(c.Want)
		if len(got) != len(c.At) || len(got) < fewestTicks {
			t.Errorf("%+v: %v", c, got)
			continue
		}
		for i, k := range got {
			if !(math.Abs(k.Value-c.At[i]) <= 1e-9*(c.Hi-c.Lo)) {
				t.Errorf("%+v: tick %d at %g", c, i, k.Value)
			}
		}
	}
}

// TestRanges: any values give an axis that holds them, with few ticks inside it, in order.
func TestRanges(t *testing.T) {
	value := rapid.OneOf(rapid.Float64(), rapid.Float64Range(-1, 1), rapid.SampledFrom([]float64{0, 1, math.MaxFloat64, -math.MaxFloat64, 5e-324, math.Inf(1), math.NaN()}))
	rapid.Check(t, func(t *rapid.T) {
		e := extent{log: rapid.Bool().Draw(t, "log")}
		values := rapid.SliceOfN(value, 0, 6).Draw(t, "values")
		e.add(values...)
		s := e.span()
		if !(s.lo < s.hi) || !finite(s.lo) || !finite(s.hi) || (s.log && !(s.lo > 0)) {
			t.Fatalf("range [%g, %g] from %v", s.lo, s.hi, values)
		}
		for _, v := range values {
			if !s.drawable(v) {
				continue
			}
			if p := s.at(v); !(p >= -1e-9 && p <= 1+1e-9) {
				t.Fatalf("%g lies at %g of [%g, %g]", v, p, s.lo, s.hi)
			}
		}
		ticks := s.ticks(rapid.IntRange(1, 7).Draw(t, "want"))
		if len(ticks) < fewestTicks && s.hi-s.lo > 1e-12*math.Max(math.Abs(s.lo), math.Abs(s.hi)) && s.hi-s.lo > 1e-300 {
			t.Fatalf("%d ticks in [%g, %g]", len(ticks), s.lo, s.hi)
		}
		if len(ticks) > 21 {
			t.Fatalf("%d ticks", len(ticks))
		}
		for i, k := range ticks {
			if p := s.at(k.Value); !(p >= -1e-6 && p <= 1+1e-6) {
				t.Fatalf("tick %g outside [%g, %g]", k.Value, s.lo, s.hi)
			}
			if i > 0 && !(k.Value > ticks[i-1].Value) {
				t.Fatalf("ticks not ascending: %v", ticks)
			}
		}
	})
}

// Values that differ only by rounding are a flat line, not a mountain range.
func TestConstantsAreFlat(t *testing.T) {
	for _, v := range [][]float64{{0.765340, 0.765365}, {1, 1 + 1e-5}, {-3, -3}, {2e-20, 2.0001e-20}} {
		e := extent{}
		e.add(v...)
		s := e.span()
		if length := (s.hi - s.lo) / math.Abs(v[0]); !(length > 0.15 && length < 0.25) {
			t.Errorf("%v: an axis from %g to %g", v, s.lo, s.hi)
		}
	}
	e := extent{}
	e.add(0.76, 0.77)
	if s := e.span(); !(s.hi-s.lo < 0.012) {
		t.Errorf("a difference of a hundredth is drawn from %g to %g", s.lo, s.hi)
	}
}

// No tick is beyond the largest number, where a power of ten is infinite.
func TestTicksStayFinite(t *testing.T) {
	ticks := span{lo: 1e-202, hi: math.MaxFloat64, log: true}.ticks(5)
	if len(ticks) < 2 {
		t.Errorf("%d ticks", len(ticks))
	}
	for _, k := range ticks {
		if !finite(k.Value) {
			t.Errorf("tick %g", k.Value)
		}
	}
}

// TestClipSegment compares with what dense sampling of the segment finds inside the box.
func TestClipSegment(t *testing.T) {
	b := box{0, 0, 10, 10}
	c := rapid.Float64Range(-30, 30)
	rapid.Check(t, func(t *rapid.T) {
		p, q := point{c.Draw(t, "px"), c.Draw(t, "py")}, point{c.Draw(t, "qx"), c.Draw(t, "qy")}
		u, v, ok := b.clipSegment(p, q)
		inside := 0
		for i := range 1001 {
			s := float64(i) / 1000
			r := point{p.x + s*(q.x-p.x), p.y + s*(q.y-p.y)}
			if r.x >= b.x && r.x <= b.x+b.w && r.y >= b.y && r.y <= b.y+b.h {
				inside++
			}
		}
		if !ok {
			if inside > 1 {
				t.Fatalf("%d samples inside, none kept", inside)
			}
			return
		}
		if !b.contains(u) || !b.contains(v) {
			t.Fatalf("kept %v–%v, which leaves the box", u, v)
		}
		whole, kept := math.Hypot(q.x-p.x, q.y-p.y), math.Hypot(v.x-u.x, v.y-u.y)
		if !(math.Abs(kept-whole*float64(inside)/1001) <= whole*0.003+1e-6) {
			t.Fatalf("kept %g of %g, but %d of 1001 samples are inside", kept, whole, inside)
		}
	})
}

// TestLabelsDoNotCollide: no two labels overlap, and all are inside the panel.
func TestLabelsDoNotCollide(t *testing.T) {
	c := rapid.Float64Range(0, 200)
	rapid.Check(t, func(t *rapid.T) {
		l := labels{area: box{0, 0, 200, 200}}
		for range rapid.IntRange(1, 12).Draw(t, "n") {
			l.want(point{c.Draw(t, "x"), c.Draw(t, "y")}, "η = 0.1", Ink)
		}
		l.draw(silent{})
		for i, a := range l.taken {
			if !l.area.contains(point{a.x, a.y}) || !l.area.contains(point{a.x + a.w, a.y + a.h}) {
				t.Fatalf("label %v leaves the panel", a)
			}
			for _, b := range l.taken[:i] {
				if a.overlaps(b) {
					t.Fatalf("labels %v and %v overlap", a, b)
				}
			}
		}
	})
	one := labels{area: box{0, 0, 200, 200}}
	one.want(point{100, 100}, "x", Ink)
	one.draw(silent{})
	if len(one.taken) != 1 {
		t.Error("a label with all the room in the world was left out")
	}
}

func TestEqualAxes(t *testing.T) {
	for _, s := range []Series{{ID: "wide", Kind: Points, X: Numbers{0, 100}, Y: Numbers{0, 1}}, {ID: "tall", Kind: Points, X: Numbers{0, 1}, Y: Numbers{0, 100}}} {
		p := Panel{ID: "p", Equal: true, Series: []Series{s}}
		f := newFrame(&p, box{0, 0, panelW, panelH})
		ux, uy := f.plot.w/(f.x.hi-f.x.lo), f.plot.h/(f.y.hi-f.y.lo)
		if !(math.Abs(ux/uy-1) < 1e-9) {
			t.Errorf("%s: a unit is %g points across and %g up", s.ID, ux, uy)
		}
		x, y := s.X[1]/2, s.Y[1]/2
		if c := f.pos(x, y); !(math.Abs(c.x-f.plot.x-f.plot.w/2) < 1e-6 && math.Abs(c.y-f.plot.y-f.plot.h/2) < 1e-6) {
			t.Errorf("%s: the middle of the data lies at %v of %v", s.ID, c, f.plot)
		}
	}
}
