package store

// process names one running process.
type process struct {
	host    string // for people
	hostID  string // equal for processes that can see each other by number
	pid     int
	started string // distinguishes a process from a later one with the same number; "" if unknown
}

// Ended reports whether this host has no process of that number, as far as it can tell.
func Ended(pid int) bool { return ended(pid, "") }

// sees reports whether p can tell if q lives.
func (p process) sees(q process) bool { return p.hostID != "" && p.hostID == q.hostID }

// knowsDead reports whether p can see that q has ended. When it cannot see q, q may well live.
func (p process) knowsDead(q process) bool {
	if !p.sees(q) {
		return false
	}
	return ended(q.pid, q.started)
}
