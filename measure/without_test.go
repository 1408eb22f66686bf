package measure

import "testing"

// A key that is left out is neither measured nor missing, unless it is asked for by name.
func TestWithout(t *testing.T) {
	in := gaussian[float64](60, 5, 3, .3, 4)
	r := mustMeasure(t, in, Options{Without: []string{KeyCDNV, KeyVCI}})
	for _, key := range []string{KeyCDNV, KeyVCI} {
		_, measured := r.Measures.of[key]
		if _, missing := r.Missing[key]; measured || missing {
			t.Errorf("%s is measured %v, missing %v", key, measured, missing)
		}
	}
	if _, ok := r.Measures.of[KeyNC1Pinv]; !ok {
		t.Error("nc1_pinv went as well")
	}
	if r := mustMeasure(t, in, Options{Measures: []string{KeyCDNV}, Without: []string{KeyCDNV}}); len(r.Measures.of) != 1 {
		t.Errorf("asked by name: %v", r.Measures.of)
	}
}
