package nn

import (
	"cmp"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"collapse.example/collapse/etf"
)

// checkClassifier checks the settings of fc.
func (a Arch) checkClassifier(c *complaints) {
	c.when(a.Temperature != 0 && a.Classifier != ClassifierNormalized, "a temperature with a classifier that is not normalized")
	if a.Classifier != ClassifierETF {
		c.when(a.ETF != "" || a.TruncateETF || a.FreezeBias, "options of a fixed ETF with a %s classifier", cmp.Or(a.Classifier, ClassifierLearned))
	}
	switch a.Classifier {
	case "", ClassifierLearned:
	case ClassifierETF:
		a.checkETF(c)
	case ClassifierNormalized:
		c.when(!(a.Temperature > 0) || math.IsInf(a.Temperature, 1), "a temperature of %g, wanted a number above 0", a.Temperature)
		c.when(!a.NoClassifierBias, "a normalized classifier with a bias; it has none")
	default:
		c.oneOf("classifier", a.Classifier, ClassifierLearned, ClassifierETF, ClassifierNormalized)
	}
}

func (a Arch) checkETF(c *complaints) {
	if a.ETF != "" {
		c.oneOf("placement of the ETF", a.ETF, ETFIdentity, ETFRandom)
	}
	d := a.Features()
	c.when(a.Classes < 2, "a simplex ETF of %d class; wanted at least 2", a.Classes)
	c.when(d < a.Classes-1 && !a.TruncateETF,
		"no simplex ETF of K = %d vectors exists in d = %d dimensions; wanted d of at least %d, or the truncated one", a.Classes, d, a.Classes-1)
	c.when(d < a.Classes-1 && a.ETF == ETFRandom, "a truncated ETF has no random placement")
}

// fixClassifier puts the fixed ETF of a into fc, and freezes it.
func (n *Network[T]) fixClassifier(a Arch, seed uint64) {
	if a.Classifier != ClassifierETF {
		return
	}
	frame := fixedFrame(a, seed)
	w, b := n.Classifier()
	for k := range n.classes {
		for i := range n.features {
			w.Value[k*n.features+i] = T(frame.At(i, k))
		}
	}
	w.Frozen = true
	if b != nil && a.FreezeBias {
		clear(b.Value)
		b.Frozen = true
	}
}

// fixedFrame returns the class vectors as columns (d×K).
func fixedFrame(a Arch, seed uint64) mat.Matrix {
	K, d := a.Classes, a.Features()
	space := d
	if d < K-1 {
		space = K
	}
	frame, err := etf.Simplex(K, space)
	if err != nil {
		panic("nn: fixedFrame of a description that Validate refuses")
	}
	if d < K-1 {
		return frame.Slice(0, d, 0, K)
	}
	if a.ETF == ETFRandom {
		return etf.Rotate(frame, d, rand.New(rand.NewPCG(seed, fnv1a("fc.etf"))))
	}
	return frame
}
