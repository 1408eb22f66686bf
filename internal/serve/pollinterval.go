package serve

import "time"

// share is how much of the processors' time an open page may take of the work beside it by being made anew. What it asks for between,
// the events and the looks at the lab must fit into the rest of a hundredth.
const share = 0.003

// waitAfter is the time between two requests that take so long each and together a share of so many processors: an answer tells an
// open page to wait so long before it asks again. A run whose epochs end faster than that is shown less often; every other at once.
func waitAfter(took time.Duration, processors int) time.Duration {
	return time.Duration(float64(took) / (share * float64(processors)))
}
