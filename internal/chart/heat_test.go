package chart

import (
	"bytes"
	"encoding/base64"
	"image/png"
	"math"
	"strings"
	"testing"
)

func heatOf(columns, rows int, z func(c, r int) float64) Figure {
	h := &Heat{Columns: columns, Rows: rows, X: [2]float64{0, 5}, Y: [2]float64{0, 3}}
	for i := range columns * rows {
		h.Z = append(h.Z, z(i%columns, i/columns))
	}
	return Figure{ID: "f", Panels: []Panel{{ID: "p", Series: []Series{{ID: "map", Kind: HeatMap, Heat: h}}}}}
}

// A map with any number of cells is one image of a few kilobytes, contained in the file itself.
func TestHeatMapIsOneSmallImage(t *testing.T) {
	svg := draw(t, heatOf(120, 90, func(c, r int) float64 { return math.Hypot(float64(c)-60, float64(r)-20) }))
	if n := strings.Count(svg, "<image "); n != 2 { // the map and its colour bar
		t.Errorf("%d images", n)
	}
	if strings.Count(svg, "<path") > 10 || len(svg) > 60000 {
		t.Errorf("%d paths, %d bytes for 10800 cells", strings.Count(svg, "<path"), len(svg))
	}
	if strings.Contains(strings.ReplaceAll(svg, `href="data:image/png;base64,`, ""), "href=") {
		t.Error("the file needs another one")
	}
}

// Each cell's colour is where the axes say, in the SVG's image and in the pixels of the PNG file; a cell without a value is empty.
func TestHeatMapCells(t *testing.T) {
	f := heatOf(3, 2, func(c, r int) float64 {
		if c == 2 && r == 1 {
			return math.NaN()
		}
		return float64(c + 3*r)
	})
	var picture *element
	parse(t, draw(t, f)).walk(func(e *element) {
		if e.XMLName.Local == "image" && picture == nil {
			picture = e
		}
	})
	raw, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(picture.attr("href"), "data:image/png;base64,"))
	if err != nil {
		t.Fatal(err)
	}
	inside, err := png.Decode(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := WritePNG(&b, f, Light, 2); err != nil {
		t.Fatal(err)
	}
	file, err := png.Decode(&b)
	if err != nil {
		t.Fatal(err)
	}
	x, y, w, h := picture.number(t, "x"), picture.number(t, "y"), picture.number(t, "width"), picture.number(t, "height")
	for c := range 3 {
		for r := range 2 {
			u, v := (float64(c)+0.5)/3, 1-(float64(r)+0.5)/2 // the first row is the lowest
			_, _, _, alpha := inside.At(int(u*float64(inside.Bounds().Dx())), int(v*float64(inside.Bounds().Dy()))).RGBA()
			red, green, blue, _ := file.At(int(2*(x+u*w)), int(2*(y+v*h))).RGBA()
			got := uint32(red>>8)<<16 | uint32(green>>8)<<8 | uint32(blue>>8)
			if c == 2 && r == 1 {
				if alpha != 0 {
					t.Error("a cell without a value has a colour")
				}
				continue
			}
			if want := heatColor(int(float64(c+3*r)/4*(heatLevels-1) + 0.5)); got != want || alpha == 0 {
				t.Errorf("cell (%d, %d) is #%06x, wanted #%06x", c, r, got, want)
			}
		}
	}
}

// Between neighbours of the same colour nothing else is visible, even at scales that no cell's edge fits.
func TestHeatMapHasNoSeams(t *testing.T) {
	for _, scale := range []float64{1, 1.3, 2} {
		var b bytes.Buffer
		f := heatOf(37, 23, func(c, r int) float64 { return 1 })
		f.Panels[0].Series[0].Heat.Range = Range(0, 1)
		if err := WritePNG(&b, f, Light, scale); err != nil {
			t.Fatal(err)
		}
		im, err := png.Decode(&b)
		if err != nil {
			t.Fatal(err)
		}
		for x := range 100 { // well inside the map
			for y := range 100 {
				r, g, bl, _ := im.At(int(scale*float64(100+x)), int(scale*float64(100+y))).RGBA()
				if got := uint32(r>>8)<<16 | uint32(g>>8)<<8 | uint32(bl>>8); got != heatColor(heatLevels-1) {
					t.Fatalf("scale %g: pixel (%d, %d) is #%06x", scale, x, y, got)
				}
			}
		}
	}
}
