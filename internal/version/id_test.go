package version

import (
	"errors"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"
)

// TestABuildIsKnownByItsSources, else by its revision, else by its bytes: what differs in numbers must differ here.
func TestABuildIsKnownByItsSources(t *testing.T) {
	program := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(program, []byte("abc"), 0o666); err != nil {
		t.Fatal(err)
	}
	const revision = "dd4f1c5bfe76d2d9dacb3f81af21260b32a53c92"
	checkout := func(modified string) *debug.BuildInfo {
		return &debug.BuildInfo{Settings: []debug.BuildSetting{{Key: "vcs.revision", Value: revision}, {Key: "vcs.modified", Value: modified}}}
	}
	itself := func() (string, error) { return program, nil }
	for _, c := range []struct {
		sources string
		info    *debug.BuildInfo
		program func() (string, error)
		want    string
	}{
		{"0123456789abcdef", checkout("false"), itself, "src.0123456789ab"},
		{"", checkout("false"), itself, "git.dd4f1c5bfe76"},
		{"", checkout("true"), itself, "bin.ba7816bf8f01"},
		{"", nil, itself, "bin.ba7816bf8f01"},
		{"", nil, func() (string, error) { return program + "x", nil }, "unknown"},
		{"", nil, func() (string, error) { return "", errors.New("no name") }, "unknown"},
	} {
		if got := buildOf(c.sources, c.info, c.program); got != c.want {
			t.Errorf("%q %+v: %s, want %s", c.sources, c.info, got, c.want)
		}
	}
	if id := ID(); !strings.HasPrefix(id, Version+"+") || len(id) < len(Version)+5 {
		t.Errorf("%q", id)
	}
}
