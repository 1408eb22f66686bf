package cli

import (
	"errors"
	"os"
	"strings"
	"syscall"
	"testing"

	"collapse.example/collapse/internal/longtest"
)

// TestALabThatIsReadOnly looks at a study in a lab that nothing can be written to, and is told so when it
// tries to change it.
func TestALabThatIsReadOnly(t *testing.T) {
	longtest.Only(t)
	if os.Getuid() != 0 {
		t.Skip("only root can make a file system read-only")
	}
	file, lab := finishedStudy(t)
	if err := syscall.Mount(lab, lab, "", syscall.MS_BIND, ""); errors.Is(err, syscall.EPERM) {
		t.Skip("root may not mount here")
	} else if err != nil {
		t.Fatal(err)
	}
	defer syscall.Unmount(lab, syscall.MNT_DETACH)
	if err := syscall.Mount("", lab, "", syscall.MS_REMOUNT|syscall.MS_BIND|syscall.MS_RDONLY, ""); err != nil {
		t.Fatal(err)
	}
	look, change := studyCommands(file)
	for _, command := range look {
		called(t, 0, studyCall(lab, command)...)
	}
	for _, command := range change {
		if _, errs := called(t, 1, studyCall(lab, command)...); !strings.Contains(errs, "cannot be written to") || !strings.Contains(errs, lab) {
			t.Errorf("study %s: %s", command, errs)
		}
	}
}
