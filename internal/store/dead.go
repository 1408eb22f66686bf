package store

import (
	"maps"
	"slices"
	"sync"
)

// self is this process; it does not change.
var self = sync.OnceValue(thisProcess)

// dead returns the row numbers, by hash, of runs that a process was working on which is seen to have ended on this machine. Their rows
// say Running until another process leases them: readers show them as Interrupted, which they are.
func (r *Reader) dead() (map[string]int64, error) {
	found := map[string]int64{}
	_, err := collect(r, func(scan func(...any) error) (_ struct{}, err error) {
		var hash string
		var id int64
		var holder process
		err = scan(&hash, &id, &holder.hostID, &holder.pid, &holder.started)
		if err == nil && self().knowsDead(holder) {
			found[hash] = id
		}
		return struct{}{}, err
	}, `SELECT run.hash, run.id, host_id, pid, pid_started FROM claim JOIN run ON run.id = claim.run WHERE run.status = 'running'`)
	return found, err
}

// settle shows as Interrupted those of some rows that say Running whose process has ended; status and hash give a row's parts.
func settle[T any](r *Reader, list []T, status func(*T) *Status, hash func(T) string) error {
	if !slices.ContainsFunc(list, func(x T) bool { return *status(&x) == Running }) {
		return nil
	}
	dead, err := r.dead()
	for i := range list {
		if _, ended := dead[hash(list[i])]; ended && *status(&list[i]) == Running {
			*status(&list[i]) = Interrupted
		}
	}
	return err
}

// asStored are the states to ask the database for: an interrupted run may be stored as Running.
func asStored(wanted []Status) []Status {
	if slices.Contains(wanted, Interrupted) && !slices.Contains(wanted, Running) {
		return append(slices.Clip(wanted), Running)
	}
	return wanted
}

// isWanted reports whether a state is one of the wanted; none stands for all.
func isWanted(wanted []Status, s Status) bool { return len(wanted) == 0 || slices.Contains(wanted, s) }

// jsonNumbers are the row numbers as a list in JSON.
func jsonNumbers(rows map[string]int64) string {
	return jsonOf(slices.AppendSeq([]int64{}, maps.Values(rows)))
}
