package data

import (
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"
)

func glyphs(t testing.TB, cfg GlyphConfig) *Set {
	t.Helper()
	s, err := Glyphs(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestGlyphsGolden: the samples of a seed never change. The digests were seen on linux/amd64 and, under
// qemu, on linux/arm64.
func TestGlyphsGolden(t *testing.T) {
	for _, c := range []struct {
		cfg  GlyphConfig
		want string
	}{
		{GlyphConfig{Classes: 10, PerClass: 20, Size: 28, Seed: 1}, "0fc80e33b29d51995e299ccd2f31a5a97d54bf290845393f1a6be308eb57f491"},
		{GlyphConfig{Split: Test, Classes: MaxGlyphClasses, PerClass: 2, Size: 32, Seed: 2}, "1bf18c3b530bf5f8cb097358d7e6e6e7284256ca5dd2321c2a53fc9501a6d30b"},
		{GlyphConfig{Classes: 100, PerClass: 1, Size: 84, Color: true, Seed: 3}, "8fde7ab6b78a1336352b75ea0955ff3b677d88803a05d67f6df5a4c004e8b076"},
	} {
		if got := glyphs(t, c.cfg).Digest; got != c.want {
			t.Errorf("%+v: digest %s, want %s", c.cfg, got, c.want)
		}
	}
}

func TestGlyphsAnyThreads(t *testing.T) {
	cfg := GlyphConfig{Classes: 7, PerClass: 9, Size: 32, Color: true, Seed: 4}
	want := glyphs(t, cfg).Digest
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, threads := range []int{1, 2, 5, 64} {
		runtime.GOMAXPROCS(threads)
		if got := glyphs(t, cfg).Digest; got != want {
			t.Errorf("%d threads draw other samples", threads)
		}
	}
}

// TestGlyphsNest: fewer classes or fewer samples are a part of more; seeds and splits differ.
func TestGlyphsNest(t *testing.T) {
	cfg := GlyphConfig{Classes: 5, PerClass: 6, Size: 28, Seed: 8}
	big := glyphs(t, cfg)
	small := cfg
	small.Classes = 2
	two, err := big.FirstClasses(2)
	if err != nil || two.Digest != glyphs(t, small).Digest {
		t.Errorf("the first two of five classes are not the set of two (%v)", err)
	}
	few := cfg
	few.PerClass = 3
	if s := glyphs(t, few); !slices.Equal(s.Pixels, big.Pixels[:len(s.Pixels)]) {
		t.Error("three samples per class are not the first of six")
	}
	for what, change := range map[string]func(*GlyphConfig){
		"seed": func(c *GlyphConfig) { c.Seed++ }, "split": func(c *GlyphConfig) { c.Split = Test },
	} {
		other := cfg
		change(&other)
		s := glyphs(t, other)
		for i := range s.N() {
			if slices.Equal(s.Image(i), big.Image(i)) {
				t.Fatalf("sample %d does not depend on the %s", i, what)
			}
		}
	}
	for i := range big.N() {
		for j := range i {
			if slices.Equal(big.Image(i), big.Image(j)) {
				t.Fatalf("samples %d and %d are the same", i, j)
			}
		}
	}
}

func TestGlyphsErrors(t *testing.T) {
	good := GlyphConfig{Classes: 10, PerClass: 5, Size: 28}
	for want, change := range map[string]func(*GlyphConfig){
		"1 classes asked; 2 to 205":   func(c *GlyphConfig) { c.Classes = 1 },
		"206 classes asked; 2 to 205": func(c *GlyphConfig) { c.Classes = MaxGlyphClasses + 1 },
		"0 samples per class":         func(c *GlyphConfig) { c.PerClass = 0 },
		"size 30 asked; 28, 32 or 84": func(c *GlyphConfig) { c.Size = 30 },
		"more than 1 GiB":             func(c *GlyphConfig) { c.PerClass = math.MaxInt },
	} {
		cfg := good
		change(&cfg)
		if s, err := Glyphs(cfg); s != nil || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want an error with %q", err, want)
		}
	}
}

// TestGlyphClasses: every class has all its faces, and no two classes are nearly the same. Between
// symbols the measure is the mean difference of their fields in cells; between the two families of
// faces it is the least over changes of thickness, which samples change too.
func TestGlyphClasses(t *testing.T) {
	if want := 10 + len(glyphSymbols) + len(glyphSlabs); MaxGlyphClasses != want || want < 200 {
		t.Fatalf("MaxGlyphClasses is %d, want %d, at least 200", MaxGlyphClasses, want)
	}
	fields := glyphFields(MaxGlyphClasses)
	symbols := map[rune]int{}
	for class, faces := range fields {
		symbol, face, _ := glyphClass(class)
		for i := range faces {
			if len(outline(face+i, symbol)) == 0 {
				t.Fatalf("class %d: face %d lacks %q", class, face+i, symbol)
			}
		}
		other, again := symbols[symbol]
		if !again {
			symbols[symbol] = class
			continue
		}
		for thicker := -6; thicker <= 6; thicker++ {
			if d := difference(faces[0], fields[other][0], thicker*fieldUnit); !(d >= 1) {
				t.Errorf("%q differs by %g cells between its faces", symbol, d)
			}
		}
	}
	for a, class := range symbols {
		for b, other := range symbols {
			if d := difference(fields[class][0], fields[other][0], 0); a < b && !(d >= 0.5) {
				t.Errorf("%q and %q differ by %g cells", a, b, d)
			}
		}
	}
}

func difference(a, b *field, thicker int) float64 {
	sum := 0
	for i, d := range a {
		d := int(d) + thicker - int(b[i])
		sum += max(d, -d)
	}
	return float64(sum) / (fieldUnit * fieldSize * fieldSize)
}

// TestFieldOfRing compares with the closed form: a square of half side 30 cells around the centre, drawn
// clockwise, with a square hole of half side 20 drawn the other way.
func TestFieldOfRing(t *testing.T) {
	const mid = fieldSize * fieldUnit / 2
	square := func(half int, hole bool) (edges []edge) {
		h := half * fieldUnit
		p := []point{{mid - h, mid - h}, {mid + h, mid - h}, {mid + h, mid + h}, {mid - h, mid + h}}
		if hole {
			slices.Reverse(p)
		}
		for i := range p {
			edges = append(edges, edge{p[i], p[(i+1)%4]})
		}
		return edges
	}
	// signed distance to a centred square, positive inside
	inside := func(x, y, half float64) float64 {
		dx, dy := math.Abs(x)-half, math.Abs(y)-half
		return -math.Hypot(max(dx, 0), max(dy, 0)) - min(max(dx, dy), 0)
	}
	f := newField(append(square(30, false), square(20, true)...))
	for i, got := range f {
		x, y := float64(i%fieldSize)+0.5-fieldSize/2, float64(i/fieldSize)+0.5-fieldSize/2
		want := min(max(min(inside(x, y, 30), -inside(x, y, 20)), -fieldFar), fieldFar)
		if d := math.Abs(float64(got)/fieldUnit - want); !(d <= 1.01/fieldUnit) { // one unit: truncation of the root
			t.Fatalf("cell (%g,%g): %g, want %g", x, y, float64(got)/fieldUnit, want)
		}
	}
}

func TestFlattenCurve(t *testing.T) {
	edges := outline(0, 'O') // two ovals: closed, with a hole
	sum := 0
	for i, e := range edges {
		sum += e.a.x*e.b.y - e.b.x*e.a.y
		if next := edges[(i+1)%len(edges)]; e.b != next.a && !slices.ContainsFunc(edges, func(o edge) bool { return o.a == e.b }) {
			t.Fatalf("edge %d ends where none begins", i)
		}
	}
	full := fieldBox * fieldUnit
	if area := math.Abs(float64(sum)) / 2 / float64(full*full); !(area >= 0.15 && area <= 0.6) {
		t.Errorf("the ring of O covers %g of its box", area)
	}
}

// TestSymbolAgainstFloat repeats the warp in float64 with trigonometric functions.
func TestSymbolAgainstFloat(t *testing.T) {
	for _, size := range []int{28, 32, 84} {
		for seed := range uint64(20) {
			f := fieldOf(int(seed)%10, '4')
			r := newRenderer(size)
			r.rng.reset(seed, forGlyph)
			r.symbol(f)
			want := floatSymbol(f, size, seed)
			for i, got := range r.ink {
				if d := math.Abs(float64(got) - want[i]); !(d <= 4) { // of 255: coordinates and slope are rounded
					t.Fatalf("size %d, seed %d, pixel %d: %d, want %g", size, seed, i, got, want[i])
				}
			}
		}
	}
}

func floatSymbol(f *field, size int, seed uint64) []float64 {
	var rng stream
	rng.reset(seed, forGlyph)
	d := glyphDraw
	draw := func(lo, hi int) float64 { return float64(rng.within(lo, hi)) / q16 }
	angle := 2 * math.Atan(draw(-d.halfTurn, d.halfTurn))
	shear := draw(-d.shear, d.shear)
	zx, zy := draw(d.zoomMin, d.zoomMax), draw(d.zoomMin, d.zoomMax)
	sx, sy := draw(-d.shift, d.shift), draw(-d.shift, d.shift)
	thicker := draw(-d.thinner, d.thicker) * q16 / fieldUnit
	blur := draw(d.blurMin, d.blurMax)
	ink := make([]float64, size*size)
	for i := range ink {
		scale := 28 / float64(size)
		px := (float64(i%size)+0.5-float64(size)/2)*scale - sx
		py := (float64(i/size)+0.5-float64(size)/2)*scale - sy
		x, y := math.Cos(angle)*px+math.Sin(angle)*py, math.Cos(angle)*py-math.Sin(angle)*px
		x -= shear * y
		u, v := x/zx*fieldBox/20+(fieldSize-1)/2.0, y/zy*fieldBox/20+(fieldSize-1)/2.0
		distance := -float64(fieldFar)
		if x, y := math.Floor(u), math.Floor(v); x >= 0 && y >= 0 && x < fieldSize-1 && y < fieldSize-1 {
			at := func(dx, dy int) float64 { return float64(f[(int(y)+dy)*fieldSize+int(x)+dx]) / fieldUnit }
			top := at(0, 0)*(1-u+x) + at(1, 0)*(u-x)
			distance = top*(1-v+y) + (at(0, 1)*(1-u+x)+at(1, 1)*(u-x))*(v-y)
		}
		ramp := blur * fieldBox / 20
		ink[i] = min(max(127.5+255*(distance+thicker)/ramp, 0), 255)
	}
	return ink
}

// TestExpose: grey levels of ink and paper, and the mean and deviation of the noise, within six
// standard errors of N draws.
func TestExpose(t *testing.T) {
	const size = 84
	r := newRenderer(size)
	r.rng.reset(1, forGlyph)
	for i := range r.ink {
		r.ink[i] = i % 2 * 255
	}
	dst := make([]uint8, size*size)
	const deviation = 12
	r.expose(dst, 180, 60, deviation)
	const n = size * size / 2
	for side, level := range []float64{60, 180} {
		sum, sum2 := 0.0, 0.0
		for i := side; i < len(dst); i += 2 {
			x := float64(dst[i]) - level
			sum, sum2 = sum+x, sum2+x*x
		}
		mean, std := sum/n, math.Sqrt(sum2/n)
		if !(math.Abs(mean) <= 0.5+6*deviation/math.Sqrt(n)) || !(math.Abs(std-deviation) <= 0.5+6*deviation/math.Sqrt(2*n)) {
			t.Errorf("level %g: noise has mean %g and deviation %g, want 0 and %d", level, mean, std, deviation)
		}
	}
}

func BenchmarkGlyphs(b *testing.B) {
	for _, size := range []int{28, 84} {
		b.Run(map[int]string{28: "28", 84: "84"}[size], func(b *testing.B) {
			r, fields, i := newRenderer(size), glyphFields(10), 0
			dst := make([]uint8, size*size)
			for b.Loop() {
				r.rng.reset(1, forGlyph, uint64(i))
				r.sample(dst, fields[i%10], false)
				i++
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "samples/s")
		})
	}
}
