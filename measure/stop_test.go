package measure

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"collapse.example/collapse/internal/longtest"
	"collapse.example/collapse/parallel"
)

// countdown is a context that ends when it has been asked so many times. It counts on.
type countdown struct {
	context.Context
	left  atomic.Int64
	asked atomic.Int64
}

func newCountdown(left int64) *countdown {
	c := &countdown{Context: context.Background()}
	c.left.Store(left)
	return c
}

func (c *countdown) Err() error {
	c.asked.Add(1)
	if c.left.Add(-1) < 0 {
		return context.Canceled
	}
	return nil
}

// everySplit is an input that every measure has its part of.
func everySplit(n, d, k int) Input[float64] {
	in := gaussian[float64](n, d, k, .5, 1)
	test, ood := gaussian[float64](n/2+k, d, k, .5, 2), gaussian[float64](n/3+1, d, k, 2, 3)
	in.Test, in.OOD, in.TestClasses = test.Train, ood.Train.Features, k
	in.True = append([]int32(nil), in.Train.Labels...)
	for i := 0; i < len(in.True); i += 7 {
		in.True[i] = (in.True[i] + 1) % int32(k)
	}
	return in
}

// TestAMeasurementStopsWithItsContext ends the context at every stage of measurements of every form: each ends with its error and
// without a report. A context that does not end changes no bit.
func TestAMeasurementStopsWithItsContext(t *testing.T) {
	longtest.Only(t)
	everything := Options{Measures: []string{"all"}, KeepMeans: true, KeepMargins: true, KeepSpectrum: true, Uncertainty: true, Null: 3}
	most := everything
	most.Without = []string{KeyGNC2WMargin} // minutes under the race detector
	type shape struct{ n, d, k int }
	classForm := longtest.Of(shape{40, 32000, 33}, shape{1100, 1050, 1000}) // k·d above partialLimit
	for _, c := range []struct {
		name string
		in   Input[float64]
		opt  Options
		asks int64 // at least
	}{
		{"small", everySplit(120, 6, 5), everything, 300},
		{"many classes", everySplit(longtest.Of(140, 700), 3, longtest.Of(66, 300)), most, 200},
		{"wide", everySplit(longtest.Of(50, 300), longtest.Of(40, 120), longtest.Of(16, 100)), most, 300},
		{"class form", gaussian[float64](classForm.n, classForm.d, classForm.k, .5, 4), Options{Measures: []string{KeyNC2CosMax}}, 60},
		{"no finite rows to drop", everySplit(500, 40, 10), Options{DropNonFinite: true}, 50},
	} {
		want := bitsOf(mustMeasure(t, c.in, c.opt)) // which are those of any team
		for first, threads := range []int{0, 2} {
			var team *parallel.Team
			if threads > 0 {
				team = parallel.NewTeam(threads)
				defer team.Close()
			}
			opt := c.opt
			opt.Team = team
			whole := newCountdown(1 << 60)
			opt.Context = whole
			if got := bitsOf(mustMeasure(t, c.in, opt)); got != want {
				t.Errorf("%s, %d threads: a context changes bits", c.name, threads)
			}
			all := whole.asked.Load()
			if all < c.asks {
				t.Errorf("%s, %d threads: the context was asked %d times, want at least %d", c.name, threads, all, c.asks)
			}
			stride := longtest.Of[int64](2, 1) // in the share every other stage without a team, and the others with one
			for at := int64(first) % stride; at < 6; at += stride {
				end := newCountdown(all * at / 6)
				opt.Context = end
				r, err := Measure(c.in, opt)
				if !errors.Is(err, context.Canceled) || r != nil {
					t.Fatalf("%s, %d threads, ended after %d of %d looks: report %v, error %v", c.name, threads, all*at/6, all, r != nil, err)
				}
			}
		}
	}
}

func bitsOf(r *Report) string {
	var b strings.Builder
	writeBits(&b, "", r)
	return b.String()
}

