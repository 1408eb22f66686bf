package upkeep

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// syncTree returns once all that was written below dir is on the disk.
func syncTree(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	if err := unix.Syncfs(int(d.Fd())); err != nil {
		return fmt.Errorf("syncing %s: %w", dir, err)
	}
	return nil
}
