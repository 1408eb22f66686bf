package main

import "encoding/binary"

// plain returns a copy of a TrueType font in which what the program does not read is zero: the instructions that fit outlines to the pixels of
// small screens, the substitutions of glyphs and their names. Zeros are packed to nothing; outlines, widths and the mapping from characters stay.
func plain(font []byte) []byte {
	out := append([]byte(nil), font...)
	tables := map[string][]byte{}
	for i := range int(binary.BigEndian.Uint16(out[4:])) {
		entry := out[12+16*i:]
		at, n := binary.BigEndian.Uint32(entry[8:]), binary.BigEndian.Uint32(entry[12:])
		tables[string(entry[:4])] = out[at : at+n]
		if string(entry[:4]) == "post" { // of the form without names of glyphs
			clear(out[at+postHeader : at+n])
			binary.BigEndian.PutUint32(out[at:], 3<<16)
			binary.BigEndian.PutUint32(entry[12:], postHeader)
		}
	}
	for _, name := range []string{"fpgm", "prep", "cvt ", "gasp", "GSUB", "GDEF", "FFTM"} {
		clear(tables[name])
	}
	long := binary.BigEndian.Uint16(tables["head"][50:]) == 1
	for i := range int(binary.BigEndian.Uint16(tables["maxp"][4:])) {
		clearInstructions(glyph(tables["glyf"], tables["loca"], i, long))
	}
	return out
}

// postHeader is the length of a table "post" without names.
const postHeader = 32

// glyph is the outline of a glyph; empty for one without.
func glyph(glyf, loca []byte, i int, long bool) []byte {
	if long {
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
	contours, at := int(int16(binary.BigEndian.Uint16(g))), 10
	if contours >= 0 {
		at += 2 * contours
		clear(g[at+2:][:binary.BigEndian.Uint16(g[at:])])
		return
	}
	for flags := uint16(moreParts); flags&moreParts != 0; {
		flags = binary.BigEndian.Uint16(g[at:])
		at += 6 // flags, glyph, two bytes of arguments
		for flag, more := range map[uint16]int{wordArguments: 2, oneScale: 2, twoScales: 4, fourScales: 8} {
			if flags&flag != 0 {
				at += more
			}
		}
		if flags&moreParts == 0 && flags&hasInstructions != 0 {
			clear(g[at+2:][:binary.BigEndian.Uint16(g[at:])])
		}
	}
}
