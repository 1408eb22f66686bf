package serve

import (
	"net/http"
	"runtime"
	"strconv"
	"time"
)

// share is how much of the processors' time an open page may take of the work beside it by being made anew. What it asks for between,
// the events and the looks at the lab must fit into the rest of a hundredth.
const share = 0.003

// paced tells an open page in each answer how long to wait before it asks again, in milliseconds: so long that what the answer took
// is the page's share. A run whose epochs end faster than that is shown less often; every other at once.
type paced struct {
	http.ResponseWriter
	began time.Time
	told  bool
}

// waitHeader names the header of paced.
const waitHeader = "Collapse-Wait"

func (p *paced) tell() {
	if !p.told {
		p.told = true
		p.Header().Set(waitHeader, strconv.FormatInt(waitAfter(time.Since(p.began), runtime.NumCPU()).Milliseconds(), 10))
	}
}

// waitAfter is the time between two requests that take so long each and together a share of so many processors.
func waitAfter(took time.Duration, processors int) time.Duration {
	return time.Duration(float64(took) / (share * float64(processors)))
}

func (p *paced) WriteHeader(status int) {
	p.tell()
	p.ResponseWriter.WriteHeader(status)
}

func (p *paced) Write(b []byte) (int, error) {
	p.tell()
	return p.ResponseWriter.Write(b)
}

// Unwrap lets http.ResponseController reach the connection.
func (p *paced) Unwrap() http.ResponseWriter { return p.ResponseWriter }
