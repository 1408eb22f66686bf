package store

import "fmt"

// NetworkError is returned by Open for a directory on a network file system.
type NetworkError struct{ Dir, FileSystem string }

func (e *NetworkError) Error() string {
	return fmt.Sprintf("store: %s is on a network file system (%s), where SQLite files get damaged; keep the lab on a local disk (--lab /tmp/lab, or COLLAPSE_LAB) and copy results with `collapse report` or `export`",
		e.Dir, e.FileSystem)
}
