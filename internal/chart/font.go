package chart

import (
	_ "embed"
	"fmt"
	"strings"
	"sync"

	"collapse.example/collapse/internal/zipped"

	xfont "golang.org/x/image/font"
	"golang.org/x/image/font/opentype"
	"gonum.org/v1/plot/font"
)

// fontFamily is the font list for SVG. Widths are measured with DejaVu Sans, which is wider than the other fonts in the list, so
// text never needs more room than the layout gave it.
const fontFamily = "'DejaVu Sans',Verdana,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif"

//go:generate go run ./gen

// The two faces of DejaVu Sans, packed by gen.
var (
	//go:embed sans.ttf.br
	sans []byte
	//go:embed bold.ttf.br
	bold []byte
)

// fonts parses the two faces once; they are embedded, so failing is a bug.
var fonts = sync.OnceValue(func() *font.Cache {
	load := func(packed []byte, f font.Font) font.Face {
		parsed, err := opentype.Parse(zipped.FromBrotli(packed))
		if err != nil {
			panic(fmt.Sprintf("chart: embedded font: %v", err))
		}
		return font.Face{Font: f, Face: parsed}
	}
	return font.NewCache(font.Collection{
		load(sans, font.Font{Typeface: "DejaVu", Variant: "Sans"}),
		load(bold, font.Font{Typeface: "DejaVu", Variant: "Sans", Weight: xfont.WeightBold}),
	})
})

// fontMutex guards the cache and the glyph buffers inside its faces.
var fontMutex sync.Mutex

// Bold reports whether the bold face has a character: one of those that titles are usually of. gen leaves out the outlines of others.
func Bold(r rune) bool {
	for _, of := range [][2]rune{{0, 0x52f}, {0x1d2c, 0x1d6a}, {0x1e00, 0x22ff}, {0x27e6, 0x27eb}} { // Latin, Greek, Cyrillic; small letters; signs, arrows, mathematics; brackets
		if of[0] <= r && r <= of[1] {
			return true
		}
	}
	return false
}

// lookup is the face of a text. One with characters that the bold face lacks is not bold.
func lookup(f face, text string) font.Face {
	want := font.Font{Typeface: "DejaVu", Variant: "Sans"}
	if f.bold && !strings.ContainsFunc(text, func(r rune) bool { return !Bold(r) }) {
		want.Weight = xfont.WeightBold
	}
	return fonts().Lookup(want, font.Length(f.size))
}

// width of a text in points.
func (f face) width(s string) float64 {
	fontMutex.Lock()
	defer fontMutex.Unlock()
	t := lookup(f, s)
	return float64(t.Width(s))
}
