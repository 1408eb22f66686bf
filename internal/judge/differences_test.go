package judge

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"collapse.example/collapse/internal/store"
)

// TestDifferencesAreThoseOfEachSetting compares with asking every run for every setting.
func TestDifferencesAreThoseOfEachSetting(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		runs, keys := make([]Run, rng.IntN(5)), []string{"a", "b", "c", "d"}
		for i := range runs {
			runs[i].Settings = map[string]string{}
			for _, k := range keys {
				if rng.IntN(4) > 0 {
					runs[i].Settings[k] = fmt.Sprint(rng.IntN(2))
				}
			}
		}
		var want []Difference
		for _, k := range keys {
			d := Difference{Key: k}
			for _, r := range runs {
				v, has := r.Settings[k]
				if !has {
					v = missing
				}
				d.Values = append(d.Values, v)
			}
			if len(slices.Compact(slices.Clone(d.Values))) > 1 {
				want = append(want, d)
			}
		}
		if got := Differences(runs); !reflect.DeepEqual(got, want) {
			t.Fatalf("%v\ngot  %v\nwant %v", runs, got, want)
		}
	}
}

// TestDefaultsDoNotDependOnOtherRuns reads runs in both orders, of which one has a setting that takes the effect of others.
func TestDefaultsDoNotDependOnOtherRuns(t *testing.T) {
	configs := []string{`{"run":{"seed":1}}`, `{"optim":{"kind":"adam"},"run":{"seed":1}}`, `{"optim":{"kind":"adam"},"run":{"seed":2}}`, `{"run":{"seed":2}}`, `{"net":{"width":"1"}}`, `{"net":{"width":1}}`}
	read := func(config string) map[string]string {
		r, err := NewRun(store.Run{Kind: store.Train, Config: []byte(config)}, nil)
		if err != nil {
			t.Fatal(err)
		}
		return r.Settings
	}
	var first []map[string]string
	for _, c := range configs {
		clear(usualOf.known)
		first = append(first, read(c))
	}
	clear(usualOf.known)
	for range 2 {
		for i := range configs {
			got := read(configs[len(configs)-1-i])
			if want := first[len(configs)-1-i]; !reflect.DeepEqual(got, want) {
				t.Errorf("%s: %v, alone %v", configs[len(configs)-1-i], got, want)
			}
			got["net.width"] = "mine" // the caller owns it
		}
	}
	if first[0]["optim.momentum"] == "" || first[1]["optim.momentum"] != "" || first[2]["run.seed"] != "2" {
		t.Errorf("%v\n%v", first[0], first[1])
	}
}
