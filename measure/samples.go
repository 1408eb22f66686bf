package measure

import (
	"math"
	"math/rand/v2"

	"collapse.example/collapse/internal/kernel"
	"collapse.example/collapse/internal/kernel/rows"
	"collapse.example/collapse/parallel"
)

// samples is one split during a measurement: its rows, their classes, and the results of the passes.
type samples[T kernel.Float] struct {
	name  string         // "train", "test", "ood": for errors
	team  *parallel.Team // whose context stops loops over rows
	src   Source[T]
	class []int32 // (rows) class of each row, −1: not measured
	own   []int32 // memory of class if labels cannot be used directly
	rows  int     // rows of src
	n     int     // measured rows
	d, k  int

	count     []int
	means     []float64 // (k×d) μ_k; zero rows for classes without samples
	centre    []float64 // (d) h_G, by the imbalance convention
	centred   []float64 // (k×d) μ_k − h_G
	isFloat32 bool      // float32 holds every measured value

	variance []float64 // (d) of each coordinate within classes, from a few samples: the size of the rounded numbers
	alone    bool      // every class has at most one sample: there is no spread

	classes []int     // class number of each class, ascending; nil: all classes are present
	before  []int     // samples of each class before any was left out
	left    []LeftOut // absent classes

	between      between
	sampleCounts sampleCounts

	whiteBound float64 // relative error of NC1's sum from float32 products; 0: none were used
}

// open takes a split, checks shapes and labels, applies the mask and leaves out what p does. labels nil: every row is in class 0.
func (s *samples[T]) open(name string, split Split[T], k int, only []bool, p present) error {
	s.name, s.src, s.k, s.classes, s.left = name, split.Features, k, nil, nil
	s.rows, s.d = split.Features.Size()
	if s.d < 1 {
		return &ShapeError{What: name + " feature width", Found: s.d, Want: 1}
	}
	if split.Labels != nil && len(split.Labels) != s.rows {
		return &ShapeError{What: name + " labels", Found: len(split.Labels), Want: s.rows, Hint: "one label for every feature row"}
	}
	if only != nil && len(only) != s.rows {
		return &ShapeError{What: name + " selection mask", Found: len(only), Want: s.rows}
	}
	for i, label := range split.Labels {
		if (label < 0 || int(label) >= k) && !p.ignored(label) {
			return &LabelError{Where: name, Row: i, Label: label, K: k}
		}
	}
	s.class = split.Labels
	if only != nil || split.Labels == nil || len(p.ignore) > 0 {
		s.copyClasses()
		for i, label := range s.class {
			switch {
			case only != nil && !only[i]:
				s.class[i] = -1
			case split.Labels != nil && p.ignored(label):
				s.class[i] = -1
				s.leaveOut(LeftIgnored, int(label), 1)
			}
		}
	}
	s.countClasses()
	s.before = append(s.before[:0], s.count...)
	if split.Labels != nil && p.least > 0 {
		s.choose(&p)
	}
	return nil
}

// copyClasses makes class writable.
func (s *samples[T]) copyClasses() {
	s.own = grow(s.own, s.rows)
	if s.class == nil {
		clear(s.own)
	} else {
		copy(s.own, s.class)
	}
	s.class = s.own
}

func (s *samples[T]) countClasses() {
	s.count = grow(s.count, s.k)
	clear(s.count)
	for _, c := range s.class {
		if c >= 0 {
			s.count[c]++
		}
	}
	s.sumCounts()
}

// sumCounts derives n and alone from count.
func (s *samples[T]) sumCounts() {
	s.n, s.alone = 0, true
	for _, n := range s.count {
		s.n += n
		s.alone = s.alone && n <= 1
	}
}

// setMeans turns class sums, held in means, into means, and fills the centre and the centred means. jitter, if given, moves
// means of several samples by one rounding.
func (s *samples[T]) setMeans(im Imbalance, jitter *rand.Rand) {
	s.divideSums(jitter)
	s.centreMeans(im)
	jog(s.centred, jitter)
	s.jogCentre(jitter)
}

// divideSums turns class sums, held in means, into means.
func (s *samples[T]) divideSums(jitter *rand.Rand) {
	for c, n := range s.count {
		if n > 0 {
			row := s.mean(c)
			for j := range row {
				row[j] /= float64(n)
			}
			if n > 1 {
				jog(row, jitter)
			}
		}
	}
}

