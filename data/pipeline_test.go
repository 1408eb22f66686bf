package data

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// pattern is an n×n image of which the golden values below were made.
func pattern(n int) []uint8 {
	p := make([]uint8, 0, n*n)
	for y := range n {
		for x := range n {
			p = append(p, uint8(x*x*7+y*13+x*y*5))
		}
	}
	return p
}

func resized(src []uint8, from, to int) []uint8 {
	dst := make([]uint8, to*to)
	newResize(from, to).square(dst, src, make([]uint8, from*to))
	return dst
}

func hash(b []byte) string {
	h := sha256.Sum256(b)
	return hex.EncodeToString(h[:])
}

func hashFloats(v []float32) string {
	var b []byte
	for _, x := range v {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
	}
	return hash(b)
}

// TestResizeGolden holds torchvision 0.14.1 transforms.Resize on Pillow 9.4.0 images (Debian 12).
func TestResizeGolden(t *testing.T) {
	for _, c := range []struct {
		from, to int
		want     string
	}{
		{28, 32, "57853ab0582662bf7159c29ba4f5a153bf1a71cfb92e4e2d0cf0f1c320c58efb"},
		{28, 84, "a32239cf0b430e0f050107c994f1340dea4643006bea0cafa30241844a0c701d"},
		{84, 32, "d20a516597aba3bcaa9ddb6ef27d5e2704be39fc133e65d5fc718de926d55f1d"},
		{32, 28, "daf9b9caa76ab9463074b8f50b4166485b1a02cc46e0888a8b0a9f828f214229"},
		{84, 28, "0341e39589b72a3e64cba22ca72e92c098ceb527a08921fe6b50d3d33ed6e5ce"},
		{28, 31, "c2c73fdde6a5c1a007bf5b1af24393ffb305ccd4569ef9afa5ba1b746b1702a6"},
		{32, 32, "61b107acb9ab9287ef61d654a300a770f1e3c5cb1f688edc26f8af23572d1ede"},
	} {
		if got := hash(resized(pattern(c.from), c.from, c.to)); got != c.want {
			t.Errorf("%d → %d: got %s, want %s", c.from, c.to, got, c.want)
		}
	}
}

// TestResizeBilinear: enlarging agrees with bilinear interpolation in float64 to one level: half for
// rounding after each of the two passes, and weights are rounded to 2^-22.
func TestResizeBilinear(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		from := rapid.IntRange(1, 12).Draw(t, "from")
		to := rapid.IntRange(from, 40).Draw(t, "to")
		src := rapid.SliceOfN(rapid.Uint8(), from*from, from*from).Draw(t, "pixels")
		got := resized(src, from, to)
		place := func(i int) (int, int, float64) {
			at := min(max((float64(i)+0.5)*float64(from)/float64(to)-0.5, 0), float64(from-1))
			return int(at), min(int(at)+1, from-1), at - math.Floor(at)
		}
		for y := range to {
			for x := range to {
				x0, x1, fx := place(x)
				y0, y1, fy := place(y)
				v := func(y, x int) float64 { return float64(src[y*from+x]) }
				want := (v(y0, x0)*(1-fx)+v(y0, x1)*fx)*(1-fy) + (v(y1, x0)*(1-fx)+v(y1, x1)*fx)*fy
				if d := math.Abs(float64(got[y*to+x]) - want); !(d <= 1.001) {
					t.Fatalf("(%d,%d): %d, bilinear %g", x, y, got[y*to+x], want)
				}
			}
		}
	})
}

// TestTableGolden holds torchvision's ToTensor and Normalize((0.1307,), (0.3081,)) of 0…255.
func TestTableGolden(t *testing.T) {
	p, err := PipelineNamed(PipelineMD)
	if err != nil {
		t.Fatal(err)
	}
	if p, err = p.of(&Set{}); err != nil {
		t.Fatal(err)
	}
	table := p.table(3)
	for v, want := range map[int]uint32{0: 0xbed93271, 1: 0xbed2ae20, 128: 0x3f9a3d7a, 255: 0x4034933d} {
		if got := math.Float32bits(table[2][v]); got != want {
			t.Errorf("pixel %d: %#x, want %#x", v, got, want)
		}
	}
	if got := hashFloats(table[0][:]); got != "0103dbab6b16bfcaea0aa75d7377b4b22bb6792081600921bee4a17ff9c4d33e" {
		t.Errorf("table has hash %s", got)
	}
}

