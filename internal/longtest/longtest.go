// Package longtest gives tests the size that fits who runs them. COLLAPSE_LONG says who:
//
//   - not set, a person: each `go test` computes the seeded shares of long tests, and leaves out those of Only;
//   - gate, as .ci/run sets it: the same, and those of Only;
//   - anything else, as scripts/night.sh sets it: whole tests.
//
// A share is a seeded part of the whole, and judged by the same rule.
package longtest

import (
	"os"
	"runtime/debug"
	"testing"
)

// Variable says how much is tested.
const Variable = "COLLAPSE_LONG"

const gate = "gate"

// init lets a person's tests collect garbage less often, which saves a tenth of their time. The gate and the night test as users run.
func init() {
	if os.Getenv(Variable) == "" && os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
	}
}

// Whole reports whether whole tests are asked for.
func Whole() bool { return os.Getenv(Variable) != "" && os.Getenv(Variable) != gate }

// Of is the whole if it is asked for, and else the share.
func Of[T any](share, whole T) T {
	if Whole() {
		return whole
	}
	return share
}

// Only leaves a test to the gate and the night, since even a share of it takes long: it waits, or drives another program.
func Only(t testing.TB) {
	t.Helper()
	if os.Getenv(Variable) == "" {
		t.Skipf("only with %s=%s, as .ci/run sets it", Variable, gate)
	}
}
