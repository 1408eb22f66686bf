package wire

import (
	"encoding/json"
	"strings"

	"collapse.example/collapse/internal/queue"
	"collapse.example/collapse/internal/study"
)

// LocalPrefix begins the names of the slots of a coordinator's own process.
const LocalPrefix = "local/"

// IsLocal reports whether a worker is a slot of a coordinator's own process.
func IsLocal(worker string) bool { return strings.HasPrefix(worker, LocalPrefix) }

// EncodeProgress returns a run's progress as a heartbeat carries it.
func EncodeProgress(p study.Progress) []byte { return encoded(p) }

// ParseProgress reads what a heartbeat carries. Empty or unreadable bytes give no progress.
func ParseProgress(b []byte) study.Progress {
	var p study.Progress
	if json.Unmarshal(b, &p) != nil || p.Epochs > MostEpochs || p.Epoch < 0 || p.Epoch > p.Epochs {
		return study.Progress{}
	}
	p.Text = queue.Clean(p.Text, longestLine)
	return p
}
