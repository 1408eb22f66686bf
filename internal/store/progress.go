package store

import (
	"database/sql"
	"errors"
	"time"
)

// Progress is what a live page asks for several times a second: which runs are being computed and how far they have got.
type Progress struct {
	Active []RunProgress // runs with a lease, then those requested
	Runs   int           // in the lab
	Newest int64         // grows when a run is added
}

// RunProgress is how far one run has got.
type RunProgress struct {
	Hash      string
	Status    Status
	LastEpoch int64 // 0 if none
}

// Progress reads the leased runs and those with the given hashes. Its cost does not grow with the number of values in the lab.
func (r *Reader) Progress(also []string) (Progress, error) {
	var p Progress
	var err error
	p.Active, err = collect(r, func(scan func(...any) error) (p RunProgress, err error) {
		return p, scan((*hashColumn)(&p.Hash), &p.Status, &p.LastEpoch)
	}, `SELECT hash, status, coalesce(last_epoch, 0) FROM run
		WHERE id IN (SELECT run FROM claim) OR hash IN (SELECT value FROM json_each(?)) ORDER BY id`, jsonList(also))
	if err := errors.Join(err, settle(r, p.Active, func(x *RunProgress) *Status { return &x.Status }, func(x RunProgress) string { return x.Hash })); err != nil {
		return p, err
	}
	// The index on created covers the count; the key yields the largest number at once.
	_, err = collect(r, func(scan func(...any) error) (_ struct{}, err error) {
		return struct{}{}, scan(&p.Runs, &p.Newest)
	}, "SELECT (SELECT count(*) FROM run INDEXED BY run_created), (SELECT coalesce(max(id), 0) FROM run)")
	return p, err
}

// RunCount counts runs of one kind and status: with a tag, in a study, or with neither.
type RunCount struct {
	Study, Tag string
	Kind       Kind
	Status     Status
	Runs       int
	Newest     time.Time // when the newest was added
	Seconds    float64   // spent by the runs that are Done, from the last lease to the end
	Timed      int       // number of runs in Seconds
}

// RunCounts counts every run, once for each of its studies and, for runs in no study, once for each of their tags.
func (r *Reader) RunCounts() ([]RunCount, error) {
	dead, err := r.dead()
	if err != nil {
		return nil, err
	}
	return collect(r, func(scan func(...any) error) (c RunCount, err error) {
		var newest int64
		var seconds sql.NullFloat64
		err = scan(&c.Study, &c.Tag, (*kindColumn)(&c.Kind), &c.Status, &c.Runs, &newest, &seconds, &c.Timed)
		c.Newest, c.Seconds = time.UnixMilli(newest), seconds.Float64
		return c, err
	}, `SELECT coalesce(study.name, '') AS s, iif(study.id IS NULL, coalesce(tag.name, ''), '') AS t, run.kind, iif(run.status = 'running' AND run.id IN (SELECT value FROM json_each(?)), 'interrupted', run.status) AS state,
			count(DISTINCT run.id), max(run.created), sum((run.finished - attempt.started) / 1000.0), count(run.finished - attempt.started)
		FROM run LEFT JOIN study_run ON study_run.run = run.id LEFT JOIN study ON study.id = study_run.study
		LEFT JOIN tag ON tag.run = run.id AND study.id IS NULL
		LEFT JOIN attempt ON run.status = 'done' AND attempt.run = run.id AND attempt.generation = run.generation
		GROUP BY s, t, run.kind, state ORDER BY max(run.created) DESC`, jsonNumbers(dead))
}

// NewestEach returns, for each of some runs, the values at the last epoch of some measures of the last layer, ordered by split and measure: what
// pages about many runs show. It seeks in each series, so its cost does not grow with the number of epochs.
func (r *Reader) NewestEach(hashes, measures []string) ([][]Value, error) {
	names, err := r.keysOf("WHERE series = 'epoch' AND layer = '' AND measure IN (SELECT value FROM json_each(?)) ORDER BY split, measure", jsonList(measures))
	if err != nil {
		return nil, err
	}
	ids := make([]int64, len(names))
	for i, name := range names {
		ids[i] = name.id
	}
	out := make([][]Value, len(hashes))
	_, err = collect(r, func(scan func(...any) error) (_ struct{}, err error) {
		var at, name int
		var v Value
		var x sql.NullFloat64
		if err = scan(&at, &name, &v.Step, &x, &v.Missing); err == nil {
			v.Key = names[name].Key
			v.Value, v.Missing = finite(x.Float64, v.Missing)
			if out[at] == nil {
				out[at] = make([]Value, 0, len(names))
			}
			out[at] = append(out[at], v)
		}
		return struct{}{}, err
	}, `SELECT j.key, s.key, v.step, v.value, coalesce(v.missing, '') FROM json_each(?1) j CROSS JOIN run r ON r.hash = j.value CROSS JOIN json_each(?2) s
		CROSS JOIN value v ON v.run = r.id AND v.series = s.value AND v.step = (SELECT max(step) FROM value WHERE run = r.id AND series = s.value)`,
		jsonList(hashes), jsonOf(ids))
	return out, err
}

