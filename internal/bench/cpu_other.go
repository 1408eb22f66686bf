//go:build !unix

package bench

import "time"

// CPU returns 0: it is not known on this system.
func CPU() time.Duration { return 0 }
