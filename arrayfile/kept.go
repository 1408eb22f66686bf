package arrayfile

import (
	"os"
	"runtime"
	"sync"

	"github.com/edsrzf/mmap-go"
)

// kept is the mapping that was closed last, while a program asks again and again about one file whose numbers change: to map 100 MB and to
// take them from memory anew costs about as much as reading them twice.
var kept struct {
	sync.Mutex
	on     bool
	memory mmap.MMap // nil: none
	info   os.FileInfo
}

// KeepMapped says whether the mapping of the file that is closed last stays, for the next file that is the same and as large; the other one is
// given back. Whoever shortens or changes such a file must do so between calls. Linux alone: elsewhere a mapped file cannot be removed.
func KeepMapped(on bool) error {
	kept.Lock()
	defer kept.Unlock()
	kept.on = on && runtime.GOOS == "linux"
	return dropKept()
}

// keptOf takes the mapping of a file; nil if it is not the one that is kept.
func keptOf(info os.FileInfo) mmap.MMap {
	kept.Lock()
	defer kept.Unlock()
	if kept.memory == nil || !os.SameFile(kept.info, info) || kept.info.Size() != info.Size() {
		return nil
	}
	memory := kept.memory
	kept.memory, kept.info = nil, nil
	return memory
}

// keep takes a mapping over instead of ending it, and says whether it did.
func keep(memory mmap.MMap, info os.FileInfo) (bool, error) {
	kept.Lock()
	defer kept.Unlock()
	if !kept.on {
		return false, nil
	}
	err := dropKept()
	kept.memory, kept.info = memory, info
	return true, err
}

func dropKept() error {
	if kept.memory == nil {
		return nil
	}
	memory := kept.memory
	kept.memory, kept.info = nil, nil
	return memory.Unmap()
}
