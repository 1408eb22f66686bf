package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strconv"
	"strings"

	"collapse.example/collapse/internal/featurefiles"
	"collapse.example/collapse/internal/measurement"
	scripts "collapse.example/collapse/internal/script" // script is a name of the tests
	"collapse.example/collapse/parallel"
)

// epochFolder is a capture of one epoch.
type epochFolder struct {
	path  string
	epoch int
}

// epochFolders are the captures that --by-epoch names, by epoch.
func (c *measureCmd) epochFolders() ([]epochFolder, error) {
	var found []epochFolder
	for _, pattern := range c.Files {
		paths := []string{pattern}
		if _, err := os.Stat(pattern); err != nil {
			if paths, err = filepath.Glob(pattern); err != nil || len(paths) == 0 {
				return nil, usagef("--by-epoch: no folder is called or matches %q", pattern)
			}
		}
		for _, path := range paths {
			name := filepath.Base(path)
			number := name[len(strings.TrimRight(name, "0123456789")):]
			epoch, err := strconv.Atoi(number)
			if err != nil {
				return nil, usagef("--by-epoch: %s does not end in the number of its epoch; wanted a name such as epoch-3", path)
			}
			if i := slices.IndexFunc(found, func(f epochFolder) bool { return f.epoch == epoch }); i >= 0 {
				return nil, usagef("--by-epoch: %s and %s are both of epoch %d", found[i].path, path, epoch)
			}
			found = append(found, epochFolder{path, epoch})
		}
	}
	sort.Slice(found, func(i, j int) bool { a, b := &found[i], &found[j]; return a.epoch-b.epoch < 0 })
	return found, nil
}

// epochs measures each epoch by itself, and makes it a column.
func (c *measureCmd) epochs(team *parallel.Team) (*measurement.Result, error) {
	folders, err := c.epochFolders()
	if err != nil {
		return nil, err
	}
	all := &measurement.Result{Main: len(folders) - 1}
	for _, f := range folders {
		one, err := c.oneEpoch(f.path, team)
		if err != nil {
			return nil, fmt.Errorf("epoch %d: %w", f.epoch, err)
		}
		column := *one.MainColumn()
		column.Name = fmt.Sprintf("epoch %d", f.epoch)
		all.Columns = append(all.Columns, column)
		all.Values, all.Inputs = one.Values, append(all.Inputs, one.Inputs...)
		for _, note := range one.Notes {
			all.Notes = append(all.Notes, fmt.Sprintf("epoch %d: %s", f.epoch, note))
		}
	}
	return all, nil
}

func (c *measureCmd) oneEpoch(folder string, team *parallel.Team) (*measurement.Result, error) {
	req := c.request()
	req.Files = []string{folder}
	if featurefiles.HoldStates(req.Files) {
		columns, err := featurefiles.MergeStates(req)
		if err != nil {
			return nil, err
		}
		return c.onePass(columns, team)
	}
	set, err := featurefiles.Open(req)
	if err != nil {
		return nil, err
	}
	defer set.Close()
	return measurement.Of(set, c.options(team), c.HTML != "")
}

// record keeps the epochs in the lab, if --record asks for it.
func (c *measureCmd) record(a *app, found *measurement.Result) error {
	if c.Record == "" {
		return nil
	}
	r := &scripts.Recording{Name: c.Record}
	for _, column := range found.Columns {
		epoch, err := strconv.Atoi(strings.TrimPrefix(column.Name, "epoch "))
		if err != nil {
			return err
		}
		if err := r.Measured(epoch, column.Report); err != nil {
			return err
		}
	}
	lab, err := a.openLab()
	if err != nil {
		return err
	}
	hash, err := r.Save(lab)
	if err != nil {
		return err
	}
	a.notef("recorded as run %.12s in %s\n", hash, a.flags.Lab)
	return nil
}
