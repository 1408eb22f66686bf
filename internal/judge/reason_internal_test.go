package judge

import "testing"

func TestSomeOf(t *testing.T) {
	for _, c := range []struct {
		names []string
		want  string
	}{{nil, ""}, {[]string{"a"}, "a"}, {[]string{"a", "b", "c", "d"}, "a; b; c; d"}, {[]string{"a", "b", "c", "d", "e"}, "a; b; c; and 2 more"}} {
		if got := someOf(c.names); got != c.want {
			t.Errorf("%v: %q, want %q", c.names, got, c.want)
		}
	}
}