// TestMDGolden holds torchvision's Grayscale(3), Resize(32), ToTensor, Normalize of the pattern.
func TestMDGolden(t *testing.T) {
	s := (&Set{Classes: 1, Shape: Shape{1, 28, 28}, Pixels: pattern(28), True: []int32{0}}).seal()
	in := prepared(t, PipelineMD, s)
	if in.Shape != (Shape{3, 32, 32}) || in.Dim() != 3072 {
		t.Fatalf("shape %v", in.Shape)
	}
	if got := hashFloats(in.Rows()); got != "1e23e07b9fffd52a30ba581dc324c4eaef9073b4e47c736b6be821dd90ad360c" {
		t.Errorf("input has hash %s", got)
	}
}

func prepared(t *testing.T, pipeline string, s *Set) *Inputs {
	t.Helper()
	p, err := PipelineNamed(pipeline)
	if err != nil {
		t.Fatal(err)
	}
	in, err := p.Prepare(s)
	if err != nil {
		t.Fatal(err)
	}
	return in
}

// TestFill: rows by number, by range and all at once agree, in both precisions, and are the table's
// values of each channel of the right image.
func TestFill(t *testing.T) {
	s := &Set{Classes: 2, Shape: Shape{3, 2, 2}, True: []int32{0, 1, 1, 0, 0}}
	for i := range 5 * 12 {
		s.Pixels = append(s.Pixels, uint8(i*4))
	}
	s.seal()
	p := Pipeline{Name: "test", Mean: []float32{0.1, 0.2, 0.3}, Std: []float32{1, 2, 4}}
	in, err := p.Prepare(s)
	if err != nil {
		t.Fatal(err)
	}
	rows := in.Rows()
	if len(rows) != 60 || in.N() != 5 {
		t.Fatalf("%d values of %d samples", len(rows), in.N())
	}
	for i, v := range s.Pixels {
		c := i / 4 % 3
		want := (float64(v)/255 - float64(p.Mean[c])) / float64(p.Std[c])
		if d := math.Abs(float64(rows[i]) - want); !(d <= 3e-7) {
			t.Fatalf("value %d: %g, want %g", i, rows[i], want)
		}
	}
	got, wide := make([]float32, 24), make([]float64, 36)
	Fill(got, in, []int32{4, 1})
	if want := slices.Concat(rows[48:60], rows[12:24]); !slices.Equal(got, want) {
		t.Fatalf("samples 4 and 1: %v, want %v", got, want)
	}
	FillRange(wide, in, 2, 5)
	for i, v := range wide {
		if v != float64(rows[24+i]) {
			t.Fatalf("float64 value %d: %g, want %g", i, v, rows[24+i])
		}
	}
	if n := testing.AllocsPerRun(10, func() { Fill(got, in, []int32{4, 1}) }); n != 0 {
		t.Errorf("Fill allocates %v times", n)
	}
}

func TestFillPanicsOnShortRows(t *testing.T) {
	in := prepared(t, PipelinePlain, labelled(4, 2))
	for what, f := range map[string]func(){
		"Fill":      func() { Fill(make([]float32, 1), in, []int32{0, 1}) },
		"FillRange": func() { FillRange(make([]float32, 1), in, 0, 2) },
	} {
		func() {
			defer func() {
				if v, _ := recover().(string); !strings.HasPrefix(v, "data: "+what) {
					t.Errorf("%s: panic %q", what, v)
				}
			}()
			f()
		}()
	}
}

func TestPipelineErrors(t *testing.T) {
	if _, err := PipelineNamed("paper"); err == nil || !strings.Contains(err.Error(), `["md" "zhu" "plain" "imagenet"]`) {
		t.Errorf("unknown name: %v", err)
	}
	one := []float32{1}
	for want, c := range map[string]struct {
		p  Pipeline
		in Shape
	}{
		"resizes square images":     {Pipeline{Size: 32, Mean: one, Std: one}, Shape{1, 28, 30}},
		"makes 3 channels from":     {Pipeline{Channels: 3, Mean: one, Std: one}, Shape{2, 8, 8}},
		"2 means for 3 channels":    {Pipeline{Mean: []float32{1, 1}, Std: one}, Shape{3, 8, 8}},
		"0 deviations for 1":        {Pipeline{Mean: one}, Shape{1, 8, 8}},
		"deviation 0; above 0 is n": {Pipeline{Mean: one, Std: []float32{0}}, Shape{1, 8, 8}},
	} {
		if _, err := c.p.OutShape(c.in); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want an error with %q", err, want)
		}
	}
}