// jogCentre moves h_G by its own rounding and by that of the largest centred mean in each coordinate, from which it was corrected, and
// all centred means with it; it does nothing if jitter is nil.
func (s *samples[T]) jogCentre(jitter *rand.Rand) {
	if jitter == nil {
		return
	}
	jog(s.centre, jitter)
	for j := range s.d {
		most := 0.0
		for c := range s.k {
			most = max(most, math.Abs(s.centred[c*s.d+j]))
		}
		shift := roundoff64 / 2 * most * (2*jitter.Float64() - 1)
		for c := range s.k {
			s.centred[c*s.d+j] += shift
		}
		s.centre[j] -= shift
	}
}

// jog moves the last bit of each number up, down or not at all, with equal probability; it does nothing if random is nil. Even if
// only two numbers matter, a series of draws hardly ever leaves both, or their difference, unchanged.
func jog(x []float64, random *rand.Rand) {
	if random == nil {
		return
	}
	for j := range x {
		x[j] *= 1 + 2*roundoff64*float64(random.IntN(3)-1)
	}
}

// resum replaces class sums, held in means, by compensated sums (Neumaier 1974). It is for sets in memory.
func (s *samples[T]) resum() error {
	rows, err := s.src.Read(make([]T, s.rows*s.d), 0, s.rows)
	if err != nil {
		return err
	}
	rest := make([]float64, s.k*s.d)
	clear(s.means[:s.k*s.d])
	for i := range s.rows {
		if s.class[i] < 0 {
			continue
		}
		at := int(s.class[i]) * s.d
		for j, v := range rows[i*s.d:][:s.d] {
			x, sum := float64(v), s.means[at+j]
			total := sum + x
			if math.Abs(sum) >= math.Abs(x) {
				rest[at+j] += (sum - total) + x
			} else {
				rest[at+j] += (x - total) + sum
			}
			s.means[at+j] = total
		}
	}
	for i, x := range rest {
		s.means[i] += x
	}
	return nil
}

// centreMeans fills the centre and the centred means.
func (s *samples[T]) centreMeans(im Imbalance) {
	d := s.d
	s.centre = grow(s.centre, d)
	clear(s.centre)
	present := 0.0
	for c, n := range s.count {
		if n == 0 {
			continue
		}
		weight := s.centreWeight(c, im)
		present += weight
		axpy(s.centre, weight, s.mean(c))
	}
	scale(s.centre, 1/present)
	s.sampleCounts.reset(s.k)
	s.centred = grow(s.centred, s.k*d)
	// The centre has the rounding of the means, which may be far from 0 compared with their distances. The differences of the
	// means from it are exact there, and their mean is the centre's error.
	off := make([]float64, d)
	for c, n := range s.count {
		rows.SubRow(s.centred[c*d:][:d], s.mean(c), s.centre)
		if n > 0 {
			axpy(off, s.centreWeight(c, im)/present, s.centred[c*d:][:d])
		}
	}
	for c := range s.k {
		axpy(s.centred[c*d:][:d], -1, off)
	}
	axpy(s.centre, 1, off)
}

// centreWeight returns the weight of a class mean in h_G, up to a factor.
func (s *samples[T]) centreWeight(c int, im Imbalance) float64 {
	if im == PerSample {
		return float64(s.count[c])
	}
	return 1
}

func scale(x []float64, by float64) {
	for j := range x {
		x[j] *= by
	}
}

// mean returns μ_k.
func (s *samples[T]) mean(k int) []float64 { return s.means[k*s.d:][:s.d] }

// keptMeans copies the means, with NaN for classes without samples.
func (s *samples[T]) keptMeans() []float64 {
	kept := append([]float64(nil), s.means[:s.k*s.d]...)
	for c, n := range s.count {
		if n == 0 {
			for j := range s.d {
				kept[c*s.d+j] = math.NaN()
			}
		}
	}
	return kept
}

// shape is the input of geometry.
func (s *samples[T]) shape(cut cutoff, h *head, p *pairs) shape {
	r := s.rounding()
	out := shape{rounding: r, means: s.means, centred: s.centred, centre: s.centre, k: s.k, d: s.d, counts: s.count, floor: max(cut.total, r.floor()), head: h, pairs: p}
	out.lack = out.lacking()
	return out
}

// whiteWeights returns the weight of a sample of each class in NC1's sum.
func (s *samples[T]) whiteWeights(w []float64, im Imbalance) []float64 {
	w = grow(w, s.k)
	for c, n := range s.count {
		w[c] = 1
		if im == PerClass {
			w[c] = 1 / float64(max(n, 1))
		}
	}
	return w
}
