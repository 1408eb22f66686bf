package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// gramRow walks a row of a Gram matrix. own holds gramOwn's fields, which end with its threshold; to the arrays of gramLanes go
// its sums, sixteen each, and its extremes, eight each.
func (t target) gramRow() {
	begin("gramRow"+t.suffix, "func(n int, row, unit, whole, shift, square, own, distance, inverse, lanes *float64) uint64",
		"is GramRow.walkGeneric of n elements, a positive multiple of 16; it returns whether any of them cancelled.")
	g, unit, whole := Load(Param("row"), GP64()), Load(Param("unit"), GP64()), Load(Param("whole"), GP64())
	shift, square := Load(Param("shift"), GP64()), Load(Param("square"), GP64())
	distance, inverse := Load(Param("distance"), GP64()), Load(Param("inverse"), GP64())
	own := Load(Param("own"), GP64())
	constants := make([]reg.VecVirtual, 6)
	for j := range constants {
		constants[j] = ZMM()
		VBROADCASTSD(Mem{Base: own, Disp: 8 * j}, constants[j])
	}
	ownUnit, ownWhole, ownShift, ownSquare, ideal, cancelled := constants[0], constants[1], constants[2], constants[3], constants[4], constants[5]
	c := newConstants("gramConstants")
	one, two := c.of(1), c.of(2)
	magnitude := ZMM()
	VPTERNLOGD(Imm(0xff), magnitude, magnitude, magnitude)
	VPSRLQ(Imm(1), magnitude, magnitude)
	away, inverses := t.zeros(), t.zeros()
	extremes := append(t.zeros(), t.zeros()...)
	mostAway, mostCosine, mostInverse, least := extremes[0], extremes[1], extremes[2], extremes[3]
	VMOVAPD(two, least)
	VADDPD(two, least, least) // no squared distance of unit vectors is larger
	lost, fine := K(), K()
	KXORQ(lost, lost, lost)
	const notGreater = 10
	t.elements(func(i reg.Register) {
		for v := range t.vectors() {
			x, cosine, y := ZMM(), ZMM(), ZMM()
			VMOVUPD(t.at64(g, i, v), x)
			VMULPD(t.at64(unit, i, v), ownUnit, cosine)
			VMULPD(x, cosine, cosine)
			VADDPD(ideal, cosine, y)
			VPANDQ(magnitude, y, y)
			VADDPD(y, away[v], away[v])
			VMAXPD(y, mostAway, mostAway)

			lengths := ZMM()
			VADDPD(ownShift, x, y)
			VADDPD(t.at64(shift, i, v), y, y)
			VPANDQ(magnitude, y, y)
			VMULPD(t.at64(whole, i, v), ownWhole, lengths)
			VMULPD(lengths, y, y)
			VMAXPD(y, mostCosine, mostCosine)

			VADDPD(cosine, cosine, cosine)
			VSUBPD(cosine, two, cosine)
			VCMPPD(Imm(notGreater), cancelled, cosine, fine)
			KORQ(fine, lost, lost)
			VMINPD(cosine, least, least)
			VSQRTPD(cosine, cosine)
			VMOVUPD(cosine, t.at64(distance, i, v))

			both, limit := ZMM(), ZMM()
			VADDPD(t.at64(square, i, v), ownSquare, both)
			VMULPD(cancelled, both, limit)
			VADDPD(x, x, x)
			VSUBPD(x, both, both)
			VCMPPD(Imm(notGreater), limit, both, fine)
			KORQ(fine, lost, lost)
			VDIVPD(both, one, both)
			VADDPD(both, inverses[v], inverses[v])
			VMAXPD(both, mostInverse, mostInverse)
			VMOVUPD(both, t.at64(inverse, i, v))
		}
	})
	lanes := Load(Param("lanes"), GP64())
	t.store(append(append(away, inverses...), extremes...), lanes)
	endWith(lost)
}
