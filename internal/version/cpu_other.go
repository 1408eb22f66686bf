//go:build !linux && !darwin

package version

import "os"

// systemCPUName is what Windows tells every process; other systems tell nothing.
func systemCPUName() string { return os.Getenv("PROCESSOR_IDENTIFIER") }
