package measure

// needs are what a measure needs to have a value. Every row of the registry states them: a measure whose input is not there gets the reason from here,
// whatever computes it.
type needs uint

const (
	needNothing    needs = 1 << iota // stated: always there
	needSeveral                      // two classes or more
	needWeights                      // W
	needNonzeroW                     // W is not zero
	needNoFeatures                   // nothing but W and the counts of classes: what features do does not matter
	needSized                        // a class mean that is not zero
	needApart                        // class means that do not coincide
	needDirected                     // no class mean at the global mean
	needSpread                       // a class with two samples
	needTest                         // test samples
	needTruth                        // true labels
	needOOD                          // out-of-distribution features
	needSamples                      // every sample again, with the final class means
	needCovariance                   // of all samples, around the final class means
	needTogether                     // a class's samples together
	needOperator                     // NC1's operator: work that the input may not justify
	needChoices                      // every sample beside every class mean or row of W: the same
)

func (n needs) any(of needs) bool { return n&of != 0 }

const (
	oneClass   = "one class: there is nothing to compare"
	noWeights  = "no classifier weight was given"
	zeroW      = "W is zero"
	allAlone   = "every class has a single sample: there is no spread to see"
	meansMeet  = "the class means coincide"
	meanCentre = "a class mean is the global mean: its direction is undefined"
	noTest     = "no test features were given"
	noOOD      = "no out-of-distribution features were given"
)

// missNeeding stores why measures with one of these needs are undefined.
func (b *builder) missNeeding(one needs, reason string) {
	for i := range definitions {
		if definitions[i].needs.any(one) {
			b.miss(definitions[i].Key, reason)
		}
	}
}

// lacking are the needs that class means and classifier do not meet.
func (s *shape) lacking() (lack needs) {
	add := func(one needs, is bool) {
		if is {
			lack |= one
		}
	}
	add(needWeights, s.head == nil)
	add(needSeveral, s.k < 2)
	add(needNonzeroW, s.head != nil && !(norm(s.head.w) > 0))
	add(needSized, !(norm(s.means[:s.k*s.d]) > 0))
	add(needApart, !(dot(s.centred[:s.k*s.d], s.centred) > s.floor))
	add(needDirected, s.atCentre())
	return lack
}

// unmet returns why a measure with such needs is undefined, as far as class means and classifier tell; "" if it may be defined.
func (s *shape) unmet(n needs) string {
	for _, of := range [...]struct {
		one    needs
		reason string
	}{{needWeights, noWeights}, {needSeveral, oneClass}, {needNonzeroW, zeroW}, {needSized, AllMeansZero}, {needApart, meansMeet}, {needDirected, meanCentre}} {
		if n.any(of.one) && s.lack.any(of.one) {
			return of.reason
		}
	}
	return ""
}
