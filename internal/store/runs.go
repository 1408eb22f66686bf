package store

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

const selectRun = `SELECT id, hash, kind, config, status, error, label,
	(SELECT json_group_array(name) FROM (SELECT name FROM tag WHERE tag.run = run.id ORDER BY name)),
	run.generation, last_epoch, created, started, finished,
	coalesce(version, ''), coalesce(kernel, ''), coalesce(goos, ''), coalesce(goarch, ''), coalesce(goamd64, ''), coalesce(cpu, '')
	FROM run LEFT JOIN attempt ON attempt.run = run.id AND attempt.generation = run.generation `

// scanRun reads a row of selectRun and returns the run with its row number.
func scanRun(scan func(...any) error) (id int64, run Run, err error) {
	var tags string
	var created int64
	var epoch, started, finished sql.NullInt64
	p := &run.Program
	err = scan(&id, (*hashColumn)(&run.Hash), (*kindColumn)(&run.Kind), &run.Config, &run.Status, &run.Error, &run.Label, &tags,
		&run.Generation, &epoch, &created, &started, &finished,
		&p.Version, &p.Kernel, &p.GOOS, &p.GOARCH, &p.GOAMD64, &p.CPU)
	if err != nil {
		return 0, Run{}, err
	}
	run.HasEpochs, run.LastEpoch = epoch.Valid, epoch.Int64
	run.Created, run.Started, run.Finished = time.UnixMilli(created), moment(started), moment(finished)
	return id, run, json.Unmarshal([]byte(tags), &run.Tags)
}

func moment(ms sql.NullInt64) time.Time {
	if !ms.Valid {
		return time.Time{}
	}
	return time.UnixMilli(ms.Int64)
}

// Run returns one run by its whole hash. *NotFoundError if there is none.
func (r *Reader) Run(hash string) (Run, error) {
	found, err := r.selectRuns(selectRun+"WHERE hash = ?", hash)
	switch {
	case err != nil:
		return Run{}, err
	case len(found) == 0:
		return Run{}, r.missing(hash, sql.ErrNoRows)
	}
	return found[0], nil
}

// missing turns the empty result of a query for one run into a *NotFoundError.
func (r *Reader) missing(hash string, err error) error {
	if errors.Is(err, sql.ErrNoRows) {
		return &NotFoundError{Prefix: hash, Dir: r.dir}
	}
	return err
}

// Find returns the one run whose hash starts with prefix, in upper or lower case. *NotFoundError, *AmbiguousError.
func (r *Reader) Find(prefix string) (Run, error) {
	p := strings.ToLower(prefix)
	if p == "" || strings.Trim(p, "0123456789abcdef") != "" {
		return Run{}, &NotFoundError{Prefix: prefix, Dir: r.dir}
	}
	// 'g' follows every hexadecimal digit.
	found, err := r.selectRuns(selectRun+"WHERE hash >= ? AND hash < ? ORDER BY hash LIMIT 20", p, p+"g")
	switch {
	case err != nil:
		return Run{}, err
	case len(found) == 0:
		return Run{}, &NotFoundError{Prefix: prefix, Dir: r.dir}
	case len(found) > 1:
		return Run{}, &AmbiguousError{Prefix: prefix, Candidates: found}
	}
	return found[0], nil
}

// AmbiguousError is returned when the hashes of several runs start with Prefix. Candidates holds the first twenty.
type AmbiguousError struct {
	Prefix     string
	Candidates []Run
}

func (e *AmbiguousError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "store: several runs start with %q; give more digits:", e.Prefix)
	for _, run := range e.Candidates {
		fmt.Fprintf(&b, "\n  %.12s  %s  %s  %s", run.Hash, run.Kind, run.Status, run.Label)
	}
	return b.String()
}

// Filter selects runs. Empty fields select everything.
type Filter struct {
	Kinds    []Kind
	Statuses []Status
	Tag      string
	Study    string
	Loose    bool // only runs that are in no study and have no tag
	Label    string
	Limit    int // maximum number of runs, if above 0
}