// TestShardsStopWithTheirContext is the same of first and second passes over shards.
func TestShardsStopWithTheirContext(t *testing.T) {
	in := gaussian[float64](1500, 40, 20, .5, 1)
	m := momentsOf(t, in, true, 0, 1500)
	second, err := MeasureSecondPass(in, m, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for name, measured := range map[string]func(opt Options) (bool, error){
		"first pass": func(opt Options) (bool, error) {
			opt.Uncertainty, opt.Null = true, 3
			r, err := m.Report(in.W, in.B, opt)
			return r != nil, err
		},
		"second pass": func(opt Options) (bool, error) { s, err := MeasureSecondPass(in, m, opt); return s != nil, err },
		"both":        func(opt Options) (bool, error) { r, err := second.Report(m, in.W, in.B, opt); return r != nil, err },
	} {
		whole := newCountdown(1 << 60)
		if found, err := measured(Options{Context: whole}); err != nil || !found {
			t.Fatal(name, err)
		}
		for at := range int64(5) {
			if found, err := measured(Options{Context: newCountdown(whole.asked.Load() * at / 5)}); !errors.Is(err, context.Canceled) || found {
				t.Errorf("%s, ended at %d fifths: found %v, error %v", name, at, found, err)
			}
		}
	}
}

// TestAnEndedContextStopsManyClasses measures what would take minutes: it ends because its context does.
func TestAnEndedContextStopsManyClasses(t *testing.T) {
	const k = 60000
	h, labels := make([]float32, 2*k), make([]int32, 2*k)
	for i := range labels {
		labels[i], h[i] = int32(i%k), float32(i%k)+float32(i/k)/3
	}
	team := parallel.NewTeam(2)
	defer team.Close()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := Measure(Input[float32]{Train: Memory(h, 1, labels)}, Options{Context: ctx, Team: team, Measures: []string{"all"}, Uncertainty: true, Null: 1000})
		ended <- err
	}()
	time.AfterFunc(200*time.Millisecond, cancel)
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("it ended with %v", err)
	}
}

// TestTiesOfScoresAreCountedInOnePass compares with every pair, and counts ties of lists whose pairs nobody could visit.
func TestTiesOfScoresAreCountedInOnePass(t *testing.T) {
	known, unknown := []float64{-1, 0, 0, 0x1p-50, 1, 1}, []float64{-2, -0x1p-51, 0, 0, 0x1p-50, 1, 1 + 0x1p-49, 3}
	want := 0
	for _, v := range known {
		for _, w := range unknown {
			if v != w && w >= v-64*roundoff64*3 && w <= v+64*roundoff64*3 {
				want++
			}
		}
	}
	if got := nearTies(known, unknown) * float64(len(known)*len(unknown)); want == 0 || got != float64(want) {
		t.Errorf("%g near ties, want %d", got, want)
	}
	const many = 4 << 20
	if got := nearTies(make([]float64, many), make([]float64, many)); got != 0 {
		t.Errorf("%g of equal scores are near ties, want none", got)
	}
}

// TestManyClassesTakeLittleMemory measures 4,200 classes, or in the share half as many, in two dimensions, a file of a few hundred kilobytes: no table of all pairs is
// held, nor products of a block of rows with all classes more often than threads work on them.
func TestManyClassesTakeLittleMemory(t *testing.T) {
	longtest.Only(t)
	if testing.Short() {
		t.Skip("takes some seconds")
	}
	classes := longtest.Of(2100, 4200)
	in := gaussian[float32](2*classes, 2, classes, .5, 1)
	team := parallel.NewTeam(2)
	defer team.Close()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, err := Measure(in, Options{Team: team, KeepMargins: true, Null: 1}); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	most := longtest.Of[uint64](380, 700) // two or three tables of all pairs more than there are
	if all := (after.TotalAlloc - before.TotalAlloc) >> 20; all > most {
		t.Errorf("%d MiB were allocated, want at most %d", all, most)
	} else {
		t.Logf("%d MiB were allocated", all)
	}
}
