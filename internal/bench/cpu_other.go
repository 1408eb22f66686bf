//go:build !unix

package bench

import "time"

// CPU is not known on this system: 0.
func CPU() time.Duration { return 0 }
