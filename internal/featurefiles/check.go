package featurefiles

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"collapse.example/collapse/arrayfile"
)

// classifier is W (K×d) and b (K), nil if there is none.
type classifier struct {
	w, b  []float64
	k, d  int
	wPart part
	bPart part
}

// allLabels finds the labels of the train samples.
func (f *finder) allLabels(s *Set) error {
	parts, err := f.find(Labels)
	if err != nil {
		return err
	}
	if len(parts) == 0 {
		return f.nothing(Labels)
	}
	if s.labels, err = newLabelled(Labels, parts, f.req.Budget); err != nil {
		return err
	}
	s.list(Labels, parts, []int{len(s.labels.values)})
	for i := range s.Columns {
		if err := s.labels.pair(s.Columns[i].train); err != nil {
			return err
		}
	}
	return nil
}

// classifier finds W and b and checks them against the features they belong to.
func (f *finder) classifier(s *Set) error {
	column := slices.IndexFunc(s.Columns, func(c Column) bool { return c.Classifier })
	if column < 0 {
		if found, err := f.find(Weights); err != nil || len(found) > 0 {
			s.Notes = append(s.Notes, "a classifier is left out: it belongs to its own input, which is none of the layers; name that with --features-key")
		}
		return nil
	}
	f.width, f.labels = s.Columns[column].D, s.labels
	c, err := f.head(s.Columns[column].D, s.Columns[column].train.parts[0].where())
	if err != nil || c == nil {
		return err
	}
	s.head = c
	s.list(Weights, []part{c.wPart}, c.wPart.Shape)
	if c.b != nil {
		s.list(Bias, []part{c.bPart}, c.bPart.Shape)
	}
	return nil
}

// head finds W and b for features of width d, which lie in a file; nil if there is none.
func (f *finder) head(d int, file string) (*classifier, error) {
	weights, err := f.find(Weights)
	if err != nil {
		return nil, err
	}
	biases, err := f.find(Bias)
	if err != nil {
		return nil, err
	}
	if len(weights) == 0 {
		if len(biases) > 0 {
			hint := f.weightsHint(slices.Concat(f.common, f.own[Bias]))
			if hint != "" {
				hint = "; or say which with --weights-key NAME" + hint
			}
			return nil, fmt.Errorf("%s holds a bias, and no classifier weight was found; give --weights FILE%s", biases[0].where(), hint)
		}
		f.withoutClassifier()
		return nil, nil
	}
	c := &classifier{}
	if c.wPart, err = only(Weights, weights); err != nil {
		return nil, err
	}
	if err := c.weights(f.req, d, file); err != nil {
		return nil, err
	}
	if len(biases) == 0 {
		if biases, err = f.biasBeside(c.wPart, c.k); err != nil || len(biases) == 0 {
			return c, err
		}
	}
	if c.bPart, err = only(Bias, biases); err != nil {
		return nil, err
	}
	if n := c.bPart.Len(); n != c.k {
		return nil, fmt.Errorf("%s: bias of %d numbers, and %s has %d classes; want one for each class", c.bPart.where(), n, c.wPart.where(), c.k)
	}
	if c.b, err = c.bPart.Float64s(); err != nil {
		return nil, fmt.Errorf("%s: %w", c.bPart.where(), err)
	}
	return c, nil
}

// biasBeside returns the bias that has the place of a weight whose name is not a usual one: as 2.bias has that of 2.weight. A classifier
// without it would decide otherwise, without a word.
func (f *finder) biasBeside(w part, k int) ([]part, error) {
	for _, x := range []struct{ weight, bias string }{{"weight", "bias"}, {"kernel", "bias"}, {"kernel:0", "bias:0"}, {"vars.0", "vars.1"}} {
		place, is := strings.CutSuffix(w.name, x.weight)
		s := f.lib.files[w.path]
		if !is || s == nil {
			continue
		}
		for _, h := range s.file.Headers() {
			if h.Name == place+x.bias && h.Len() == k && axes(h) == 1 {
				p, err := s.load(h.Name)
				f.taken[[2]string{s.path, h.Name}] = true
				return []part{p}, err
			}
		}
	}
	return nil, nil
}

// only returns the one array of a role that has no shards; several files may repeat it.
func only(r Role, parts []part) (part, error) {
	for _, p := range parts[1:] {
		if p.DType != parts[0].DType || !slices.Equal(p.Shape, parts[0].Shape) || !bytes.Equal(p.Data, parts[0].Data) {
			return part{}, fmt.Errorf("%s and %s hold different %s; want one classifier for all samples, give it with %s; files of different models are measured one by one", parts[0].where(), p.where(), r, roles[r].flag)
		}
	}
	return parts[0], nil
}

