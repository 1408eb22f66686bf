package study

import (
	"encoding/json"
	"strings"

	"collapse/internal/queue"
)

// How far a run is, as a heartbeat carries it, and who reports it.

// localPrefix begins the names of the slots of a coordinator's own process.
const localPrefix = "local/"

func isLocal(worker string) bool { return strings.HasPrefix(worker, localPrefix) }

func encodeProgress(p Progress) []byte {
	text, err := json.Marshal(p)
	if err != nil {
		panic("study: progress that JSON cannot hold")
	}
	return text
}

// parseProgress reads what a heartbeat carries. Nothing, and what cannot be read, is no progress.
func parseProgress(b []byte) Progress {
	var p Progress
	if json.Unmarshal(b, &p) != nil || p.Epochs < 0 || p.Epochs > mostEpochs || p.Epoch < 0 || p.Epoch > p.Epochs {
		return Progress{}
	}
	p.Text = queue.Clean(p.Text, longestLine)
	return p
}
