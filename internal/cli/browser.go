package cli

import (
	"fmt"
	"os/exec"
	"runtime"
)

// openInBrowser asks the desktop to show a file and does not wait for it.
func openInBrowser(path string) error {
	name, args := "xdg-open", []string{path}
	switch runtime.GOOS {
	case "darwin":
		name = "open"
	case "windows":
		name, args = "rundll32", []string{"url.dll,FileProtocolHandler", path}
	}
	if err := exec.Command(name, args...).Start(); err != nil {
		return fmt.Errorf("no browser could be started (%w); open %s yourself", err, path)
	}
	return nil
}