// List returns the selected runs, newest first.
func (r *Reader) List(f Filter) ([]Run, error) {
	query, args := selectRun+"WHERE true", []any{}
	only := func(wanted bool, condition string, arg ...any) {
		if wanted {
			query, args = query+" AND "+condition, append(args, arg...)
		}
	}
	only(len(f.Kinds) > 0, "kind IN (SELECT value FROM json_each(?))", jsonList(f.Kinds))
	only(len(f.Statuses) > 0, "status IN (SELECT value FROM json_each(?))", jsonList(asStored(f.Statuses)))
	only(f.Tag != "", "id IN (SELECT run FROM tag WHERE name = ?)", f.Tag)
	only(f.Study != "", "id IN (SELECT run FROM study_run WHERE study = (SELECT id FROM study WHERE name = ?))", f.Study)
	only(f.Loose, "NOT EXISTS (SELECT 1 FROM tag WHERE tag.run = run.id) AND NOT EXISTS (SELECT 1 FROM study_run WHERE study_run.run = run.id)")
	only(f.Label != "", "label = ?", f.Label)
	query += " ORDER BY created DESC, id DESC"
	if f.Limit > 0 { // some of the leased runs may turn out to be in another state than is stored
		query, args = query+" LIMIT ? + (SELECT count(*) FROM claim)", append(args, f.Limit)
	}
	list, err := r.selectRuns(query, args...)
	list = slices.DeleteFunc(list, func(run Run) bool { return !isWanted(f.Statuses, run.Status) })
	if f.Limit > 0 {
		list = list[:min(len(list), f.Limit)]
	}
	return list, err
}

func jsonList[T ~string](list []T) string { return jsonOf(list) }

// jsonOf is a list for a query.
func jsonOf[T ~string | ~int64](list []T) string {
	text, err := json.Marshal(list)
	if err != nil {
		panic("store: a list of strings or numbers cannot be written as JSON")
	}
	return string(text)
}

func (r *Reader) selectRuns(query string, args ...any) ([]Run, error) {
	list, err := collect(r, func(scan func(...any) error) (Run, error) {
		_, run, err := scanRun(scan)
		return run, err
	}, query, args...)
	return list, errors.Join(err, settle(r, list, func(run *Run) *Status { return &run.Status }, func(run Run) string { return run.Hash }))
}

// collect runs one query and returns all its rows, so that no read is left open.
func collect[T any](r *Reader, row func(scan func(...any) error) (T, error), query string, args ...any) ([]T, error) {
	statement, err := r.prepared(query)
	if err != nil {
		return nil, r.wrap(err)
	}
	rows, err := statement.QueryContext(r.ctx, args...)
	if err != nil {
		return nil, r.wrap(err)
	}
	defer rows.Close()
	var all []T
	for rows.Next() {
		one, err := row(rows.Scan)
		if err != nil {
			return nil, r.wrap(err)
		}
		all = append(all, one)
		if len(all)%rowsBetweenChecks == 0 {
			if err := r.plausible(len(all)); err != nil {
				return nil, err
			}
		}
	}
	return all, r.wrap(rows.Err())
}

// collectMap is collect for a query with two columns, keys and values.
func collectMap[K comparable, V any](r *Reader, query string, args ...any) (map[K]V, error) {
	all := map[K]V{}
	_, err := collect(r, func(scan func(...any) error) (_ struct{}, err error) {
		var k K
		var v V
		err = scan(&k, &v)
		all[k] = v
		return struct{}{}, err
	}, query, args...)
	return all, err
}

// prepared returns the prepared statement of a query; the program has few queries. It is closed with the reader.
func (r *Reader) prepared(query string) (*sql.Stmt, error) {
	if known, ok := r.statements.Load(query); ok {
		return known.(*sql.Stmt), nil
	}
	fresh, err := r.db.PrepareContext(r.ctx, query)
	if err != nil {
		return nil, err
	}
	if first, known := r.statements.LoadOrStore(query, fresh); known {
		return first.(*sql.Stmt), fresh.Close()
	}
	return fresh, nil
}

func (r *Reader) wrap(err error) error {
	if err == nil {
		return nil
	}
	if row := r.foreign(err); row != nil {
		return row
	}
	if strings.HasPrefix(err.Error(), "store: ") { // it says what is wrong in this lab
		return err
	}
	if _, code := codeOf(err); code == sqliteReadOnly {
		return fmt.Errorf("store: %s may not be written to by this account: %w; copy the lab (collapse lab copy DEST) and work there, or change its permissions", databasePath(r.dir), err)
	}
	return fmt.Errorf("store: %s: %w", databasePath(r.dir), err)
}

// Attempt is one lease of a run: the work of one process, some of whose rows the run may hold.
type Attempt struct {
	Generation int64
	Started    time.Time
	Host       string
	Program    Program
}

// Attempts returns the processes that worked on a run, oldest first: more than one if it was resumed.
func (r *Reader) Attempts(hash string) ([]Attempt, error) {
	return collect(r, func(scan func(...any) error) (Attempt, error) {
		var a Attempt
		var started int64
		p := &a.Program
		err := scan(&a.Generation, &started, &a.Host, &p.Version, &p.Kernel, &p.GOOS, &p.GOARCH, &p.GOAMD64, &p.CPU)
		a.Started = time.UnixMilli(started)
		return a, err
	}, `SELECT generation, started, host, version, kernel, goos, goarch, goamd64, cpu FROM attempt
		WHERE run = (SELECT id FROM run WHERE hash = ?) ORDER BY generation`, hash)
}
