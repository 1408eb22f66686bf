//go:build !unix

package outfile

import (
	"context"
	"os"
)

func descriptor(string) (int, bool) { return 0, false }

func inDescriptors(string) bool { return false }

func duplicate(int) (*os.File, error) { panic("outfile: no descriptor has a name here") }

func mayWrite(string) error { return nil }

func openThrough(_ context.Context, path string) (*os.File, error) {
	return os.OpenFile(path, os.O_WRONLY, 0)
}

func hasMore(string, os.FileInfo) bool { return false }

func inherit(*os.File, os.FileInfo) error { return nil }

// lockFolder does nothing where folders cannot be locked.
func lockFolder(context.Context, *os.File) error { return nil }
