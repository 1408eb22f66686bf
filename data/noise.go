package data

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mathext/prng"
)

// Generators of label noise.
const (
	// GeneratorCollapse draws sample i from its own stream keyed by (seed, i). For one seed, the
	// samples redrawn at a rate are among those redrawn at any higher rate, with the same labels.
	GeneratorCollapse = "collapse"
	// GeneratorTorch repeats, bit for bit, what the released code of Nguyen et al. 2023 draws:
	// torch.where(torch.rand(N) < rate, torch.randint(0, K, (N,)), labels) after
	// torch.manual_seed(seed) on a CPU.
	GeneratorTorch = "torch"
)

// Kinds of label noise.
const (
	// NoiseUniform redraws each label, independently and with probability Rate, uniformly from all K
	// classes, the true one included (Nguyen et al. 2023). The expected share of labels that differ is
	// therefore Rate·(K−1)/K.
	NoiseUniform = "uniform"
	// NoisePerClass is NoiseUniform with the probability Rates[k] for samples of true class k.
	NoisePerClass = "per_class"
	// NoiseLatent splits every class k in two: an exact share Rate of its samples, rounded to whole ones
	// and chosen by seed, moves to the latent class k+K (Nguyen et al. 2023, A.2). K becomes 2K.
	NoiseLatent = "latent"
	// NoiseLatentBernoulli moves each sample independently with probability Rate, as the released code does.
	NoiseLatentBernoulli = "latent_bernoulli"
	// NoiseRandomLabels replaces all labels by a random permutation of a balanced list, so that every
	// class has N/K samples (the first N mod K classes one more), as Zhu et al. 2021 do.
	NoiseRandomLabels = "random_labels"
)

// NoiseKinds lists the kinds, the default first.
var NoiseKinds = []string{NoiseUniform, NoisePerClass, NoiseLatent, NoiseLatentBernoulli, NoiseRandomLabels}

// Noise says how observed labels are made from true ones. The zero value is none.
type Noise struct {
	Rate      float64   // η in [0, 1]; 0: none. Not used by per_class and random_labels
	Generator string    // GeneratorCollapse (also if empty), or GeneratorTorch, which knows uniform and per_class
	Seed      uint64    // torch's generator uses the low 32 bits only
	Kind      string    // one of NoiseKinds; "": NoiseUniform
	Rates     []float64 // per_class: a rate for each true class
	// Truncate keeps only the first samples of every observed class, as many as the smallest class has, as
	// the released code does after per-class noise. Samples keep their order.
	Truncate bool
}

// Check returns an error if a rate is outside [0, 1] (or NaN), if the kind or generator is unknown,
// or if the parts do not fit together.
func (n Noise) Check() error {
	for _, r := range append([]float64{n.Rate}, n.Rates...) {
		if !(r >= 0 && r <= 1) {
			return fmt.Errorf("data: label noise rate is %v; a probability between 0 and 1 is needed", r)
		}
	}
	switch n.Generator {
	case "", GeneratorCollapse, GeneratorTorch:
	default:
		return fmt.Errorf("data: label noise generator %q is unknown; use %q or %q", n.Generator, GeneratorCollapse, GeneratorTorch)
	}
	return n.checkKind()
}

func (n Noise) checkKind() error {
	kind, torch := n.kind(), n.Generator == GeneratorTorch
	switch kind {
	case NoiseUniform, NoisePerClass, NoiseLatent, NoiseLatentBernoulli, NoiseRandomLabels:
	default:
		return fmt.Errorf("data: label noise of kind %q is unknown; use one of %q", kind, NoiseKinds)
	}
	switch {
	case torch && kind != NoiseUniform && kind != NoisePerClass:
		return fmt.Errorf("data: label noise %s is drawn by generator %q only", kind, GeneratorCollapse)
	case kind == NoisePerClass && len(n.Rates) == 0:
		return fmt.Errorf("data: label noise %s has no rates; give one for each class", kind)
	case kind != NoisePerClass && len(n.Rates) > 0:
		return fmt.Errorf("data: label noise %s takes one rate, and %d were given for single classes; use kind %q", kind, len(n.Rates), NoisePerClass)
	case (kind == NoisePerClass || kind == NoiseRandomLabels) && n.Rate != 0:
		return fmt.Errorf("data: label noise %s takes no single rate, and %v was given; leave it 0", kind, n.Rate)
	}
	return nil
}

// Classes returns how many observed classes a set of k classes has under the noise: latent kinds double them.
func (n Noise) Classes(k int) int {
	if kind := n.kind(); kind == NoiseLatent || kind == NoiseLatentBernoulli {
		return 2 * k
	}
	return k
}

func (n Noise) kind() string {
	if n.Kind == "" {
		return NoiseUniform
	}
	return n.Kind
}

// WithNoise returns the set with new observed labels and a new redrawn mask, drawn from the true
// labels. Pixels, true labels and digest are shared: noise is part of a run, not of its data.
// Truncate removes samples, but the digest stays that of the whole set.
//
// Random labels of a test set are drawn independently of those of its training set. It returns an error if n is invalid,
// if there is not one rate per class, or if latent noise or truncation leaves a class empty.
func (s *Set) WithNoise(n Noise) (*Set, error) {
	if err := n.Check(); err != nil {
		return nil, err
	}
	if n.kind() == NoisePerClass && len(n.Rates) != s.Classes {
		return nil, fmt.Errorf("data: label noise %s has %d rates, %s has %d classes; give one for each", n.kind(), len(n.Rates), s.Name, s.Classes)
	}
	if s.Latent {
		panic("data: label noise on a set that already has latent classes")
	}
	out := *s
	out.Observed = append([]int32(nil), s.True...)
	out.Redrawn = make([]bool, s.N())
	n.apply(&out)
	if out.Latent {
		if err := out.latentEmpty(n.Rate); err != nil {
			return nil, err
		}
	}
	if n.Truncate {
		return out.truncate()
	}
	return &out, nil
}

