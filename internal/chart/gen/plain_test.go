package main

import (
	"bytes"
	"slices"
	"testing"

	"collapse.example/collapse/internal/chart"

	"codeberg.org/go-fonts/dejavu/dejavusans"
	"codeberg.org/go-fonts/dejavu/dejavusansbold"
	"golang.org/x/image/font"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
)

// TestAPlainFontDrawsTheSame: every glyph has its outline, width and place in the alphabet; some bytes are gone.
func TestAPlainFontDrawsTheSame(t *testing.T) {
	for name, ttf := range map[string][]byte{"sans": dejavusans.TTF, "bold": dejavusansbold.TTF} {
		less := plain(ttf)
		if len(less) != len(ttf) || bytes.Count(less, []byte{0}) < bytes.Count(ttf, []byte{0})+len(ttf)/20 {
			t.Errorf("%s: %d zeros in %d bytes, where there were %d in %d", name, bytes.Count(less, []byte{0}), len(less), bytes.Count(ttf, []byte{0}), len(ttf))
		}
		a, err := sfnt.Parse(ttf)
		if err != nil {
			t.Fatal(err)
		}
		b, err := sfnt.Parse(less)
		if err != nil {
			t.Fatal(err)
		}
		if a.NumGlyphs() != b.NumGlyphs() || a.NumGlyphs() < 5000 {
			t.Fatalf("%s: %d and %d glyphs", name, a.NumGlyphs(), b.NumGlyphs())
		}
		var one, two sfnt.Buffer
		for i := range a.NumGlyphs() {
			g := sfnt.GlyphIndex(i)
			p, err1 := a.LoadGlyph(&one, g, fixed.I(40), nil)
			q, err2 := b.LoadGlyph(&two, g, fixed.I(40), nil)
			if err1 != nil || err2 != nil || !slices.Equal(p, q) {
				t.Fatalf("%s: glyph %d differs (%v, %v)", name, i, err1, err2)
			}
			v, err1 := a.GlyphAdvance(&one, g, fixed.I(40), font.HintingNone)
			w, err2 := b.GlyphAdvance(&two, g, fixed.I(40), font.HintingNone)
			if err1 != nil || err2 != nil || v != w {
				t.Fatalf("%s: glyph %d is %v and %v wide (%v, %v)", name, i, v, w, err1, err2)
			}
		}
		for r := rune(32); r < 0x10000; r++ {
			g, err1 := a.GlyphIndex(&one, r)
			h, err2 := b.GlyphIndex(&two, r)
			if err1 != nil || err2 != nil || g != h {
				t.Fatalf("%s: %q is glyph %d and %d (%v, %v)", name, r, g, h, err1, err2)
			}
		}
		for _, pair := range []string{"AV", "To", "WA"} {
			var pairs [2]fixed.Int26_6
			for i, f := range []*sfnt.Font{a, b} {
				x, _ := f.GlyphIndex(&one, rune(pair[0]))
				y, _ := f.GlyphIndex(&one, rune(pair[1]))
				pairs[i], _ = f.Kern(&one, x, y, fixed.I(40), font.HintingNone)
			}
			if pairs[0] != pairs[1] {
				t.Errorf("%s: kerning of %s is %v and %v", name, pair, pairs[0], pairs[1])
			}
		}
	}
}

// TestOnlyDrawsWhatIsKept: kept characters have their outlines, those of accents from parts, too; others are empty and as wide as before.
func TestOnlyDrawsWhatIsKept(t *testing.T) {
	onlyKept(t, dejavusans.TTF, chart.Drawn, 3500)
	onlyKept(t, dejavusansbold.TTF, chart.Bold, 1200)
}

func onlyKept(t *testing.T, ttf []byte, keep func(rune) bool, least int) {
	t.Helper()
	less, err := only(ttf, keep)
	if err != nil {
		t.Fatal(err)
	}
	a, _ := sfnt.Parse(ttf)
	b, err := sfnt.Parse(plain(less))
	if err != nil {
		t.Fatal(err)
	}
	var one, two sfnt.Buffer
	kept, empty := 0, 0
	for r := range rune(0x1ffff) {
		g, _ := a.GlyphIndex(&one, r)
		if h, _ := b.GlyphIndex(&two, r); h != g {
			t.Fatalf("%U is another glyph", r)
		}
		if g == 0 {
			continue
		}
		p, err1 := a.LoadGlyph(&one, g, fixed.I(40), nil)
		q, err2 := b.LoadGlyph(&two, g, fixed.I(40), nil)
		v, _ := a.GlyphAdvance(&one, g, fixed.I(40), font.HintingNone)
		w, _ := b.GlyphAdvance(&two, g, fixed.I(40), font.HintingNone)
		switch {
		case err1 != nil || err2 != nil || v != w:
			t.Fatalf("%U: %v, %v, widths %v and %v", r, err1, err2, v, w)
		case slices.Equal(p, q):
			kept++
		case keep(r) || len(q) > 0:
			t.Fatalf("%U differs", r)
		default:
			empty++
		}
	}
	if kept < least || empty < 1000 {
		t.Errorf("%d characters are drawn, %d are not", kept, empty)
	}
}
