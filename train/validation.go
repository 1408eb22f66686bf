package train

// heldN is the number of samples that are held out.
func (in inputs) heldN() int {
	if in.held == nil {
		return 0
	}
	return in.held.N()
}

// canonical is Canonical for these data sets. What is held out is part of a run: its numbers are.
func (in inputs) canonical(c Config) []byte {
	if in.held == nil {
		return Canonical(c, in.train.Digest, in.test.Digest)
	}
	return canonicalJSON(c, map[string]any{"data.train_digest": in.train.Digest, "data.validation_digest": in.held.Digest, "data.test_digest": in.test.Digest})
}

// passHeld evaluates the validation split. Its features and layers are not kept for measures: only loss and accuracy are reported.
func (s *session[T]) passHeld() {
	taps := s.taps
	s.taps = nil
	s.pass(&s.held, s.in.heldPixel, s.in.held.True)
	s.taps = taps
}
