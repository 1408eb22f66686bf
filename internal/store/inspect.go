package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"collapse.example/collapse/internal/jail"
)

// mostNamed bounds how many rows of a table Foreign names.
const mostNamed = 20

// Foreign reads a whole lab, which OpenReader may refuse, and says what is there that this program does not write. readable is false if
// its tables cannot be trusted, so that no more than that is known. It follows no link and changes nothing.
func Foreign(ctx context.Context, dir string) (found []string, readable bool, err error) {
	if err := ownFiles(dir); errors.As(err, new(*jail.LinkError)) {
		return []string{err.Error()}, false, nil
	} else if err != nil {
		return nil, false, err
	}
	r, err := OpenReader(dir)
	if schema := new(SchemaError); errors.As(err, &schema) {
		return []string{schema.Error()}, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	defer r.Close()
	defer context.AfterFunc(ctx, r.Interrupt)()
	for _, look := range []func() ([]string, error){r.foreignEntries, r.foreignRuns, r.foreignRemovals, r.longTexts, r.foreignFiles} {
		more, err := look()
		found = append(found, more...)
		if err != nil {
			return found, false, err
		}
	}
	known := func(text string) bool { return strings.HasPrefix(text, "table ") }
	return found, !slices.ContainsFunc(found, known), nil
}

// ownEntry reports whether a name in a lab's folder is one that the program gives.
func ownEntry(name string) bool {
	switch name {
	case "lab.sqlite", "lab.sqlite-wal", "lab.sqlite-shm", "lab.sqlite-journal", "runs",
		"queue", "queue.lock", "queue.token", "queue.blobs", "queue.health", "queue.health.tmp":
		return true
	}
	return strings.HasPrefix(name, "lab.sqlite"+newSuffix) || strings.HasPrefix(name, stagingPrefix)
}

func (r *Reader) foreignEntries() (found []string, err error) {
	entries, err := os.ReadDir(r.dir)
	for _, e := range entries {
		if !ownEntry(e.Name()) {
			found = append(found, fmt.Sprintf("%q is none of a lab's files", e.Name()))
		}
	}
	return found, err
}

// foreignRuns looks for runs that are not called what their configuration says.
func (r *Reader) foreignRuns() ([]string, error) {
	var found []string
	_, err := collect(r, func(scan func(...any) error) (_ struct{}, err error) {
		var hash, config string
		var kind Kind
		if err = scan(&hash, &kind, &config); err == nil && len(found) < mostNamed && hash != Hash(kind, []byte(config)) {
			found = append(found, fmt.Sprintf("table run: the run %.100q is not called by the digest of its kind and configuration", hash))
		}
		return struct{}{}, err
	}, "SELECT hash, kind, config FROM run ORDER BY id")
	return found, err
}

func (r *Reader) foreignRemovals() ([]string, error) {
	if r.schema < removalSchema {
		return nil, nil
	}
	names, err := collect(r, func(scan func(...any) error) (name string, err error) { return name, scan(&name) }, "SELECT folder FROM removal")
	names = slices.DeleteFunc(names, isFolder)
	for i, name := range names {
		names[i] = fmt.Sprintf("table removal: the folder %.100q is no run's", name)
	}
	return names[:min(len(names), mostNamed)], err
}

// removalSchema is the first that holds removals.
const removalSchema = 3

// longTexts looks for texts that are longer than the program makes them.
func (r *Reader) longTexts() (found []string, err error) {
	for _, column := range []string{"run.label", "run.error", "tag.name", "series.series", "series.split", "series.layer", "series.measure", "value.missing", "study.name", "study.title"} {
		table, name, _ := strings.Cut(column, ".")
		const long = 64 << 10
		var n int
		query := fmt.Sprintf("SELECT count(*) FROM %s WHERE octet_length(%s) > ?", table, name)
		if err := r.db.QueryRowContext(r.ctx, query, long).Scan(&n); err != nil {
			return found, r.wrap(err)
		}
		if n > 0 {
			found = append(found, fmt.Sprintf("column %s has %d texts of more than %d bytes", column, n, long))
		}
	}
	return found, nil
}

// foreignFiles looks for what is no run's folder below runs, and for links in the folders of runs.
func (r *Reader) foreignFiles() (found []string, err error) {
	_, foreign, err := r.Leftovers()
	for _, name := range foreign {
		found = append(found, fmt.Sprintf("runs/%s is no run's folder", name))
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return found, err
	}
	for _, dir := range []string{"runs", "queue"} {
		links, err := jail.Links(filepath.Join(r.dir, dir))
		for _, name := range links {
			found = append(found, fmt.Sprintf("%s/%s is a link", dir, name))
		}
		if err != nil {
			return found, fmt.Errorf("store: %w", err)
		}
	}
	return found, nil
}
