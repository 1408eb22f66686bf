package store

import (
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"collapse.example/collapse/internal/spelling"
)

// Study is a named list of runs. A run may belong to several.
type Study struct {
	Name      string
	Title     string
	Source    string // the file it came from, for people
	Cancelled bool
	Created   time.Time
	Runs      int // number of runs
	Counts    map[Status]int
}

// Open is the number of runs that have not ended.
func (s Study) Open() int { return s.Runs - s.Counts[Done] - s.Counts[Failed] }

// Member is a run to put into a study.
type Member struct {
	Spec    Spec
	Note    string // what sets it apart in this study
	Payload string // what a worker needs to compute it
}

// StudyRun is a run of a study.
type StudyRun struct {
	Position int
	Hash     string
	Kind     Kind
	Status   Status
	Error    string // why it failed
	Note     string
	Payload  string
	Epoch    int64 // newest with rows, 0 if none
	Started  time.Time
	Finished time.Time
}

// SaveStudy creates a study, or gives an existing one another list of runs, and opens it. Runs that the lab lacks are added as
// Pending. Those that the study had, that nobody has begun or described, and that are in no study any more are removed.
func (l *Lab) SaveStudy(name, title, source string, members []Member) error {
	configs := make([][]byte, len(members))
	for i, m := range members {
		var err error
		if configs[i], err = m.Spec.check(); err != nil {
			return err
		}
	}
	return l.write(func(tx *sql.Tx) error {
		var id int64
		err := tx.QueryRow(`INSERT INTO study (name, title, source, status, created) VALUES (?, ?, ?, 'open', ?)
			ON CONFLICT (name) DO UPDATE SET title = excluded.title, source = excluded.source, status = 'open', revision = revision + 1
			RETURNING id`, name, title, source, l.now().UnixMilli()).Scan(&id)
		if err != nil {
			return err
		}
		idle, err := untouched(tx, id)
		if err != nil {
			return err
		}
		if err := execute(tx, "DELETE FROM study_run WHERE study = ?", id); err != nil {
			return err
		}
		if err := execute(tx, "DELETE FROM archived WHERE study = ?", id); err != nil {
			return err
		}
		for i, m := range members {
			run, _, err := l.ensure(tx, m.Spec, configs[i])
			if err != nil {
				return err
			}
			err = execute(tx, "INSERT INTO study_run (study, position, run, note, payload) VALUES (?, ?, ?, ?, ?)", id, i+1, run, m.Note, m.Payload)
			if err != nil {
				return err
			}
		}
		err = execute(tx, "DELETE FROM run WHERE id IN (SELECT value FROM json_each(?)) AND NOT EXISTS (SELECT 1 FROM study_run WHERE run = run.id)", jsonOf(idle))
		return errors.Join(err, release(tx, name, Interrupted))
	})
}

// untouched are the runs of a study of which there is nothing but their configuration.
func untouched(tx *sql.Tx, study int64) (ids []int64, err error) {
	rows, err := tx.Query(`SELECT id FROM run WHERE id IN (SELECT run FROM study_run WHERE study = ?) AND status = ? AND generation = 0 AND label = ''
		AND NOT EXISTS (SELECT 1 FROM tag WHERE tag.run = run.id)`, study, Pending)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, rows.Err()
}

// release makes the runs of a study in one state ready: the failed ones, or those that were cancelled.
func release(tx *sql.Tx, study string, from Status) error {
	return execute(tx, `UPDATE run SET status = ?1, error = '', finished = NULL WHERE status = ?2 AND (status = ?4 OR error = ?5) AND id IN
		(SELECT run FROM study_run WHERE study = (SELECT id FROM study WHERE name = ?3))`, Interrupted, from, study, Failed, cancelled)
}

// StudyNotFoundError is returned for a study that the lab lacks.
type StudyNotFoundError struct {
	Name, Dir string
	Near      string // a name that may have been meant; "" if none is near
}

func (e *StudyNotFoundError) Error() string {
	near := ""
	if e.Near != "" {
		near = fmt.Sprintf("; did you mean %s?", e.Near)
	}
	return fmt.Sprintf("store: the lab %s has no study %q"+near+"; `collapse study list` shows what it has, `collapse study run FILE` makes one", e.Dir, e.Name)
}

const selectStudy = "SELECT id, name, title, source, status = 'cancelled', created FROM study "

