package chart

// labels places texts next to points so that they cover neither marks, lines nor each other. It is greedy and depends only on the
// figure, so every renderer puts a label in the same place.
type labels struct {
	area   box
	wanted []wantedLabel
	marks  []point // centres of marks and samples along lines
	taken  []box
}

type wantedLabel struct {
	at    point
	words string
	color Color
	free  bool // place it on free room or leave it out
}

func (l *labels) want(at point, words string, c Color) {
	l.wanted = append(l.wanted, wantedLabel{at: at, words: words, color: c})
}

func (l *labels) avoid(p point) { l.marks = append(l.marks, p) }

// avoidLine keeps labels off a line by treating points at short intervals along it as marks.
func (l *labels) avoidLine(line []point) {
	const every, most = 5.0, 4000
	for i := 1; i < len(line) && len(l.marks) < most; i++ {
		p, q := line[i-1], line[i]
		d := max(abs(q.x-p.x), abs(q.y-p.y))
		n := int(d/every) + 1
		for k := range n {
			t := float64(k) / float64(n)
			l.marks = append(l.marks, point{p.x + (q.x-p.x)*t, p.y + (q.y-p.y)*t})
		}
	}
}

func abs(v float64) float64 { return max(v, -v) }

// places are the positions for a label relative to its point, in widths and heights of the label, best first.
var places = [...][2]float64{{1, -1}, {1, 1}, {-1, -1}, {-1, 1}, {0, -1}, {0, 1}, {1, 0}, {-1, 0}, {2, -2}, {2, 2}, {-2, -2}, {-2, 2},
	{0, -2}, {0, 2}, {1, -2}, {1, 2}, {-1, -2}, {-1, 2}, {1.5, 0}, {-1.5, 0}, {1.5, -1}, {1.5, 1}, {-1.5, -1}, {-1.5, 1}}

// crowded is how many marks a label may hide before leaving it out is better.
const crowded = 4

// draw tries positions around each point and takes the one that hides least. A label that would cover another label or a crowd of
// marks is left out: the mark's tip and the table still have it.
func (l *labels) draw(g painter) {
	if len(l.wanted) == 0 {
		return
	}
	g.begin("labels")
	for _, w := range l.wanted {
		f := pointFace
		if f.color = w.color; f.color > Ink {
			f.color = Ink // a data colour need not be readable as text
		}
		if b, ok := l.place(w, f); ok {
			l.taken = append(l.taken, b)
			g.text(f, label{point{b.x, b.y + f.size - 1}, w.words})
		}
	}
	g.end()
}

func (l *labels) place(w wantedLabel, f face) (box, bool) {
	const off = 6.0
	width, height := f.width(w.words), f.size+1
	best, cost := box{}, -1
	for _, d := range places {
		b := box{w.at.x - width/2 + d[0]*(width/2+off*0.75), w.at.y - height/2 + d[1]*(height/2+off*0.6), width, height}
		if !l.area.contains(point{b.x, b.y}) || !l.area.contains(point{b.x + b.w, b.y + b.h}) || l.clashes(b) {
			continue
		}
		c := 0
		for _, m := range l.marks {
			if (box{b.x - 2, b.y - 2, b.w + 4, b.h + 4}).contains(m) {
				c++
			}
		}
		if cost < 0 || c < cost {
			best, cost = b, c
		}
	}
	most := crowded
	if w.free {
		most = 0
	}
	return best, cost >= 0 && cost <= most
}

func (l *labels) clashes(b box) bool {
	for _, t := range l.taken {
		if t.overlaps(b) {
			return true
		}
	}
	return false
}
