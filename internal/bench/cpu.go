package bench

import "runtime"

// CPUName returns the processor's name for itself, or the architecture where the system does not tell.
func CPUName() string {
	if name := systemCPUName(); name != "" {
		return name
	}
	return runtime.GOARCH
}
