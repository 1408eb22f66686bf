package measure

import (
	"encoding/json"
	"iter"
	"maps"
	"slices"
)

// Values are the finite values of measures by key. What was not measured has no value, so that it cannot be read as zero.
type Values struct{ of map[string]float64 }

// NewValues returns the given values: those that theory gives, or a test.
func NewValues(of map[string]float64) Values { return Values{maps.Clone(of)} }

// Get returns the value of a measure; ok is false if there is none.
func (v Values) Get(key string) (x float64, ok bool) {
	x, ok = v.of[key]
	return x, ok
}

// Len returns the number of measures that have a value.
func (v Values) Len() int { return len(v.of) }

// All yields the keys and values: those of the registry in its order, then others, such as "h1_nc1_pinv" of package ufm.
func (v Values) All() iter.Seq2[string, float64] {
	return func(yield func(string, float64) bool) {
		for i := range definitions {
			key := definitions[i].Key
			if x, ok := v.of[key]; ok && !yield(key, x) {
				return
			}
		}
		for _, key := range slices.Sorted(maps.Keys(v.of)) {
			if _, listed := Lookup(key); !listed && !yield(key, v.of[key]) {
				return
			}
		}
	}
}

// With returns the values with one more, or another.
func (v Values) With(key string, x float64) Values {
	out := NewValues(v.of)
	if out.of == nil {
		out.of = map[string]float64{}
	}
	out.of[key] = x
	return out
}

// MarshalJSON writes an object of keys and values.
func (v Values) MarshalJSON() ([]byte, error) { return json.Marshal(v.of) }

// UnmarshalJSON reads it.
func (v *Values) UnmarshalJSON(b []byte) error { return json.Unmarshal(b, &v.of) }
