package store

import (
	"cmp"
	"database/sql"
	"math"
	"slices"
	"strings"
)

// Key names one series of numbers within a run.
type Key struct {
	Series  string // what Step counts, such as "epoch" or "iteration", or the name of a curve
	Split   string // "train", "test", …; may be ""
	Layer   string // may be ""
	Measure string // such as "nc1_pinv"
}

// Value is one number of a run, or the reason why there is none.
type Value struct {
	Key
	Step    int64
	Value   float64 // 0 if Missing is not ""
	Missing string  // if not "", why there is no value
}

// Point is a Value whose Key is known.
type Point struct {
	Step    int64
	Value   float64 // 0 if Missing is not ""
	Missing string  // if not "", why there is no value
}

// Lack is what a table shows of a missing value: NaN, infinite, or no value for another reason.
func (p Point) Lack() string {
	switch p.Missing {
	case notANumber:
		return "NaN"
	case infinite:
		return "infinite"
	}
	return "no value"
}

// Values returns every value of a run, ordered by key, then step; none for an unknown run.
func (r *Reader) Values(hash string) ([]Value, error) {
	lines, err := collect(r, scanLine, `SELECT series, step, value, coalesce(missing, '') FROM value
		WHERE run = (SELECT id FROM run WHERE hash = ?) ORDER BY series, step`, hash)
	if err != nil {
		return nil, err
	}
	return r.named(lines)
}

// line is a value whose series is given by number. A run has thousands of values and a lab a few hundred names, so names are not
// read with every value.
type line struct {
	series int64
	Point
}

func scanLine(scan func(...any) error) (l line, err error) {
	var x sql.NullFloat64
	err = scan(&l.series, &l.Step, &x, &l.Missing)
	l.Value, l.Missing = finite(x.Float64, l.Missing)
	return l, err
}

// named gives lines, which are in the order of series and step, their keys and orders them by key.
func (r *Reader) named(lines []line) ([]Value, error) {
	var curves [][]line
	all := len(lines)
	for len(lines) > 0 {
		n := leading(lines, func(l line) bool { return l.series == lines[0].series })
		curves, lines = append(curves, lines[:n]), lines[n:]
	}
	names, err := r.seriesNames(curves)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(curves, func(a, b []line) int { return compareKeys(names[a[0].series], names[b[0].series]) })
	out := slices.Grow([]Value(nil), all)
	for _, curve := range curves {
		key := names[curve[0].series]
		for _, l := range curve {
			out = append(out, Value{Key: key, Step: l.Step, Value: l.Value, Missing: l.Missing})
		}
	}
	return out, nil
}

// leading counts the elements at the beginning of a list that belong together.
func leading[T any](list []T, belongs func(T) bool) int {
	for i, x := range list {
		if !belongs(x) {
			return i
		}
	}
	return len(list)
}

// seriesNames returns the lab's series by number. They are read again when a curve has a number that is not known yet; none is ever removed.
func (r *Reader) seriesNames(curves [][]line) (map[int64]Key, error) {
	known := r.names.Load()
	if known != nil && !slices.ContainsFunc(curves, func(c []line) bool { _, ok := (*known)[c[0].series]; return !ok }) {
		return *known, nil
	}
	rows, err := r.keysOf("")
	if err != nil {
		return nil, err
	}
	names := make(map[int64]Key, len(rows))
	for _, row := range rows {
		names[row.id] = row.Key
	}
	r.names.Store(&names)
	return names, nil
}

func compareKeys(a, b Key) int {
	return cmp.Or(cmp.Compare(a.Series, b.Series), cmp.Compare(a.Split, b.Split), cmp.Compare(a.Layer, b.Layer), cmp.Compare(a.Measure, b.Measure))
}

const selectValue = "SELECT s.series, s.split, s.layer, s.measure, v.step, v.value, coalesce(v.missing, '') "

// scanValue reads a row of selectValue.
func scanValue(scan func(...any) error) (Value, error) {
	var v Value
	var x sql.NullFloat64
	err := scan(&v.Series, &v.Split, &v.Layer, &v.Measure, &v.Step, &x, &v.Missing)
	v.Value, v.Missing = finite(x.Float64, v.Missing)
	_, err = withinBounds(v.Key, err)
	return v, err
}

// finite turns an infinite value, which labs of earlier versions may hold, into a missing one: JSON cannot express it otherwise.
func finite(x float64, missing string) (float64, string) {
	if math.IsInf(x, 0) {
		return 0, infinite
	}
	return x, missing
}

// Reasons given for values that are no finite numbers.
const (
	notANumber = "the value was not a number (NaN)"
	infinite   = "the value was infinite"
)

// Keys returns the series that a run has, sorted.
func (r *Reader) Keys(hash string) ([]Key, error) {
	// One index look-up per known name, rather than a scan of the run's values.
	return collect(r, func(scan func(...any) error) (k Key, err error) {
		return withinBounds(k, scan(&k.Series, &k.Split, &k.Layer, &k.Measure))
	}, `SELECT series, split, layer, measure FROM series s, (SELECT id FROM run WHERE hash = ?) r
		WHERE EXISTS (SELECT 1 FROM value v WHERE v.run = r.id AND v.series = s.id)
		ORDER BY series, split, layer, measure`, hash)
}

