package store

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestCanonicalForms(t *testing.T) {
	for text, want := range map[string]string{
		` { "b" : 1.0 , "a" : [ 1e0, -0, 0.5e1 ] } `: `{"a":[1,0,5],"b":1}`,
		`{"lr":0.10}`:                        `{"lr":0.1}`,
		`{"lr":1e-1}`:                        `{"lr":0.1}`,
		`{"x":1e-7}`:                         `{"x":1e-7}`,
		`{"x":0.0000001}`:                    `{"x":1e-7}`,
		`{"x":-0.0}`:                         `{"x":0}`,
		`{"seed":18446744073709551615}`:      `{"seed":18446744073709551615}`,
		`{"seed":9007199254740993}`:          `{"seed":9007199254740993}`,
		`{"x":1e16}`:                         `{"x":10000000000000000}`,
		`{"x":10000000000000000}`:            `{"x":10000000000000000}`,
		`{"x":1e300}`:                        `{"x":1e+300}`,
		`{"s":"\u003c\u00e9<"}`:              `{"s":"<é<"}`,
		`{"a":null,"b":[true,false],"c":{}}`: `{"a":null,"b":[true,false],"c":{}}`,
		`{"B":1,"a":2,"A":3}`:                `{"A":3,"B":1,"a":2}`,
	} {
		got, err := Canonical([]byte(text))
		if err != nil || string(got) != want {
			t.Errorf("%s: got %s, %v, want %s", text, got, err, want)
		}
	}
}

func TestCanonicalRefuses(t *testing.T) {
	for text, words := range map[string]string{
		`{"a":1,"a":2}`:       `"a" occurs twice`,
		`{"a":{"b":1,"b":1}}`: `"b" occurs twice`,
		`{"a":1e999}`:         "out of range",
		`{"a":1} {}`:          "more text",
		`{"a":`:               "unexpected EOF",
		`{"a":[1,2`:           "EOF",
		"{\"a\":\"\xff\"}":    "UTF-8",
		``:                    "unexpected EOF",
		`[`:                   "EOF",
		`[1,2`:                "EOF",
		`[1,`:                 "EOF",
		`{`:                   "EOF",
		`{"a"`:                "EOF",
		`{"a":1`:              "EOF",
		`{"a":1,`:             "EOF",
		`{"a":{"b":1}`:        "EOF",
		`[[1}]`:               "invalid character",
		`{"a":1]`:             "invalid character",
		`{a:1}`:               "invalid character",
	} {
		if got, err := Canonical([]byte(text)); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%s: got %s, %v, want an error with %q", text, got, err, words)
		}
	}
	if _, err := Canonical(map[string]any{"lr": math.NaN()}); err == nil {
		t.Error("NaN has no JSON")
	}
}

// drawJSON draws a value as encoding/json decodes it with UseNumber.
func drawJSON(t *rapid.T, depth int) any {
	kinds := 6
	if depth == 0 {
		kinds = 4
	}
	switch rapid.IntRange(0, kinds-1).Draw(t, "kind") {
	case 0:
		return rapid.String().Draw(t, "s")
	case 1:
		return rapid.Float64().Filter(func(x float64) bool { return !math.IsInf(x, 0) && !math.IsNaN(x) }).Draw(t, "x")
	case 2:
		return rapid.Uint64().Draw(t, "u")
	case 3:
		return rapid.SampledFrom([]any{true, false, nil, int64(-5), 0.1, 1e-7, 1e21}).Draw(t, "v")
	case 4:
		list := make([]any, rapid.IntRange(0, 3).Draw(t, "n"))
		for i := range list {
			list[i] = drawJSON(t, depth-1)
		}
		return list
	}
	m := map[string]any{}
	for range rapid.IntRange(0, 4).Draw(t, "n") {
		m[rapid.String().Draw(t, "key")] = drawJSON(t, depth-1)
	}
	return m
}

