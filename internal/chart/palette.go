package chart

import (
	"fmt"
	"image/color"
	"strings"
)

// Color is a role rather than a hue: each theme assigns one. The zero value is the ink of the text. Positive values are the data
// colours 1…10 (repeating after ten).
type Color int

// Roles that are not data.
const (
	Ink   Color = 0
	Muted Color = -1 // axis numbers, references
	grid  Color = -2
	paper Color = -3
)

// ColorFor returns the i-th data colour, counted from 0.
func ColorFor(i int) Color { return Color(((i%DataColors)+DataColors)%DataColors + 1) }

// Theme chooses the colours. Auto follows the reader's system and exists only for SVG.
type Theme uint8

// The themes.
const (
	Auto Theme = iota
	Light
	Dark
)

// DataColors is the number of data colours that can be told apart.
const DataColors = 10

// The data colours come from a search: any two of them, and each of them and the inks, differ by at least 10 (CIEDE2000) for readers
// with protanopia, deuteranopia, tritanopia (Machado, Oliveira & Fernandes 2009) or normal vision, and each has a contrast of at
// least 3:1 to its paper. The themes agree in the hue of the first four; beyond these, lines also differ by dashes.
var (
	lightColors = [DataColors]uint32{0x1375c2, 0xb74b04, 0x025d35, 0xc26870, 0xaa894a, 0x3443b8, 0x613770, 0x88190d, 0x520016, 0x21073d}
	darkColors  = [DataColors]uint32{0x29b1fa, 0xffa278, 0x008030, 0xa85c90, 0xf5d344, 0x4785f4, 0x83e5c1, 0xcc575a, 0xd3fcac, 0xb6923e}

	lightRoles = map[Color]uint32{Ink: 0x1c2430, Muted: 0x5c6773, grid: 0xe3e7ec, paper: 0xffffff}
	darkRoles  = map[Color]uint32{Ink: 0xe6eaf0, Muted: 0x9aa5b1, grid: 0x2b333d, paper: 0x14181d}
)

// normal maps every Color to a role or one of 1…10.
func (c Color) normal() Color {
	if c > 0 {
		return (c-1)%DataColors + 1
	}
	if c < paper {
		return Muted
	}
	return c
}

func (c Color) in(dark bool) uint32 {
	c = c.normal()
	switch {
	case c > 0 && dark:
		return darkColors[c-1]
	case c > 0:
		return lightColors[c-1]
	case dark:
		return darkRoles[c]
	}
	return lightRoles[c]
}

// variable is the name of the CSS custom property that holds the colour.
func (c Color) variable() string {
	switch c = c.normal(); c {
	case Ink:
		return "--chart-ink"
	case Muted:
		return "--chart-muted"
	case grid:
		return "--chart-grid"
	case paper:
		return "--chart-paper"
	}
	return fmt.Sprintf("--chart-%d", int(c))
}

func rgb(v uint32) color.NRGBA {
	return color.NRGBA{R: uint8(v >> 16), G: uint8(v >> 8), B: uint8(v), A: 255}
}

// Declarations lists every colour of a theme, Light or Dark, as CSS custom properties, for pages whose readers can choose.
func Declarations(t Theme) string { return declarations(t == Dark) }

func declarations(dark bool) string {
	var b strings.Builder
	for c := paper; c <= DataColors; c++ {
		fmt.Fprintf(&b, "%s:#%06x;", c.variable(), c.in(dark))
	}
	return b.String()
}

// StyleSheet is the CSS that a page needs for the output of Inline: the colours of both themes, with the dark one used if the
// reader's system asks for it.
func StyleSheet() string { return styleFor(":root", Auto) }

func styleFor(selector string, t Theme) string {
	switch t {
	case Light:
		return selector + "{" + declarations(false) + "}"
	case Dark:
		return selector + "{" + declarations(true) + "}"
	}
	return selector + "{" + declarations(false) + "}@media screen and (prefers-color-scheme:dark){" + // paper is white

		selector + "{" + declarations(true) + "}}"
}

// heatLevels is the number of colours of a heat map.
const heatLevels = 48

// cividis are anchors of the cividis map (Nuñez, Anderton & Renslow 2018), which looks alike to colour-blind and other readers and
// is monotone in lightness; colours between anchors are interpolated.
var cividis = [...]uint32{0x00224e, 0x123570, 0x3b496c, 0x575d6d, 0x707173, 0x8a8678, 0xa59c74, 0xc3b369, 0xe1cc55, 0xfee838}

// heatColor returns the colour of level 0…heatLevels-1.
func heatColor(level int) uint32 {
	t := float64(level) / (heatLevels - 1) * float64(len(cividis)-1)
	i := min(int(t), len(cividis)-2)
	f := t - float64(i)
	var v uint32
	for shift := 16; shift >= 0; shift -= 8 {
		a, b := float64(cividis[i]>>shift&255), float64(cividis[i+1]>>shift&255)
		v |= uint32(a+(b-a)*f+0.5) << shift
	}
	return v
}

// heatPalette holds the colours of all levels, and a transparent one.
func heatPalette() color.Palette {
	out := make(color.Palette, heatLevels+1)
	for level := range heatLevels {
		out[level] = rgb(heatColor(level))
	}
	out[heatLevels] = color.NRGBA{}
	return out
}

// HeatDeclaration lists the anchors of the heat map's colours as a CSS custom property, for pages that draw heat maps themselves.
func HeatDeclaration() string {
	var b strings.Builder
	b.WriteString("--chart-heat:")
	for _, v := range cividis {
		fmt.Fprintf(&b, " #%06x", v)
	}
	return b.String() + ";"
}
