package cli

import "testing"

func TestParseBytes(t *testing.T) {
	for text, want := range map[string]int64{
		"1": 1, "1000000": 1e6, "12B": 12, "800MB": 800e6, "8GB": 8e9, "8G": 8e9, "16GiB": 16 << 30, "1.5 kB": 1500, "2Ti": 2 << 40, "4kib": 4096,
		"": 0, "0": 0, "-1": 0, "GB": 0, "8QB": 0, "8GGB": 0, "8 bytes": 0, "1e9": 0, "1.2.3": 0, "99999999TB": 0, "IB": 0, "8iB": 0, "0.1": 0,
	} {
		if got, ok := parseBytes(text); ok != (want > 0) || ok && got != want {
			t.Errorf("%q is %d, %v; want %d", text, got, ok, want)
		}
	}
}
