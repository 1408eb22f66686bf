package format

import "testing"

// TestSetting: different lists have different texts.
func TestSetting(t *testing.T) {
	for want, v := range map[string]any{`["a b","c"]`: []any{"a b", "c"}, `["a","b c"]`: []any{"a", "b c"}, `[8,16.5]`: []any{8., 16.5}, `[[1,2],["<&>"]]`: []any{[]any{1, 2}, []any{"<&>"}}, "a b": "a b", "true": true, `{"k":[1]}`: map[string]any{"k": []any{1}}} {
		if got := Setting(v); got != want {
			t.Errorf("%v: %s, wanted %s", v, got, want)
		}
	}
}
