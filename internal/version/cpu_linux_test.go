package version

import "testing"

func TestCPUNameFrom(t *testing.T) {
	for info, want := range map[string]string{
		"processor\t: 0\nmodel name\t: AMD EPYC: 9\nmodel name\t: other\n": "AMD EPYC: 9",
		"processor : 0\nCPU implementer : 0x41\n":                          "",
		"": "",
	} {
		if got := cpuNameFrom(info); got != want {
			t.Errorf("%q: got %q, want %q", info, got, want)
		}
	}
}
