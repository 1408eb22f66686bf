// Package version says which program this is and on what it runs: its version, how it was compiled, the processor. Runs
// record it, because bits are promised only per (version, kernel, GOARCH, GOAMD64).
package version

import (
	"runtime"
	"runtime/debug"
)

// Version is the program's version, in the sense of semver.org.
const Version = "0.2.0"

// Build describes the running binary.
type Build struct {
	Version string `json:"version"`
	ID      string `json:"build"` // see ID
	Go      string `json:"go"`
	OS      string `json:"os"`
	Arch    string `json:"arch"`
	// AMD64 is GOAMD64 ("v1" … "v4"); empty on other architectures.
	AMD64 string `json:"goamd64,omitempty"`
}

// Current returns the description of the running binary.
func Current() Build {
	b := Build{Version: Version, ID: ID(), Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	for _, s := range info.Settings {
		if s.Key == "GOAMD64" {
			b.AMD64 = s.Value
		}
	}
	return b
}
