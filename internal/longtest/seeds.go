package longtest

import (
	"fmt"
	"os"
)

// SeedsVariable asks for certain seeds of a random test, "FIRST:COUNT", as scripts/campaign.py does.
const SeedsVariable = "COLLAPSE_SEEDS"

// Campaign reports whether certain seeds are asked for. A test may then take longer over each.
func Campaign() bool { return os.Getenv(SeedsVariable) != "" }

// Seeds are those that a random test goes through: as many as Of gives, or those that are asked for.
func Seeds(share, whole int) []uint64 {
	first, count := uint64(0), Of(share, whole)
	if text := os.Getenv(SeedsVariable); text != "" {
		if _, err := fmt.Sscanf(text, "%d:%d", &first, &count); err != nil {
			panic(fmt.Sprintf("longtest: %s is %q, wanted FIRST:COUNT", SeedsVariable, text))
		}
	}
	seeds := make([]uint64, count)
	for i := range seeds {
		seeds[i] = first + uint64(i)
	}
	return seeds
}
