package train

import (
	"collapse.example/collapse/arrayfile"
	"collapse.example/collapse/internal/rundir"
)

// featureRows bounds features.npz: the first samples of each split, by index.
const featureRows = 4000

// featureArrays are the first features of both splits with their labels, the classifier, and how many samples each split has.
func featureArrays[T Float](s *session[T]) []arrayfile.Array {
	train, test := s.in.train, s.in.test
	n, m, d := min(train.N(), featureRows), min(test.N(), featureRows), s.dim
	list := []arrayfile.Array{
		arrayfile.Of(rundir.TrainFeatures, []int{n, d}, narrow(s.train.features[:n*d])),
		arrayfile.Of(rundir.TrainObserved, []int{n}, train.Observed[:n]),
		arrayfile.Of(rundir.TrainTrue, []int{n}, train.True[:n]),
		arrayfile.Of(rundir.TrainRedrawn, []int{n}, flags(train.Redrawn[:n])),
		arrayfile.Of(rundir.TestFeatures, []int{m, d}, narrow(s.test.features[:m*d])),
		arrayfile.Of(rundir.TestTrue, []int{m}, test.True[:m]),
	}
	return append(append(list, headArrays(s)...),
		arrayfile.Of(rundir.TrainSamples, nil, []int64{int64(train.N())}),
		arrayfile.Of(rundir.TestSamples, nil, []int64{int64(test.N())}))
}

// headArrays are the classifier in the form that pictures use, with a bias of zeros if it has none.
func headArrays[T Float](s *session[T]) []arrayfile.Array {
	w, b := s.engine.head()
	bias := make([]float32, s.classes)
	if b != nil {
		copy(bias, narrow(b.Value))
	}
	return []arrayfile.Array{arrayfile.Of(rundir.Weight, w.Shape, narrow(w.Value)), arrayfile.Of(rundir.Bias, []int{s.classes}, bias)}
}

// flags turns true into 1.
func flags(v []bool) []uint8 {
	out := make([]uint8, len(v))
	for i, set := range v {
		if set {
			out[i] = 1
		}
	}
	return out
}

func narrow[T Float](v []T) []float32 {
	out := make([]float32, len(v))
	for i, x := range v {
		out[i] = float32(x)
	}
	return out
}