// Studies returns every study with its counts, newest first.
func (r *Reader) Studies() ([]Study, error) {
	return r.studies(selectStudy + "ORDER BY created DESC, id DESC")
}

// Study returns one study with its counts. *StudyNotFoundError.
func (r *Reader) Study(name string) (Study, error) {
	found, err := r.studies(selectStudy+"WHERE name = ?", name)
	if err == nil && len(found) == 0 {
		titles, _ := collectMap[string, string](r, "SELECT name, '' FROM study LIMIT 1000") // without them it is still not there
		err = &StudyNotFoundError{Name: name, Dir: r.dir, Near: spelling.Nearest(name, slices.Sorted(maps.Keys(titles)))}
	}
	if err != nil {
		return Study{}, err
	}
	return found[0], nil
}

// StudyTitles returns the titles of all studies that have one, by name.
func (r *Reader) StudyTitles() (map[string]string, error) {
	return collectMap[string, string](r, "SELECT name, title FROM study WHERE title <> ''")
}

// StudyNotes returns what sets each run of a study apart in it, by hash.
func (r *Reader) StudyNotes(study string) (map[string]string, error) {
	return collectMap[string, string](r, `SELECT run.hash, note FROM study_run CROSS JOIN run ON run.id = study_run.run
		WHERE study = (SELECT id FROM study WHERE name = ?) AND note <> ''`, study)
}

// Membership says which study a run belongs to, and what sets it apart there.
type Membership struct{ Study, Note string }

// Memberships returns the newest study for each of the given runs that is in any.
func (r *Reader) Memberships(hashes []string) (map[string]Membership, error) {
	found := map[string]Membership{}
	_, err := collect(r, func(scan func(...any) error) (struct{}, error) {
		var hash string
		var m Membership
		err := scan(&hash, &m.Study, &m.Note)
		found[hash] = m
		return struct{}{}, err
	}, `SELECT run.hash, study.name, study_run.note FROM run CROSS JOIN study_run ON study_run.run = run.id JOIN study ON study.id = study_run.study
		WHERE run.hash IN (SELECT value FROM json_each(?)) ORDER BY study.created, study.id`, jsonList(append([]string{}, hashes...)))
	return found, err
}

func (r *Reader) studies(query string, args ...any) ([]Study, error) {
	var ids []int64
	list, err := collect(r, func(scan func(...any) error) (Study, error) {
		var s Study
		var id, created int64
		err := scan(&id, &s.Name, &s.Title, &s.Source, &s.Cancelled, &created)
		ids, s.Created = append(ids, id), time.UnixMilli(created)
		return s, err
	}, query, args...)
	if err != nil {
		return nil, err
	}
	for i := range list {
		if list[i].Counts, err = r.countRuns(ids[i]); err != nil {
			return nil, err
		}
		for _, n := range list[i].Counts {
			list[i].Runs += n
		}
	}
	return list, nil
}

// countRuns counts a study's runs by status. It walks the index run_recent, which contains the status and is sorted by it, and never
// reads a run's row with its configuration.
func (r *Reader) countRuns(study int64) (map[Status]int, error) {
	counts, err := collectMap[Status, int](r, `SELECT x.status, count(*) FROM run x CROSS JOIN study_run s ON s.run = x.id AND s.study = ? GROUP BY x.status`, study)
	if err != nil || counts[Running] == 0 {
		return counts, err
	}
	dead, err := r.dead()
	if err != nil || len(dead) == 0 {
		return counts, err
	}
	n, err := collect(r, func(scan func(...any) error) (n int, err error) { return n, scan(&n) },
		"SELECT count(*) FROM study_run WHERE study = ? AND run IN (SELECT value FROM json_each(?))", study, jsonNumbers(dead))
	if err != nil {
		return nil, err
	}
	counts[Running] -= n[0]
	counts[Interrupted] += n[0]
	return counts, nil
}

const selectStudyRun = `SELECT position, hash, kind, run.status, error, note, payload, coalesce(last_epoch, 0),
	(SELECT started FROM attempt WHERE attempt.run = run.id AND attempt.generation = run.generation), finished
	FROM run CROSS JOIN study_run ON study_run.run = run.id ` // in this order: see RecentOfStudy