// Pick returns the values of some measures of a run, ordered by key, then step.
func (r *Reader) Pick(hash string, measures []string) ([]Value, error) {
	return collect(r, scanValue, selectValue+`FROM series s CROSS JOIN value v ON v.series = s.id
		WHERE s.measure IN (SELECT value FROM json_each(?)) AND v.run = (SELECT id FROM run WHERE hash = ?)
		ORDER BY s.series, s.split, s.layer, s.measure, v.step`, jsonList(measures), hash)
}

// PickEach is Pick for many runs at once: element i has the values of hashes[i], in no order.
func (r *Reader) PickEach(hashes, measures []string) ([][]Value, error) {
	names, err := r.keysOf("WHERE measure IN (SELECT value FROM json_each(?))", jsonList(measures))
	if err != nil {
		return nil, err
	}
	out := make([][]Value, len(hashes))
	for _, name := range names {
		_, err := collect(r, func(scan func(...any) error) (_ struct{}, err error) {
			var at int
			v, x := Value{Key: name.Key}, sql.NullFloat64{}
			if err = scan(&at, &v.Step, &x, &v.Missing); err == nil {
				v.Value, v.Missing = finite(x.Float64, v.Missing)
				out[at] = append(out[at], v)
			}
			return struct{}{}, err
		}, `SELECT j.key, v.step, v.value, coalesce(v.missing, '') FROM json_each(?1) j CROSS JOIN run r ON r.hash = j.value
			CROSS JOIN value v ON v.run = r.id AND v.series = ?2`, jsonList(hashes), name.id)
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// SumEach is the sum of one series of each run; 0 for a run without it.
func (r *Reader) SumEach(hashes []string, k Key) ([]float64, error) {
	out := make([]float64, len(hashes))
	_, err := collect(r, func(scan func(...any) error) (_ struct{}, err error) {
		var at int
		var sum sql.NullFloat64
		if err = scan(&at, &sum); err == nil {
			out[at] = sum.Float64
		}
		return struct{}{}, err
	}, `SELECT j.key, (SELECT sum(value) FROM value WHERE run = r.id AND series = s.id) FROM json_each(?1) j CROSS JOIN run r ON r.hash = j.value
		CROSS JOIN series s ON s.series = ?2 AND s.split = ?3 AND s.layer = ?4 AND s.measure = ?5`, jsonList(hashes), k.Series, k.Split, k.Layer, k.Measure)
	return out, err
}

// namedKey is a row of table series.
type namedKey struct {
	id int64
	Key
}

// keysOf reads those rows of table series that a condition takes.
func (r *Reader) keysOf(condition string, args ...any) ([]namedKey, error) {
	return collect(r, func(scan func(...any) error) (k namedKey, err error) {
		err = scan(&k.id, &k.Series, &k.Split, &k.Layer, &k.Measure)
		_, err = withinBounds(k.Key, err)
		return k, err
	}, "SELECT id, series, split, layer, measure FROM series "+condition, args...)
}

// Since returns the values of a run after an epoch, for some measures or, if measures is nil, for all, ordered by key, then step:
// what a page that has the earlier values lacks. It seeks in each series, so its cost does not grow with the run.
func (r *Reader) Since(hash string, epoch int64, measures []string) ([]Value, error) {
	return collect(r, scanValue, selectValue+`FROM series s CROSS JOIN value v ON v.series = s.id
		WHERE s.series = 'epoch' AND (?1 = 'null' OR s.measure IN (SELECT value FROM json_each(?1)))
			AND v.run = (SELECT id FROM run WHERE hash = ?2) AND v.step > ?3
		ORDER BY s.split, s.layer, s.measure, v.step`, jsonList(measures), hash, epoch)
}
