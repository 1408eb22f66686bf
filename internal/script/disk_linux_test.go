package script

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"collapse.example/collapse/internal/faulttest"
	"collapse.example/collapse/internal/store"
)

// TestALabWhoseDiskFills: a script that cannot save its checkpoint ends with an error. The disk is to blame, so the run continues
// from the checkpoint before, once there is space.
func TestALabWhoseDiskFills(t *testing.T) {
	dir := t.TempDir()
	faulttest.SmallDisk(t, dir)
	spec, folder := written(t, `echo $COLLAPSE_FROM_EPOCH >> from
		if [ $COLLAPSE_FROM_EPOCH = 0 ]; then
			checkpoint 1; report 1 0.1; until [ -f full ]; do sleep 0.01; done
			mkdir -p "$COLLAPSE_DIR/ckpt/.tmp" && head -c 4000000 /dev/zero > "$COLLAPSE_DIR/ckpt/.tmp/state" || exit 3
		fi; `+good, 4)
	lab := openLab(t, dir)
	var release func()
	err := Run(t.Context(), lab, spec, Options{Folder: folder, Grace: 300 * time.Millisecond, Reported: func(e int) {
		if e == 1 {
			release = faulttest.FillDisk(t, dir)
			must(t, os.WriteFile(filepath.Join(folder, "full"), nil, 0o666))
		}
	}})
	var why *FailedError
	if !errors.Is(err, syscall.ENOSPC) || errors.As(err, &why) {
		t.Fatalf("%v", err)
	}
	release()
	var held *store.HeldError
	for start := time.Now(); ; time.Sleep(100 * time.Millisecond) { // the lab could not be told that the attempt had ended
		if err = Run(t.Context(), lab, spec, Options{Folder: folder}); !errors.As(err, &held) || time.Since(start) > 2*time.Minute {
			break
		}
	}
	must(t, err)
	hash, _, err := spec.Identity()
	must(t, err)
	whole(t, lab, hash, 4)
	if text, err := os.ReadFile(filepath.Join(folder, "from")); string(text) != "0\n1\n" {
		t.Errorf("went on from %q, %v", text, err)
	}
}
