package main

import (
	"encoding/binary"
	"unicode"

	"golang.org/x/image/font/sfnt"
)

// plain returns a copy of a TrueType font in which what the program does not read is zero: the instructions that fit outlines to the pixels of
// small screens, the substitutions of glyphs and their names. Zeros are packed to nothing; outlines, widths and the mapping from characters stay.
func plain(font []byte) []byte {
	out := append([]byte(nil), font...)
	tables := tablesOf(out)
	for i := range int(binary.BigEndian.Uint16(out[4:])) {
		entry := out[12+16*i:]
		if string(entry[:4]) == "post" { // of the form without names of glyphs
			clear(tables["post"][postHeader:])
			binary.BigEndian.PutUint32(tables["post"], 3<<16)
			binary.BigEndian.PutUint32(entry[12:], postHeader)
		}
	}
	for _, name := range []string{"fpgm", "prep", "cvt ", "gasp", "GSUB", "GDEF", "FFTM"} {
		clear(tables[name])
	}
	for i := range glyphs(tables) {
		clearInstructions(glyph(tables, i))
	}
	return out
}

// only returns a copy of a TrueType font that draws the characters that keep wants; others are of the same width, and empty.
func only(font []byte, keep func(rune) bool) ([]byte, error) {
	parsed, err := sfnt.Parse(font)
	if err != nil {
		return nil, err
	}
	out := append([]byte(nil), font...)
	tables := tablesOf(out)
	drawn := map[int]bool{0: true} // what stands for characters that the font lacks
	var buffer sfnt.Buffer
	for r := range rune(unicode.MaxRune) {
		if !keep(r) {
			continue
		}
		g, err := parsed.GlyphIndex(&buffer, r)
		if err != nil {
			return nil, err
		}
		draws(tables, int(g), drawn)
	}
	for i := range glyphs(tables) {
		if !drawn[i] {
			clear(glyph(tables, i))
		}
	}
	return out, nil
}

// draws adds a glyph and its parts.
func draws(tables map[string][]byte, i int, drawn map[int]bool) {
	drawn[i] = true
	if g := glyph(tables, i); len(g) > 0 {
		parts(g, func(part []byte) { draws(tables, int(binary.BigEndian.Uint16(part[2:])), drawn) })
	}
}

func tablesOf(font []byte) map[string][]byte {
	tables := map[string][]byte{}
	for i := range int(binary.BigEndian.Uint16(font[4:])) {
		entry := font[12+16*i:]
		at, n := binary.BigEndian.Uint32(entry[8:]), binary.BigEndian.Uint32(entry[12:])
		tables[string(entry[:4])] = font[at : at+n]
	}
	return tables
}

func glyphs(tables map[string][]byte) int { return int(binary.BigEndian.Uint16(tables["maxp"][4:])) }

// postHeader is the length of a table "post" without names.
const postHeader = 32

// glyph is the outline of a glyph; empty for one without.
func glyph(tables map[string][]byte, i int) []byte {
	glyf, loca := tables["glyf"], tables["loca"]
	if long := binary.BigEndian.Uint16(tables["head"][50:]) == 1; long {
		return glyf[binary.BigEndian.Uint32(loca[4*i:]):binary.BigEndian.Uint32(loca[4*i+4:])]
	}
	return glyf[2*int(binary.BigEndian.Uint16(loca[2*i:])) : 2*int(binary.BigEndian.Uint16(loca[2*i+2:]))]
}

// Flags of a part of a composite glyph.
const (
	wordArguments   = 1 << 0
	oneScale        = 1 << 3
	moreParts       = 1 << 5
	twoScales       = 1 << 6
	fourScales      = 1 << 7
	hasInstructions = 1 << 8
)

// clearInstructions zeroes the instructions of a glyph, and keeps their number.
func clearInstructions(g []byte) {
	if len(g) == 0 {
		return
	}
	contours := int(int16(binary.BigEndian.Uint16(g)))
	if contours >= 0 {
		at := 10 + 2*contours
		clear(g[at+2:][:binary.BigEndian.Uint16(g[at:])])
		return
	}
	if flags, rest := parts(g, func([]byte) {}); flags&hasInstructions != 0 {
		clear(rest[2:][:binary.BigEndian.Uint16(rest)])
	}
}

// parts calls do with each part of a composite glyph, which begins with flags and the number of another glyph. It returns the flags of the last
// and what comes after it; of a glyph that is not composite, nothing.
func parts(g []byte, do func(part []byte)) (flags uint16, rest []byte) {
	if int16(binary.BigEndian.Uint16(g)) >= 0 {
		return 0, nil
	}
	rest = g[10:]
	for flags = moreParts; flags&moreParts != 0; {
		do(rest)
		flags = binary.BigEndian.Uint16(rest)
		at := 6 // flags, glyph, two bytes of arguments
		for flag, more := range map[uint16]int{wordArguments: 2, oneScale: 2, twoScales: 4, fourScales: 8} {
			if flags&flag != 0 {
				at += more
			}
		}
		rest = rest[at:]
	}
	return flags, rest
}
