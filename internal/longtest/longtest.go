// Package longtest gives long tests two sizes: the share that every `go test` computes, and the whole, which COLLAPSE_LONG asks for
// as scripts/night.sh does. A share is a seeded part of the whole, and judged by the same rule.
package longtest

import (
	"os"
	"testing"
)

// Variable asks for whole tests if it is not empty.
const Variable = "COLLAPSE_LONG"

// Whole reports whether whole tests are asked for.
func Whole() bool { return os.Getenv(Variable) != "" }

// Of is the whole if it is asked for, and else the share.
func Of[T any](share, whole T) T {
	if Whole() {
		return whole
	}
	return share
}

// Only leaves a test to those who ask for whole tests. For tests whose smallest share is still too long for each `go test`.
func Only(t testing.TB) {
	t.Helper()
	if !Whole() {
		t.Skipf("only with %s=1, as .ci/run or scripts/night.sh sets it", Variable)
	}
}