func (n Noise) apply(s *Set) {
	switch kind := n.kind(); {
	case kind == NoiseLatent:
		n.split(s)
	case kind == NoiseLatentBernoulli:
		n.splitBernoulli(s)
	case kind == NoiseRandomLabels:
		n.permute(s)
	case n.Generator == GeneratorTorch:
		n.drawTorch(s)
	default:
		n.draw(s)
	}
}

// rate is the probability that a sample of the true class is redrawn.
func (n Noise) rate(class int32) float64 {
	if n.kind() == NoisePerClass {
		return n.Rates[class]
	}
	return n.Rate
}

func (n Noise) draw(s *Set) {
	var rng stream
	for i, class := range s.True {
		rng.reset(n.Seed, forNoise, uint64(i))
		if rng.unit() < n.rate(class) {
			s.Redrawn[i] = true
			s.Observed[i] = int32(rng.below(s.Classes))
		}
	}
}

// drawTorch draws N float32 uniforms, then N integers for every sample, redrawn or not. A single rate
// is rounded to float32 before the comparison, as torch does with a Python number; the rates of classes
// are a float64 tensor in the released code, to which torch widens the uniforms.
func (n Noise) drawTorch(s *Set) {
	mt := prng.NewMT19937()
	mt.Seed(uint64(uint32(n.Seed)))
	for i, class := range s.True {
		rate := n.rate(class)
		if n.kind() == NoiseUniform {
			rate = float64(float32(rate))
		}
		s.Redrawn[i] = float64(torchUniform(mt)) < rate
	}
	for i := range s.Observed {
		label := mt.Uint32() % uint32(s.Classes)
		if s.Redrawn[i] {
			s.Observed[i] = int32(label)
		}
	}
}

// torchUniform is torch's uniform float32 in [0, 1): the low 24 bits of one output of its generator on a CPU, over 2^24.
func torchUniform(mt *prng.MT19937) float32 { return float32(mt.Uint32()&(1<<24-1)) / (1 << 24) }

// split moves round(η·n_k) samples of each class. Fisher–Yates from the front: for one seed, the samples
// moved at a rate are among those moved at any higher rate.
func (n Noise) split(s *Set) {
	var rng stream
	for k, m := range s.members() {
		rng.reset(n.Seed, forLatent, uint64(k))
		for i := range int(math.Round(n.Rate * float64(len(m)))) {
			j := rng.within(i, len(m)-1)
			m[i], m[j] = m[j], m[i]
			s.moveToLatent(m[i])
		}
	}
	s.Latent, s.Classes = true, 2*s.Classes
}

func (n Noise) splitBernoulli(s *Set) {
	var rng stream
	for i := range s.True {
		rng.reset(n.Seed, forNoise, uint64(i))
		if rng.unit() < n.Rate {
			s.moveToLatent(i)
		}
	}
	s.Latent, s.Classes = true, 2*s.Classes
}

// moveToLatent is called before Classes doubles.
func (s *Set) moveToLatent(i int) {
	s.Observed[i] += int32(s.Classes)
	s.Redrawn[i] = true
}

// latentEmpty is an error if a class kept no sample or got none.
func (s *Set) latentEmpty(rate float64) error {
	for k, n := range s.ObservedCounts() {
		if n == 0 {
			return fmt.Errorf("data: %s %s: rate %v leaves no sample in class %d of the %d with latent ones; take another rate or more samples per class",
				s.Name, s.Split, rate, k, s.Classes)
		}
	}
	return nil
}

func (n Noise) permute(s *Set) {
	var rng stream
	rng.reset(n.Seed, forLabels, uint64(s.Split))
	for i := range s.Observed {
		s.Observed[i] = int32(i % s.Classes)
		s.Redrawn[i] = true
	}
	for i := s.N() - 1; i > 0; i-- {
		j := rng.below(i + 1)
		s.Observed[i], s.Observed[j] = s.Observed[j], s.Observed[i]
	}
}

// truncate keeps the first samples of each observed class, as many as the smallest has.
func (s *Set) truncate() (*Set, error) {
	counts := s.ObservedCounts()
	least := counts[0]
	for k, c := range counts {
		if c == 0 {
			return nil, fmt.Errorf("data: %s %s: label noise leaves no sample in class %d, so nothing remains when all classes are cut to the smallest; lower the rates", s.Name, s.Split, k)
		}
		least = min(least, c)
	}
	var keep []int
	taken := make([]int, s.Classes)
	for i, l := range s.Observed {
		if taken[l] < least {
			taken[l]++
			keep = append(keep, i)
		}
	}
	out := s.pick(keep)
	out.Digest = s.Digest
	for _, i := range keep {
		out.Observed = append(out.Observed, s.Observed[i])
		out.Redrawn = append(out.Redrawn, s.Redrawn[i])
	}
	return out, nil
}
