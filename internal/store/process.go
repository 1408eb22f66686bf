package store

// process identifies one running process.
type process struct {
	host    string // for people
	hostID  string // equal for processes that can see each other by number
	pid     int
	started string // distinguishes a process from a later one with the same number; "" if unknown
}

// Ended reports whether this host has no process with that number, as far as it can tell.
func Ended(pid int) bool { return ended(pid, "") }

// knowsDead reports whether p can see that q has ended. If p cannot see q, q may well be alive.
func (p process) knowsDead(q process) bool {
	return p.hostID != "" && p.hostID == q.hostID && ended(q.pid, q.started)
}
