package serve

import "time"

// share is the part of the processors' time that refreshing an open page may take from other work. Its smaller requests, the events
// and polling the lab must fit into the rest of one hundredth.
const share = 0.003

// waitAfter is the pause between requests of this cost that keeps their total at the share of so many processors. An answer tells
// an open page to wait this long before it asks again. A run with faster epochs is shown less often; any other run at once.
func waitAfter(took time.Duration, processors int) time.Duration {
	return time.Duration(float64(took) / (share * float64(processors)))
}
