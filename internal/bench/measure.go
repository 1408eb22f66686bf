package bench

import (
	"errors"
	"fmt"
	"math"
	"os"
	"runtime/debug"
	"slices"
	"unsafe"

	"github.com/edsrzf/mmap-go"

	"collapse.example/collapse/internal/kernel/isa"
	"collapse.example/collapse/internal/kernel/memory"
	"collapse.example/collapse/measure"
	"collapse.example/collapse/parallel"
)

// MeasureResult says what measuring generated features takes: some measures, by default the default ones, of N×d float32 features in
// K classes with a classifier, from a mapped file in the page cache.
type MeasureResult struct {
	N       int     `json:"n"`
	D       int     `json:"d"`
	K       int     `json:"k"`
	Spread  float64 `json:"spread"` // of the generated features around their class means, relative to means of size 1
	Threads int     `json:"threads"`

	Seconds   float64         `json:"seconds"`                // best of Runs
	Runs      int             `json:"runs"`                   // timed measurements
	Pass1GBs  float64         `json:"pass1_gb_s"`             // reading speed of the first pass, 10⁹ bytes per second, best of Runs
	ReadGBs   float64         `json:"read_gb_s"`              // speed of only reading the features
	Pass1     float64         `json:"pass1_fraction_of_read"` // of the same run; median of Runs
	RSSMB     float64         `json:"rss_mb"`                 // peak resident size minus the mapped file, in MB (2²⁰ bytes)
	NC1       float64         `json:"nc1_fraction_of_peak"`   // 2·N·d·min(K−1, d/2) operations divided by the time of NC1's products; 0 if the products were not timed separately
	FMAAll    float64         `json:"fma_gflops_all"`
	Breakdown []measure.Phase `json:"breakdown"` // of the best run
	Kernel    string          `json:"kernel"`
}

// Collapsed is a spread at which bounds decide nearly every sample; from 1 on they decide hardly any.
const Collapsed = .05

// Measurements shorter than slowSeconds are repeated, at least leastRuns times and for leastSeconds: the passes of a small one take
// only a few milliseconds, so that other load on the machine would show.
const (
	slowSeconds  = 2
	leastRuns    = 5
	leastSeconds = 0.5
)

// Measure generates features (class mean + small noise), writes them to a temporary file and measures them as opt says, whose team
// is not used. It checks the result: NC1, if measured, must match the generated noise.
func Measure(n, d, k int, spread float64, threads int, opt measure.Options) (r MeasureResult, err error) {
	if k < 2 || d < 2 || n < 2*k {
		return r, fmt.Errorf("bench: n=%d d=%d k=%d: want at least two classes, two features and two samples of each class", n, d, k)
	}
	if !(spread > 0 && spread < 1e3) {
		return r, fmt.Errorf("bench: spread %g: want a positive number below 1000", spread)
	}
	team := parallel.NewTeam(threads)
	defer team.Close()
	r = MeasureResult{N: n, D: d, K: k, Spread: spread, Threads: team.Threads(), Kernel: isa.Name()}
	made := newMade(n, d, k, float32(spread))
	file, err := made.write(team)
	if err != nil {
		return r, fmt.Errorf("bench: made features: %w; set TMPDIR to a directory with room", err)
	}
	defer func() { err = errors.Join(err, discard(file)) }()
	mapping, err := mmap.Map(file, mmap.RDONLY, 0)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, mapping.Unmap()) }()
	h := unsafe.Slice((*float32)(unsafe.Pointer(unsafe.SliceData(mapping))), n*d)
	limit := newLoop[float32](team)
	if err := r.time(team, made.input(h), h, limit, opt); err != nil {
		return r, err
	}
	limit.sample()
	r.FMAAll = limit.best
	r.rates()
	return r, nil
}

// time measures in, whose features are h, once, and again if that was quick; each time it also times only reading h.
func (r *MeasureResult) time(team *parallel.Team, in measure.Input[float32], h []float32, limit *loop[float32], opt measure.Options) error {
	opt.Team = team
	debug.FreeOSMemory()
	resident := watchResident(4 * r.N * r.D)
	defer func() { r.RSSMB = resident.stop() }()
	var fractions []float64
	for spent := 0.0; r.Runs < leastRuns || spent < leastSeconds; {
		e, err := measure.NewEngine[float32](opt)
		if err != nil {
			return err
		}
		limit.sample()
		var report *measure.Report
		took := timed(func() { report, err = e.Measure(in) }).Seconds()
		if err != nil {
			return err
		}
		if err := checkMade(report, r.Spread); err != nil {
			return err
		}
		if r.Runs == 0 || took < r.Seconds {
			r.Seconds, r.Breakdown = took, e.Phases()
		}
		pass1, read := 4*float64(r.N)*float64(r.D)/seconds(e.Phases(), measure.PhaseFirst)/1e9, rereadRate(team, h)
		r.Pass1GBs, r.ReadGBs = max(r.Pass1GBs, pass1), max(r.ReadGBs, read)
		fractions = append(fractions, pass1/read)
		r.Runs++
		spent += took
		if took > slowSeconds {
			break
		}
	}
	slices.Sort(fractions)
	r.Pass1 = fractions[len(fractions)/2]
	return nil
}

