package judge

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"collapse.example/collapse/internal/format"
	"collapse.example/collapse/internal/judge/inference"
)

// reason explains the answer, with the numbers.
func (f *found) reason() string {
	if f.every != nil {
		return f.reasonOfEvery()
	}
	e := f.only
	if e.N < inference.Enough {
		why := fmt.Sprintf("%s can be judged; a verdict needs %d", format.Count(e.N, "seed"), inference.Enough)
		if f.first != nil {
			why += " (" + f.first.Error() + ")"
		}
		return why
	}
	cell := f.Cells[0]
	if f.Pooled != nil {
		cell = *f.Pooled
	}
	over := format.Count(e.N, "seed")
	if f.Pooled != nil {
		over = format.Count(len(f.Cells), "cell") + ", " + over
	}
	if math.IsNaN(e.Lo) {
		return fmt.Sprintf("%s is %s, without an interval, because the divisor may be zero (%s)", f.quantity(), f.write(cell.Value), over)
	}
	return fmt.Sprintf("%s is %s, 95 %% interval %s to %s (%s)%s", f.quantity(), f.write(cell.Value), f.write(cell.Lo), f.write(cell.Hi), over, f.position())
}

// lacking is how many seeds an open claim needs beyond those that could be judged; 0 if none could, for then more would not help.
func (f *found) lacking() int {
	n := f.only.N
	for _, e := range f.every {
		n = min(n, e.N)
	}
	if f.answer != inference.CannotTell || n == 0 {
		return 0
	}
	return max(0, inference.Enough-n)
}

// reasonOfEvery counts the cells in which the claim holds, and names the others.
func (f *found) reasonOfEvery() string {
	side, in, rest := f.kind().sides, 0, []string(nil)
	for i, e := range f.every {
		switch {
		case inference.Single(e, f.region) == inference.Yes:
			in++
		case e.N < inference.Enough:
			rest = append(rest, fmt.Sprintf("%s has %s", f.Cells[i].Name, format.Count(e.N, "seed")))
		default:
			rest = append(rest, f.Cells[i].Name)
		}
	}
	text := fmt.Sprintf("%s is entirely %s %s in %d of %s", f.quantity(), side[0], f.edge(), in, format.Count(len(f.every), "cell"))
	if against := f.contradicting(); len(against) > 0 {
		text += fmt.Sprintf(", and entirely %s in: %s", side[1], someOf(against))
	} else if len(rest) > 0 {
		text += ", and open in: " + someOf(rest)
	}
	return text + f.deciding()
}

// someOf joins the first few names of cells; the table below the claim has all of them.
func someOf(names []string) string {
	const few = 3
	if len(names) <= few+1 {
		return strings.Join(names, "; ")
	}
	return fmt.Sprintf("%s; and %d more", strings.Join(names[:few], "; "), len(names)-few)
}

// quantity is the effect in words.
func (f *found) quantity() string {
	switch {
	case f.kind().line:
		return "the bend as a fraction of the rise"
	case f.Unit == difference:
		return "the difference"
	}
	return "the ratio"
}

func (f *found) write(v Quantity) string {
	text := format.Significant(float64(v), f.digits())
	if f.Percent && f.Unit == difference {
		return text + " points"
	}
	return text
}

// digits are three, or as many as it takes to tell the ends of the interval from what they are compared with.
func (f *found) digits() int {
	const least, most = 3, 8
	cell := f.Cells[0]
	if f.Pooled != nil {
		cell = *f.Pooled
	}
	edges := []float64{0}
	switch {
	case f.every != nil: // no interval is written
		return least
	case f.Band != nil:
		edges = f.Band[:]
	case f.Unit != difference:
		edges = []float64{1}
	}
	for digits := least; digits < most; digits++ {
		if !slices.ContainsFunc(edges, func(edge float64) bool {
			return slices.ContainsFunc([]float64{float64(cell.Lo), float64(cell.Hi)}, func(end float64) bool {
				return end != edge && format.Significant(end, digits) == format.Significant(edge, digits)
			})
		}) {
			return digits
		}
	}
	return most
}

// edge is what the interval is compared with.
func (f *found) edge() string {
	switch {
	case f.Band != nil:
		return fmt.Sprintf("the band %s to %s", f.write(Quantity(f.Band[0])), f.write(Quantity(f.Band[1])))
	case f.Unit != difference:
		return "1"
	}
	return "zero"
}

