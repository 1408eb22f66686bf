package kernel

import (
	"os"
	"runtime"
	"strings"
	"sync"
)

// CPU returns the processor's model name for people ("AMD EPYC 9354"), or the architecture where
// the system does not tell. Nothing is decided by it.
var CPU = sync.OnceValue(func() string {
	text, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return runtime.GOARCH
	}
	for line := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(line, ":")
		if strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return runtime.GOARCH
})