// spell writes v as JSON with keys in random order and numbers in a random spelling.
func spell(r *rand.Rand, v any) string {
	switch v := v.(type) {
	case map[string]any:
		var parts []string
		for k, x := range v { // random order
			parts = append(parts, spell(r, k)+" : "+spell(r, x))
		}
		return "{ " + strings.Join(parts, " ,\n") + "}"
	case []any:
		var parts []string
		for _, x := range v {
			parts = append(parts, spell(r, x))
		}
		return "[" + strings.Join(parts, ", ") + " ]"
	case float64:
		if r.IntN(2) == 0 {
			return strconv.FormatFloat(v, 'f', -1, 64)
		}
		forms := "eEg"
		if math.Abs(v) >= 1<<53 {
			forms = "eE" // g may write plain digits: an integer, which keeps more of them than a float64 has
		}
		return strconv.FormatFloat(v, forms[r.IntN(len(forms))], []int{-1, 17, 20}[r.IntN(3)], 64)
	}
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(text)
}

func TestLargeNumbersKeepWhatTheirSpellingHas(t *testing.T) {
	for spelt, want := range map[string]string{
		"18446744073709551615":    "18446744073709551615",
		"6072312182338014208":     "6072312182338014208",
		"6.072312182338014208e18": "6072312182338014000",
		"-5.67013603896918528E17": "-567013603896918500",
		"1e19":                    "10000000000000000000",
		"9007199254740993":        "9007199254740993",
		"-6072312182338014208":    "-6072312182338014208",
		"-9007199254740993":       "-9007199254740993",
		"-9223372036854775808":    "-9223372036854775808",
		"-1e300":                  "-1e+300",
		"-1e18":                   "-1000000000000000000",
		"9007199254740991.0":      "9007199254740991",
		"-4503599627370497.0":     "-4503599627370497",
		"1.0":                     "1",
	} {
		got, err := Canonical([]byte(spelt))
		if err != nil || string(got) != want {
			t.Errorf("%s: got %s, %v, want %s", spelt, got, err, want)
		}
	}
}

func TestOneTextStandsForEverySpelling(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := map[string]any{"a": drawJSON(t, 3), "z": drawJSON(t, 2)}
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "spelling"), 0))
		want, err := Canonical(v)
		if err != nil {
			t.Fatal(err)
		}
		text := spell(r, v)
		got, err := Canonical([]byte(text))
		if err != nil || string(got) != string(want) {
			t.Fatalf("%s: got %s, %v, want %s", text, got, err, want)
		}
		again, err := Canonical(got)
		if err != nil || string(again) != string(got) {
			t.Fatalf("%s is not its own canonical form: %s, %v", got, again, err)
		}
		var x, y any // it means what v means
		if err := json.Unmarshal(got, &x); err != nil {
			t.Fatal(err)
		}
		plain, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(plain, &y); err != nil || !reflect.DeepEqual(x, y) {
			t.Fatalf("%s means %v, %s means %v (%v)", got, x, plain, y, err)
		}
	})
}

func TestDifferentConfigurationsHaveDifferentHashes(t *testing.T) {
	seen := map[string]string{}
	for _, kind := range []Kind{Train, Solve} {
		for _, text := range []string{`{}`, `{"a":1}`, `{"a":"1"}`, `{"a":[1]}`, `{"a":1.5}`, `{"a":9007199254740992}`, `{"a":9007199254740993}`, `{"a":null}`} {
			c, err := Canonical([]byte(text))
			if err != nil {
				t.Fatal(err)
			}
			name := fmt.Sprint(kind, text)
			if other, twice := seen[Hash(kind, c)]; twice {
				t.Errorf("%s and %s share a hash", name, other)
			}
			seen[Hash(kind, c)] = name
		}
	}
	// printf 'train\n{"seed":1}' | sha256sum
	if got, want := Hash(Train, []byte(`{"seed":1}`)), "7943634255f4a43da6e61ac7385893c2342048b6ba11de451bcfd5fc9968da7f"; got != want {
		t.Errorf("the identity has changed: got %s, want %s", got, want)
	}
}

func FuzzCanonical(f *testing.F) {
	for _, text := range []string{`{"a":[1,2.50,"x"],"b":{"c":null}}`, `{"a":1e999}`, `[[[`, `"\ud800"`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		first, err := Canonical(text)
		if err != nil {
			return
		}
		second, err := Canonical(first)
		if err != nil || string(second) != string(first) {
			t.Fatalf("%q: %s, then %s, %v", text, first, second, err)
		}
	})
}
