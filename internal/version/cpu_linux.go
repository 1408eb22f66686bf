package version

import (
	"os"
	"strings"
)

func systemCPUName() string {
	info, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return ""
	}
	return cpuNameFrom(string(info))
}

// cpuNameFrom returns the first model name in the text of /proc/cpuinfo; arm64 often has none.
func cpuNameFrom(info string) string {
	for line := range strings.Lines(info) {
		if key, value, found := strings.Cut(line, ":"); found && strings.TrimSpace(key) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return ""
}