// Series returns one series of a run by step; empty if there is none.
func (r *Reader) Series(hash string, k Key) ([]Point, error) {
	return collect(r, func(scan func(...any) error) (Point, error) {
		var p Point
		var x sql.NullFloat64
		err := scan(&p.Step, &x, &p.Missing)
		p.Value, p.Missing = finite(x.Float64, p.Missing)
		return p, err
	}, `SELECT step, value, coalesce(missing, '') FROM value
		WHERE run = (SELECT id FROM run WHERE hash = ?)
		AND series = (SELECT id FROM series WHERE series = ? AND split = ? AND layer = ? AND measure = ?)
		ORDER BY step`, hash, k.Series, k.Split, k.Layer, k.Measure)
}

// seriesIDs returns the numbers of the rows' keys, adding keys that are new to the lab. These are also put into fresh, since they
// count only once tx is committed.
func (l *Lab) seriesIDs(tx *sql.Tx, rows []Value, fresh map[Key]int64) (ids []int64, err error) {
	ids = make([]int64, len(rows))
	n := naming{tx: tx}
	defer n.close()
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, row := range rows {
		id, ok := l.keys[row.Key]
		if !ok {
			id, ok = fresh[row.Key]
		}
		if !ok {
			if id, err = n.id(row.Key); err != nil {
				return nil, err
			}
			fresh[row.Key] = id
		}
		ids[i] = id
	}
	return ids, nil
}

// learn remembers keys that a committed transaction added.
func (l *Lab) learn(fresh map[Key]int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for k, id := range fresh {
		l.keys[k] = id
	}
}

// naming numbers keys in a transaction. A run's first epoch brings many, and its two statements take longer to parse than to run.
type naming struct {
	tx        *sql.Tx
	add, find *sql.Stmt
}

func (n *naming) id(k Key) (id int64, err error) {
	if _, err = withinBounds(k, nil); err != nil {
		return 0, err
	}
	if n.add == nil {
		n.add, err = n.tx.Prepare("INSERT INTO series (series, split, layer, measure) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING")
		if err != nil {
			return 0, err
		}
	}
	if n.find == nil {
		n.find, err = n.tx.Prepare("SELECT id FROM series WHERE series = ? AND split = ? AND layer = ? AND measure = ?")
		if err != nil {
			return 0, err
		}
	}
	if _, err = n.add.Exec(k.Series, k.Split, k.Layer, k.Measure); err != nil {
		return 0, err
	}
	err = n.find.QueryRow(k.Series, k.Split, k.Layer, k.Measure).Scan(&id)
	return id, err
}

func (n *naming) close() {
	for _, s := range []*sql.Stmt{n.add, n.find} {
		if s != nil {
			s.Close()
		}
	}
}

// chunk is how many rows one INSERT takes; more gains nothing, see BenchmarkAppendEpoch.
const chunk = 64

// row is one line of table value.
type row struct {
	run, series, step, epoch int64
	value, missing           any
}

// appendRows appends the rows of values whose keys have the given numbers.
func appendRows(to []row, run, epoch int64, values []Value, ids []int64) []row {
	for i, v := range values {
		value, missing := cell(v)
		to = append(to, row{run, ids[i], v.Step, epoch, value, missing})
	}
	return to
}

// insertRows writes rows in the order of the table, so that each page is touched once. If several have the same key and step, the last one stays.
func insertRows(tx *sql.Tx, rows []row) error {
	slices.SortStableFunc(rows, func(a, b row) int {
		return cmp.Or(cmp.Compare(a.run, b.run), cmp.Compare(a.series, b.series), cmp.Compare(a.step, b.step))
	})
	const columns = 6
	args := make([]any, 0, chunk*columns)
	var full *sql.Stmt
	for len(rows) > 0 {
		n := min(chunk, len(rows))
		args = args[:0]
		for _, r := range rows[:n] {
			args = append(args, r.run, r.series, r.step, r.epoch, r.value, r.missing)
		}
		query := insertQuery(n)
		var err error
		switch {
		case n < chunk:
			_, err = tx.Exec(query, args...)
		case full == nil:
			if full, err = tx.Prepare(query); err != nil {
				return err
			}
			defer full.Close()
			fallthrough
		default:
			_, err = full.Exec(args...)
		}
		if err != nil {
			return err
		}
		rows = rows[n:]
	}
	return nil
}

func insertQuery(n int) string {
	return "INSERT INTO value (run, series, step, epoch, value, missing) VALUES " +
		strings.Repeat("(?, ?, ?, ?, ?, ?), ", n-1) + "(?, ?, ?, ?, ?, ?)" +
		" ON CONFLICT DO UPDATE SET epoch = excluded.epoch, value = excluded.value, missing = excluded.missing"
}

// cell returns the columns value and missing of a row. A NaN, which SQLite would silently turn into NULL, and an infinite value
// become missing values with that as the reason.
func cell(v Value) (value, missing any) {
	switch {
	case v.Missing != "":
		return nil, v.Missing
	case math.IsNaN(v.Value):
		return nil, notANumber
	case math.IsInf(v.Value, 0):
		return nil, infinite
	}
	return v.Value, nil
}
