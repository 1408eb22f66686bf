package train

import (
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// freeMemory returns how many bytes this process may still allocate: what the machine has available, or what the tightest control
// group around the process leaves, whichever is less. ok is false if neither is known.
func freeMemory() (bytes int64, ok bool) {
	bytes = math.MaxInt64
	if available, found := memAvailable("/proc/meminfo"); found {
		bytes, ok = available, true
	}
	if left, found := groupLeft("/proc/self/cgroup", "/sys/fs/cgroup"); found {
		bytes, ok = min(bytes, left), true
	}
	return bytes, ok
}

// memAvailable reads the kernel's estimate of what can be allocated without swapping.
func memAvailable(file string) (int64, bool) {
	text, _ := os.ReadFile(file) // an empty text has no number
	kib, ok := numberOf("MemAvailable:", text)
	return kib << 10, ok
}

// numberOf returns the number after a word at the beginning of a line, with or without the unit kB.
func numberOf(word string, text []byte) (int64, bool) {
	for line := range strings.Lines(string(text)) {
		if value, found := strings.CutPrefix(line, word); found {
			n, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
			return n, err == nil
		}
	}
	return 0, false
}

// groupLeft walks from the process's control group up to the root and returns the least that any limit leaves, in version 2 or 1.
// Page cache that can be dropped counts as free.
func groupLeft(membership, root string) (int64, bool) {
	text, err := os.ReadFile(membership)
	if err != nil {
		return 0, false
	}
	least, found := int64(math.MaxInt64), false
	for line := range strings.Lines(strings.TrimSpace(string(text))) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) != 3 || parts[1] != "" && parts[1] != "memory" {
			continue
		}
		top, limit, usage, cache := root, "memory.max", "memory.current", "inactive_file"
		if parts[1] == "memory" {
			top, limit, usage, cache = filepath.Join(root, "memory"), "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"
		}
		for dir := filepath.Join(top, parts[2]); ; dir = filepath.Dir(dir) {
			if left, limited := leftIn(dir, limit, usage, cache); limited {
				least, found = min(least, left), true
			}
			if dir == top || len(dir) < len(top) {
				break
			}
		}
	}
	return least, found
}

// unlimited is a bound above which version 1's limits mean no limit.
const unlimited = 1 << 60

func leftIn(dir, limit, usage, cache string) (int64, bool) {
	most, ok := readNumber(filepath.Join(dir, limit))
	if !ok || most >= unlimited {
		return 0, false
	}
	used, ok := readNumber(filepath.Join(dir, usage))
	if !ok {
		return 0, false
	}
	text, _ := os.ReadFile(filepath.Join(dir, "memory.stat")) // without it nothing counts as cache
	if n, ok := numberOf(cache+" ", text); ok {
		used -= n
	}
	return most - used, true
}

// readNumber reads a file with one number; "max" is not one.
func readNumber(file string) (int64, bool) {
	text, _ := os.ReadFile(file) // an empty text is not a number
	n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	return n, err == nil
}
