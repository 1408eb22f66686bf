package chart

import (
	_ "embed"
	"fmt"
	"slices"
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
	return within(boldRanges, r)
}

// Drawn reports whether figures as PNG draw a character. gen leaves out the outlines of others, such as playing cards, Braille and syllabaries.
func Drawn(r rune) bool { return within(drawnRanges, r) }

func within(ranges [][2]rune, r rune) bool {
	return slices.ContainsFunc(ranges, func(of [2]rune) bool { return of[0] <= r && r <= of[1] })
}

// drawable is a text with □ for what is not drawn.
func drawable(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case Drawn(r):
			return r
		case 0xfe00 <= r && r <= 0xfe0f || r == 0xfeff: // how a character before is to look, and nothing
			return -1
		}
		return '□'
	}, text)
}

// drawnRanges are alphabets, punctuation, mathematics, arrows, boxes and shapes, ★, ☆, ⚠, ticks and crosses.
var drawnRanges = [][2]rune{{0, 0x10ff}, {0x1d00, 0x25ff}, {0x2605, 0x2606}, {0x26a0, 0x26a0}, {0x2713, 0x2718}, {0x27c0, 0x27ff}, {0x2900, 0x2bff}, {0x2c60, 0x2c7f},
	{0xa640, 0xa7ff}, {0xfb00, 0xfb4f}, {0xfffd, 0xfffd}, {0x1d400, 0x1d7ff}}

// boldRanges are Latin, Greek and Cyrillic letters, those of Vietnamese, small letters above and below the line, punctuation, letters of mathematics,
// arrows, operators and brackets.
var boldRanges = [][2]rune{{0, 0x17f}, {0x370, 0x3e1}, {0x400, 0x45f}, {0x1d2c, 0x1d6a}, {0x1ea0, 0x1ef9}, {0x2010, 0x205f}, {0x2070, 0x209c}, {0x2100, 0x214f}, {0x2190, 0x21ff}, {0x2200, 0x22ff},
	{0x27e6, 0x27eb}}

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
	s = drawable(s)
	t := lookup(f, s)
	return float64(t.Width(s))
}
