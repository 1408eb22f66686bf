package data

import (
	"fmt"
	"slices"
	"sync"
)

// Defaults of a Source for glyphs.
const (
	DefaultTrainPerClass = 1000
	DefaultTestPerClass  = 500
)

// GlyphConfig says which samples of the built-in set to draw.
type GlyphConfig struct {
	Split    Split
	Classes  int    // 2 to MaxGlyphClasses
	PerClass int    // samples per class, at least 1
	Size     int    // height and width: 28, 32 or 84
	Color    bool   // three channels with colours of ink and paper drawn per sample, else one
	Seed     uint64 // another seed draws other samples of the same classes
}

// Glyphs draws a set of digits (classes 0…9) and of letters and symbols (beyond) from Go's own
// fonts, under random affine warps, stroke thickness, occluding bars, contrast and noise.
//
// Sample i has class i mod Classes. Its pixels depend only on (Seed, Split, class, i / Classes),
// Size and Color, and are the same bits on every platform and for any number of threads: all that is
// computed per sample is integer arithmetic. The first K classes of a larger set are therefore the
// set of K classes, and a larger PerClass only adds samples.
func Glyphs(cfg GlyphConfig) (*Set, error) {
	if err := cfg.check(); err != nil {
		return nil, err
	}
	n := cfg.Classes * cfg.PerClass
	s := &Set{Name: "glyphs", Split: cfg.Split, Classes: cfg.Classes, Shape: cfg.shape(), True: make([]int32, n)}
	s.Pixels = make([]uint8, n*s.Shape.Dim())
	fields := glyphFields(cfg.Classes)
	parallel(n, func(first, end int) {
		r := newRenderer(cfg.Size)
		for i := first; i < end; i++ {
			class := i % cfg.Classes
			s.True[i] = int32(class)
			r.rng.reset(cfg.Seed, forGlyph, uint64(cfg.Split), uint64(class), uint64(i/cfg.Classes))
			r.sample(s.Image(i), fields[class], cfg.Color)
		}
	})
	return s.seal(), nil
}

func (cfg GlyphConfig) shape() Shape {
	if cfg.Color {
		return Shape{3, cfg.Size, cfg.Size}
	}
	return Shape{1, cfg.Size, cfg.Size}
}

// maxPixels bounds a set in memory, read or drawn.
const maxPixels = 1 << 30

func (cfg GlyphConfig) check() error {
	switch {
	case cfg.Classes < 2 || cfg.Classes > MaxGlyphClasses:
		return fmt.Errorf("data: glyphs: %d classes asked; 2 to %d can be drawn", cfg.Classes, MaxGlyphClasses)
	case cfg.PerClass < 1:
		return fmt.Errorf("data: glyphs %s: %d samples per class asked; at least 1 is needed", cfg.Split, cfg.PerClass)
	case !slices.Contains([]int{28, 32, 84}, cfg.Size):
		return fmt.Errorf("data: glyphs: size %d asked; 28, 32 or 84 pixels can be drawn", cfg.Size)
	case cfg.PerClass > maxPixels/(cfg.Classes*cfg.shape().Dim()):
		return fmt.Errorf("data: glyphs %s: %d samples per class of %d classes at %d pixels asked, more than 1 GiB of pixels; ask for fewer",
			cfg.Split, cfg.PerClass, cfg.Classes, cfg.Size)
	}
	return nil
}

// glyphFields returns, for each of the first classes, the distance fields of its faces. A field is
// made on first use and cached.
func glyphFields(classes int) [][]*field {
	fields := make([][]*field, classes)
	parallel(classes, func(first, end int) {
		for class := first; class < end; class++ {
			symbol, face, endFace := glyphClass(class)
			for ; face < endFace; face++ {
				fields[class] = append(fields[class], fieldOf(face, symbol))
			}
		}
	})
	return fields
}

var fieldCache sync.Map // fieldKey → *field

type fieldKey struct {
	face   int
	symbol rune
}

func fieldOf(face int, symbol rune) *field {
	key := fieldKey{face, symbol}
	if f, ok := fieldCache.Load(key); ok {
		return f.(*field)
	}
	f, _ := fieldCache.LoadOrStore(key, newField(outline(face, symbol)))
	return f.(*field)
}