// position says where the interval lies.
func (f *found) position() string {
	edge := f.edge()
	side := f.kind().sides
	against := f.contradicting()
	switch f.answer {
	case inference.Yes:
		return ": entirely " + side[0] + " " + edge
	case inference.No:
		if f.Pooled != nil && len(against) == len(f.Cells) && inference.Single(f.only, f.region) == inference.Yes {
			return fmt.Sprintf(": the mean is %s %s, but every cell is %s", side[0], edge, side[1])
		}
		return ": entirely " + side[1] + " " + edge
	case inference.Partly:
		return fmt.Sprintf(": entirely %s %s, but not in %s: %s", side[0], edge, format.Count(len(against), "cell"), strings.Join(against, "; "))
	}
	if f.Pooled != nil && inference.Single(f.only, f.region) == inference.Yes {
		return fmt.Sprintf(": entirely %s %s over all cells, but not on its own in %s: %s", side[0], edge, format.Count(len(f.unsupported()), "cell"), someOf(f.unsupported())) + f.deciding()
	}
	if f.Band == nil && f.only.Lo == f.only.Hi { // neither side: every seed gives the edge itself
		return ": exactly " + edge
	}
	where := ": it reaches both sides of " + edge
	if f.Band != nil {
		where = ": it crosses an end of " + edge
	}
	return where + f.deciding()
}

// deciding ends the reason of an open claim with how many seeds would decide it; "" if that is not known.
func (f *found) deciding() string {
	switch {
	case f.Needed == 0:
		return ""
	case f.every == nil && (f.Pooled == nil || f.Mean):
		return fmt.Sprintf("; about %d seeds of this spread would decide it", f.Needed)
	}
	return fmt.Sprintf("; about %d seeds of this spread would decide all that is open", f.Needed)
}

// Closest names the cell whose interval comes closest to what a claim about several cells denies, where it holds in all of them; "" otherwise.
func (c Claim) Closest() string {
	e := c.Effect
	if e == nil || c.Verdict != Holds || e.Mean || len(e.Cells) < 2 || e.kind().line {
		return ""
	}
	low, high := math.Inf(-1), math.Inf(1) // what the claim allows
	switch {
	case e.Band != nil && !e.kind().apart:
		low, high = e.Band[0], e.Band[1]
	case e.Kind == Less && e.Unit == difference:
		high = 0
	case e.Kind == Less:
		high = 1
	case e.Kind == More && e.Unit == difference:
		low = 0
	case e.Kind == More:
		low = 1
	default:
		return ""
	}
	room := func(cell Cell) float64 { return math.Min(float64(cell.Lo)-low, high-float64(cell.Hi)) }
	at := slices.MinFunc(e.Cells, func(a, b Cell) int { return cmp.Compare(room(a), room(b)) })
	return fmt.Sprintf("closest in %s: %s (%s to %s)", at.Name, format.Digits(float64(at.Value)), format.Digits(float64(at.Lo)), format.Digits(float64(at.Hi)))
}

// unsupported are the cells whose own interval does not support the claim.
func (f *found) unsupported() (names []string) {
	for i, e := range f.each {
		if inference.Single(e, f.region) != inference.Yes {
			names = append(names, f.Cells[i].Name)
		}
	}
	return names
}

func (f *found) contradicting() (names []string) {
	for _, c := range f.Cells {
		if c.Contradicts {
			names = append(names, c.Name)
		}
	}
	return names
}

// how says in one line how a statement is judged.
func (s Statement) how(many bool) string {
	what := map[string]string{difference: "each seed gives left − right", LogRatio: "each seed gives log(left ÷ right); shown as a ratio",
		quotient: "the ratio of means over seeds, Fieller’s interval"}[s.unit()]
	kind, _ := kindOf(s.Kind)
	if kind.line {
		what = "each seed gives a quadratic: its bend away from its chord in the middle of the range, divided by the chord’s rise; Fieller’s interval"
	}
	if s.unit() != quotient {
		what += "; Student’s interval over seeds"
	}
	switch {
	case many && kind.apart:
		what += "; the claim is about every cell, and a cell contradicts it after Holm’s correction"
	case many && s.Mean:
		what += "; the claim is about the mean over cells, and cells contradict it after Holm’s correction"
	case many:
		what += "; the claim is about every cell and holds if the interval of each supports it; cells contradict it after Holm’s correction"
	}
	if s.Because != "" {
		what += "; band: " + s.Because
	}
	return what
}