// weights reads W for features of width d, which lie in a file.
func (c *classifier) weights(req *Request, d int, file string) error {
	transpose := req.TransposeWeights
	shape := c.wPart.Shape
	for len(shape) > 2 && shape[len(shape)-1] == 1 { // a 1×1 convolution
		shape = shape[:len(shape)-1]
	}
	if len(shape) == 1 && shape[0] == d {
		return errOneRow(c.wPart)
	}
	if len(shape) != 2 || shape[0] == 0 || shape[1] == 0 {
		return fmt.Errorf("%s: classifier weight of shape %s; want K×d = classes × %d", c.wPart.where(), size(c.wPart.Shape), d)
	}
	if err := req.Budget.Take(2 * 8 * int64(c.wPart.Len())); err != nil { // here and turned or put in order
		return fmt.Errorf("%s: a classifier of %s: %w", c.wPart.where(), size(shape), err)
	}
	w, err := c.wPart.Float64s()
	if err != nil {
		return fmt.Errorf("%s: %w", c.wPart.where(), err)
	}
	c.k, c.d, c.w = shape[0], shape[1], w
	if transpose {
		c.k, c.d, c.w = shape[1], shape[0], transposed(w, shape[0], shape[1])
	}
	if c.d == d {
		return nil
	}
	hint := ""
	switch {
	case c.k == d && transpose:
		hint = "; leave out --transpose-weights"
	case c.k == d:
		hint = "; it seems to be stored d×K: give --transpose-weights"
	}
	return fmt.Errorf("%s: classifier weight is %s, and the features of %s are %d wide; want K×%d%s", c.wPart.where(), size(c.wPart.Shape), file, d, d, hint)
}

func transposed(x []float64, rows, columns int) []float64 {
	out := make([]float64, len(x))
	for i := range rows {
		for j := range columns {
			out[j*rows+i] = x[i*columns+j]
		}
	}
	return out
}

// testSplit finds test and out-of-distribution features of every column.
func (f *finder) testSplit(s *Set) error {
	test, err := f.find(TestFeatures)
	if err != nil {
		return err
	}
	ood, err := f.find(OOD)
	if err != nil {
		return err
	}
	for i := range s.Columns {
		c := &s.Columns[i]
		tested, foreign := test, ood
		if !c.Classifier { // a layer: its own name in the files of the other splits
			if tested, err = named(f.own[TestFeatures], c.Name); err != nil {
				return err
			}
			if foreign, err = named(f.own[OOD], c.Name); err != nil {
				return err
			}
		}
		if c.test, err = s.beside(c, TestFeatures, tested); err != nil {
			return err
		}
		if c.ood, err = s.beside(c, OOD, foreign); err != nil {
			return err
		}
		if c.test == nil {
			continue
		}
		if s.tested == nil {
			return fmt.Errorf("%s holds test features, and no test labels were found; give --test-labels FILE", tested[0].where())
		}
		if err := s.tested.pair(c.test); err != nil {
			return err
		}
	}
	if s.tested != nil && len(test) == 0 {
		return fmt.Errorf("%s holds test labels, and no test features were found; give --test-features FILE", s.tested.parts[0].where())
	}
	return nil
}

// beside joins the features of another split and checks their width.
func (s *Set) beside(c *Column, r Role, parts []part) (*matrix, error) {
	if len(parts) == 0 {
		return nil, nil
	}
	m, err := s.matrix(r, parts)
	if err != nil {
		return nil, err
	}
	if m.d != c.D {
		return nil, fmt.Errorf("%s: %s are %d wide, and those of %s are %d wide; want the same layer", parts[0].where(), r, m.d, c.train.parts[0].where(), c.D)
	}
	return m, nil
}

// masks finds which labels were drawn anew.
func (f *finder) masks(s *Set) error {
	parts, err := f.find(Corrupted)
	if err != nil || len(parts) == 0 {
		return err
	}
	l, err := newLabelled(Corrupted, parts, f.req.Budget)
	if err != nil {
		return err
	}
	if err := l.pairLabels(s.labels); err != nil {
		return err
	}
	s.list(Corrupted, parts, []int{len(l.values)})
	s.redrawn, err = mask(l)
	return err
}

// beware notes what will leave measures undefined, and where it comes from.
func (f *finder) beware(s *Set) error {
	file := names(s.labels.parts)
	note := func(format string, args ...any) { s.Notes = append(s.Notes, fmt.Sprintf(format, args...)) }
	count := make([]int, s.K)
	for _, c := range s.train {
		if c >= 0 {
			count[c]++
		}
	}
	var single []string
	for c, n := range count {
		if n == 1 {
			single = append(single, s.className(c))
		}
	}
	if s.K == 1 {
		note("%s: 1 class (K = 1); measures that compare classes need at least 2", file)
	}
	if len(s.train) < s.K {
		note("%s: %d samples for %d classes (N < K); want at least 2 of each class", file, len(s.train), s.K)
	}
	if len(single) > 0 {
		note("%s: %d of %d classes have a single sample (%s), which shows no spread; want at least 2 (--min-count 2 leaves them out)", file, len(single), s.K, shorten(single))
	}
	for _, c := range s.Columns {
		where := c.train.parts[0].where()
		if c.D == 1 {
			note("%s: features of width 1 (d = 1): class means lie on a line; want at least 2, and K−1 = %d for a simplex ETF", where, s.K-1)
		}
		if p := c.train.parts[0]; p.DType == arrayfile.BF16 && p.name == "" {
			note("%s: two raw bytes an element (numpy has no bfloat16), read as bfloat16", where)
		}
	}
	return nil
}

// className is how notes call a class.
func (s *Set) className(c int) string {
	if c < len(s.Values) {
		return s.Values[c]
	}
	return fmt.Sprint(c)
}

// errOneRow says what to do with the head of two classes that gives one logit.
func errOneRow(w part) error {
	return fmt.Errorf("%s has one row, the logit of one class against the other; pass two, −w/2 and w/2 (np.vstack([-W, W]) / 2), and the same of the bias", w.where())
}
