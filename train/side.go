package train

import (
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// SideFiles lists what a run that goes on elsewhere from its checkpoint of epoch upTo has left in its folder besides that checkpoint since
// the one of epoch after: frames and features of the epochs between, and checkpoints that run.keep names. Paths are relative to dir,
// with slashes. Nothing of it changes or goes any more.
func SideFiles(dir string, after, upTo int) ([]string, error) {
	c, err := ConfigOf(dir)
	if errors.Is(err, os.ErrNotExist) { // nothing has begun
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	keep, err := parseKeep(c.Run.Keep)
	if err != nil {
		return nil, fmt.Errorf("train: run.keep %w", err)
	}
	between := func(n int) bool { return n > after && n <= upTo }
	var list []string
	for _, part := range []struct {
		dir, suffix string
		wanted      func(n int) bool
	}{
		{framesDir, ".npz", between},
		{featuresDir, "", between},
		{ckptDir, "", func(n int) bool { return n >= after && n < upTo && keep.keeps(n) }},
	} {
		entries, err := os.ReadDir(filepath.Join(dir, part.dir))
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, fmt.Errorf("train: %w", err)
		}
		for _, e := range entries {
			number, ok := strings.CutSuffix(e.Name(), part.suffix)
			if n, err := strconv.Atoi(number); !ok || err != nil || strconv.Itoa(n) != number || !part.wanted(n) {
				continue
			}
			found := []string{path.Join(part.dir, e.Name())}
			if e.IsDir() {
				if found, err = filesIn(dir, found[0]); err != nil {
					return nil, err
				}
			}
			list = append(list, found...)
		}
	}
	slices.Sort(list)
	return list, nil
}

func filesIn(root, dir string) ([]string, error) {
	entries, err := os.ReadDir(filepath.Join(root, filepath.FromSlash(dir)))
	if err != nil {
		return nil, fmt.Errorf("train: %w", err)
	}
	var list []string
	for _, e := range entries {
		list = append(list, path.Join(dir, e.Name()))
	}
	return list, nil
}