// StudyRuns returns the runs of a study that are in one of the given states, or all, in the study's order.
func (r *Reader) StudyRuns(name string, states ...Status) ([]StudyRun, error) {
	list, err := r.studyRuns(selectStudyRun+`WHERE study = (SELECT id FROM study WHERE name = ?1)
		AND run.id IN (SELECT run FROM study_run WHERE study = (SELECT id FROM study WHERE name = ?1))
		AND (json_array_length(?2) = 0 OR run.status IN (SELECT value FROM json_each(?2))) ORDER BY position`,
		name, jsonList(append([]Status{}, asStored(states)...)))
	return slices.DeleteFunc(list, func(run StudyRun) bool { return !isWanted(states, run.Status) }), err
}

// RecentOfStudy returns a few runs of a study in one state: for a state of ended runs those that ended last, newest first, otherwise
// any. It looks at no more runs than it needs.
func (r *Reader) RecentOfStudy(name string, state Status, limit int) ([]StudyRun, error) {
	list, err := r.studyRuns(selectStudyRun+`WHERE run.id IN (
			SELECT x.id FROM run x CROSS JOIN study_run s ON s.run = x.id AND s.study = (SELECT id FROM study WHERE name = ?1)
			WHERE x.status = ?2 ORDER BY x.finished DESC LIMIT ?3)
		AND study = (SELECT id FROM study WHERE name = ?1) ORDER BY finished DESC, position`, name, state, limit)
	return slices.DeleteFunc(list, func(run StudyRun) bool { return run.Status != state }), err
}

func (r *Reader) studyRuns(query string, args ...any) ([]StudyRun, error) {
	list, err := collect(r, func(scan func(...any) error) (StudyRun, error) {
		var s StudyRun
		var started, finished sql.NullInt64
		err := scan(&s.Position, (*hashColumn)(&s.Hash), (*kindColumn)(&s.Kind), &s.Status, &s.Error, &s.Note, &s.Payload, &s.Epoch, &started, &finished)
		s.Started, s.Finished = moment(started), moment(finished)
		return s, err
	}, query, args...)
	return list, errors.Join(err, settle(r, list, func(s *StudyRun) *Status { return &s.Status }, func(s StudyRun) string { return s.Hash }))
}

// CancelStudy marks a study as cancelled; SaveStudy and OpenStudy open it again.
func (l *Lab) CancelStudy(name string) error {
	return l.touchStudy(name, "status = 'cancelled'", func(*sql.Tx) error { return nil })
}

// OpenStudy undoes CancelStudy, and Cancel of the study's runs.
func (l *Lab) OpenStudy(name string) error {
	return l.touchStudy(name, "status = 'open'", func(tx *sql.Tx) error { return release(tx, name, Interrupted) })
}

// touchStudy changes a study, and then its runs, in one transaction: whoever sees the new revision sees all changes.
func (l *Lab) touchStudy(name, change string, runs func(tx *sql.Tx) error) error {
	return l.write(func(tx *sql.Tx) error {
		res, err := tx.Exec("UPDATE study SET revision = revision + 1, "+change+" WHERE name = ?", name)
		if err != nil {
			return err
		}
		n, err := res.RowsAffected()
		if err != nil {
			return err
		}
		if n == 0 {
			return &StudyNotFoundError{Name: name, Dir: l.dir}
		}
		return runs(tx)
	})
}

// RetryStudy makes the failed runs of a study ready to be tried again, from their checkpoints if they have any, and returns how many
// there were.
func (l *Lab) RetryStudy(name string) (int, error) {
	var n int
	err := l.touchStudy(name, "status = 'open'", func(tx *sql.Tx) error {
		err := tx.QueryRow(`SELECT count(*) FROM run WHERE status = ? AND id IN
			(SELECT run FROM study_run WHERE study = (SELECT id FROM study WHERE name = ?))`, Failed, name).Scan(&n)
		if err != nil {
			return err
		}
		return release(tx, name, Failed)
	})
	return n, err
}

// RemoveStudy removes a study. Its runs stay.
func (l *Lab) RemoveStudy(name string) error {
	return l.touchStudy(name, "status = 'cancelled'", func(tx *sql.Tx) error { return execute(tx, "DELETE FROM study WHERE name = ?", name) })
}

// StudyRevision is another text whenever a user has changed, made or removed any study; reading it is cheap for processes that work on
// studies. A sum of revisions would not do: one study's removal takes away what another's change adds.
func (r *Reader) StudyRevision() (string, error) {
	var text string
	err := r.db.QueryRowContext(r.ctx, "SELECT coalesce(group_concat(id || ' ' || created || ' ' || revision), '') FROM (SELECT * FROM study ORDER BY id)").Scan(&text)
	return text, r.wrap(err)
}
