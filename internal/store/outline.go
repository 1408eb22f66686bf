package store

// A run of more than wholeRun values is outlined: of each series about outlinePoints rows are read, evenly spaced, and all of the newest
// outlineTail epochs.
const (
	wholeRun      = 200_000
	outlinePoints = 2_000
	outlineTail   = 1_000
)

// Outline returns the values of a run as Values does, or, of a run of very many, what a picture of it needs: the epochs' values, of each series
// one row in so many epochs, and all of the newest. every is how many; 1 if nothing is left out. Its cost hardly grows with the number of epochs.
func (r *Reader) Outline(hash string) (values []Value, every int64, err error) {
	return r.outline(hash, wholeRun)
}

func (r *Reader) outline(hash string, whole int) (values []Value, every int64, err error) {
	var some int
	var last int64
	err = r.db.QueryRowContext(r.ctx, `SELECT (SELECT count(*) FROM (SELECT 1 FROM value WHERE run = r.id LIMIT ?2 + 1)),
			coalesce((SELECT max((SELECT max(step) FROM value WHERE run = r.id AND series = s.id)) FROM series s WHERE s.series = 'epoch'), 0)
		FROM run r WHERE r.hash = ?1`, hash, whole).Scan(&some, &last)
	if err != nil {
		return nil, 0, r.explain(r.missing(hash, err))
	}
	if every = max(1, last/outlinePoints); some <= whole || every == 1 {
		values, err = r.Values(hash)
		return values, 1, err
	}
	// Each step leads to the next: the first one in the next stretch of epochs or, among the newest, the very next. It is always a later one.
	lines, err := collect(r, scanLine, `WITH RECURSIVE r(id) AS (SELECT id FROM run WHERE hash = ?1),
		kept(run, series, step) AS (
			SELECT r.id, s.id, (SELECT min(step) FROM value WHERE run = r.id AND series = s.id) FROM r CROSS JOIN series s WHERE s.series = 'epoch'
			UNION ALL
			SELECT run, series, (SELECT min(v.step) FROM value v WHERE v.run = kept.run AND v.series = kept.series AND v.step >=
				iif(kept.step < ?3, min((kept.step/?2 + 1)*?2, ?3), kept.step + 1)) FROM kept WHERE step IS NOT NULL)
		SELECT v.series, v.step, v.value, coalesce(v.missing, '') FROM kept CROSS JOIN value v ON v.run = kept.run AND v.series = kept.series AND v.step = kept.step
		ORDER BY v.series, v.step`, hash, every, last-outlineTail)
	if err != nil {
		return nil, 0, err
	}
	values, err = r.named(lines)
	return values, every, err
}