// seconds returns the time of a phase, 0 if it was not entered.
func seconds(phases []measure.Phase, name string) float64 {
	for _, p := range phases {
		if p.Name == name {
			return p.Seconds
		}
	}
	return 0
}

// rates compares the result with the limits.
func (r *MeasureResult) rates() {
	if s := seconds(r.Breakdown, measure.PhaseProducts); s > 0 {
		products := float64(r.N) * float64(r.D) * min(float64(r.K-1), float64(r.D)/2)
		r.NC1 = 2 * products / s / 1e9 / r.FMAAll
	}
}

// rereadRate returns how fast the team reads h, in 10⁹ bytes per second. h has been read before.
func rereadRate(team *parallel.Team, h []float32) float64 {
	task := &sumTask{values: h}
	return giga(4*float64(len(h)), timed(func() { team.Do((len(h)+readPart/4-1)/(readPart/4), task) }))
}

// sumTask reads values, readPart bytes per part.
type sumTask struct{ values []float32 }

// Run reads one part.
func (t *sumTask) Run(part int) {
	const n = readPart / 4
	memory.Sum(t.values[part*n : min((part+1)*n, len(t.values))])
}

// made are generated features of K classes: a mean in [−1,1]^d and noise in spread·[−1,1]^d around it.
type made struct {
	n, d, k int
	spread  float32
	labels  []int32
	means   []float32 // (K×d)
	file    *os.File
	errs    []error
}

func newMade(n, d, k int, spread float32) *made {
	m := &made{n: n, d: d, k: k, spread: spread, labels: make([]int32, n), means: make([]float32, k*d)}
	for i := range m.labels {
		m.labels[i] = int32((i + i/k*7) % k)
	}
	state := uint64(1)
	for i := range m.means {
		m.means[i] = uniform(&state)
	}
	return m
}

// uniform returns the next number in [−1,1) of a splitmix64 stream.
func uniform(state *uint64) float32 {
	*state += 0x9e3779b97f4a7c15
	z := *state
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return float32(int32(z>>32)) * 0x1p-31
}

const madeRows = 512 // per part

// write writes the features to a temporary file, which the caller discards.
func (m *made) write(team *parallel.Team) (*os.File, error) {
	f, err := temporary()
	if err != nil {
		return nil, err
	}
	parts := (m.n + madeRows - 1) / madeRows
	m.file, m.errs = f, make([]error, parts)
	team.Do(parts, m)
	if err := errors.Join(m.errs...); err != nil {
		return nil, errors.Join(err, discard(f))
	}
	if err := f.Sync(); err != nil { // write-back would slow down what is timed
		return nil, errors.Join(err, discard(f))
	}
	return f, nil
}

// Run writes one part.
func (m *made) Run(part int) {
	from, to := part*madeRows, min((part+1)*madeRows, m.n)
	rows := make([]float32, (to-from)*m.d)
	state := uint64(part) << 40
	for i := range rows {
		c := int(m.labels[from+i/m.d])
		rows[i] = m.means[c*m.d+i%m.d] + m.spread*uniform(&state)
	}
	_, m.errs[part] = m.file.WriteAt(unsafe.Slice((*byte)(unsafe.Pointer(&rows[0])), 4*len(rows)), int64(4*from*m.d))
}

func (m *made) input(h []float32) measure.Input[float32] {
	w := make([]float64, len(m.means))
	for i, x := range m.means {
		w[i] = float64(x)
	}
	return measure.Input[float32]{Classes: m.k, Train: measure.Memory(h, m.d, m.labels), W: w}
}

// checkMade compares tr Σ_W / tr Σ_B with the ratio of the generated variances, spread² (1 − 1/n_k) divided by 1 − 1/K.
func checkMade(r *measure.Report, spread float64) error {
	n, k := float64(r.N), float64(r.K)
	within, between := spread*spread*(1-k/n), (1-1/k)*(1+spread*spread*k/n)
	got, measured := r.Measures.Get(measure.KeyNC1TraceRatio)
	if !measured {
		return nil
	}
	want := within / between
	freedom := 4 / math.Sqrt(k*float64(r.D)) // four standard deviations of a variance of K·d numbers, roughly
	if pinv, both := r.Measures.Get(measure.KeyNC1Pinv); !(math.Abs(got-want) <= freedom*want) || both && !(pinv > 0) {
		return fmt.Errorf("bench: %s of the made features is %g, want %g ± %.0f %%", measure.KeyNC1TraceRatio, got, want, 100*freedom)
	}
	return nil
}
