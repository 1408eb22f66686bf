package version

import "runtime"

// CPU returns the processor's name for itself, or the architecture where the system does not tell.
func CPU() string {
	if name := systemCPUName(); name != "" {
		return name
	}
	return runtime.GOARCH
}
