package train

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"collapse.example/collapse/internal/rundir"
	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/parallel"
)

func fuzzMust(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// FuzzState reads bytes as state.json. A state that can be read is the same after it is written and read back.
func FuzzState(f *testing.F) {
	st := state{Format: stateFormat, Run: "ab", Epoch: 2, Step: 7, Loss: 0.25, Machine: ThisMachine(), Changes: []change{{AfterEpoch: 1}},
		Files: map[string]rundir.Sum{rundir.Model: {Bytes: 3, SHA256: "cd"}}, Rows: []row{number("test", "loss", 1.5), {Measure: "nc1", Missing: "no inverse"}}}
	text, err := st.encode()
	fuzzMust(f, err)
	f.Add(text)
	f.Add(bytes.Replace(text, []byte(`"format": 2`), []byte(`"format": 1`), 1))
	f.Add([]byte(`{"format": 1}`))
	f.Add([]byte(`{"format": 2, "digest": "", "files": null}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		read, err := decodeState(text)
		if err == nil && read.Format != 1 && read.Format != stateFormat {
			t.Fatalf("format %d", read.Format)
		}
		var st state
		if json.Unmarshal(text, &st) != nil {
			if err == nil {
				t.Fatal("what is not JSON is a state")
			}
			return
		}
		st.Format = stateFormat
		written, err := st.encode()
		fuzzMust(t, err)
		back, err := decodeState(written)
		fuzzMust(t, err)
		st.Digest, back.Digest = "", ""
		if !reflect.DeepEqual(back, st) {
			t.Fatalf("%+v\nbecomes\n%+v", st, back)
		}
	})
}

// stopped is a run that was stopped after stoppedAt epochs, with everything needed to continue it, or to try that with files that a fuzz test has changed.
type stopped struct {
	lab   *store.Lab
	run   store.Run
	job   *job[float32]
	files map[string][]byte // as they were
}

const stoppedAt = 5

// newStopped makes the smallest run that has everything: an input of the fuzz tests costs what its files cost to write and to check.
func newStopped(f testing.TB) *stopped {
	f.Helper()
	c := tinyConfig()
	c.Net.Depth, c.Net.Width = 1, 2
	c.Data.SamplesPerClass, c.Data.TestSamplesPerClass = 4, 2
	c.Run.Epochs, c.Run.Batch, c.Run.SaveFeatures = stoppedAt+1, 8, "3"
	c.Run.MeasureEvery = 3
	lab, err := store.Open(f.TempDir(), store.Options{})
	fuzzMust(f, err)
	f.Cleanup(func() { lab.Close() })
	ctx, cancel := context.WithCancel(context.Background())
	r, err := Run(ctx, c, lab, Options{Sink: &stopAfter{epochs: stoppedAt, cancel: cancel}, Open: openOnce})
	if !errors.Is(err, context.Canceled) {
		f.Fatal(err)
	}
	s := &stopped{lab: lab, files: map[string][]byte{}}
	s.run, err = lab.Run(r.Run)
	fuzzMust(f, err)
	fuzzMust(f, filepath.Walk(r.Dir, func(path string, info os.FileInfo, err error) error {
		if err != nil || info.IsDir() {
			return err
		}
		s.files[path], err = os.ReadFile(path)
		return err
	}))
	team := parallel.NewTeam(1)
	f.Cleanup(team.Close)
	session := tinySession[float32](f, c, team)
	lease, _, err := lab.Lease(store.Spec{Kind: s.run.Kind, Config: s.run.Config, Program: ThisProgram()})
	fuzzMust(f, err)
	s.job = newJob(session, lab, lease, Options{Team: team})
	return s
}

// with has f examine the run while a file has other bytes.
func (s *stopped) with(t *testing.T, path string, b []byte, f func()) {
	fuzzMust(t, os.WriteFile(path, b, 0o666))
	defer func() { fuzzMust(t, os.WriteFile(path, s.files[path], 0o666)) }()
	f()
}

func (s *stopped) ckpt(name string) string {
	return filepath.Join(s.job.ckpt.Checkpoint(stoppedAt), name)
}

// signed is the state of the checkpoint after a change, with a digest that fits.
func (s *stopped) signed(t *testing.T, change func(*state)) []byte {
	st, err := decodeState(s.files[s.ckpt(rundir.State)])
	fuzzMust(t, err)
	change(&st)
	text, err := st.encode()
	fuzzMust(t, err)
	return text
}

// FuzzRestore continues from a checkpoint in which one file has other bytes, with matching digests, as an attacker would write them.
func FuzzRestore(f *testing.F) {
	s := newStopped(f)
	for i, name := range []string{rundir.Model, rundir.Optim, rundir.State} {
		f.Add(byte(i), s.files[s.ckpt(name)])
	}
	f.Add(byte(2), []byte(`{"step": -1, "loss": 1e300, "rows": [{"measure": "lr", "value": 1}, {"measure": "lr", "missing": "twice"}, {}]}`))
	f.Fuzz(func(t *testing.T, which byte, b []byte) {
		name := []string{rundir.Model, rundir.Optim, rundir.State}[which%3]
		text := s.signed(t, func(st *state) {
			sum := sha256.Sum256(b)
			st.Files[name] = rundir.Sum{Bytes: int64(len(b)), SHA256: hex.EncodeToString(sum[:])}
		})
		if name == rundir.State {
			text = b
			var st state
			if json.Unmarshal(b, &st) == nil {
				text = s.signed(t, func(whole *state) {
					st.Format, st.Run, st.Epoch, st.Machine, st.Files = whole.Format, whole.Run, whole.Epoch, whole.Machine, whole.Files
					*whole = st
				})
			}
			b = text
		}
		s.with(t, s.ckpt(rundir.State), text, func() {
			s.with(t, s.ckpt(name), b, func() {
				if name == rundir.State { // its rows go to the lab
					s.job.safe = 0
					if err := s.job.restore(); err == nil && (s.job.safe < 0 || s.job.safe > stoppedAt) {
						t.Errorf("goes on from epoch %d", s.job.safe)
					}
					return
				}
				if saved, err := s.job.ckpt.read(stoppedAt); err == nil {
					net := nativeOf(s.job.s)
					loadModel(net.net, saved.model)
					loadOptim(net.opt, saved.optim)
				}
			})
		})
	})
}

// FuzzInspect inspects a run's folder in which one file has other bytes, as if the run were done.
func FuzzInspect(f *testing.F) {
	s := newStopped(f)
	var paths []string
	for path := range s.files {
		paths = append(paths, path)
	}
	slices.Sort(paths)
	for i, path := range paths {
		f.Add(byte(i), s.files[path])
	}
	f.Fuzz(func(t *testing.T, which byte, b []byte) {
		s.with(t, paths[int(which)%len(paths)], b, func() {
			i, err := newInspector(s.lab.Reader, s.run)
			fuzzMust(t, err)
			fuzzMust(t, i.checkpoints())
			files, err := i.files(stoppedAt)
			fuzzMust(t, err)
			i.choose(stoppedAt+1, files)
			i.finished()
			if i.From < 0 || i.From > stoppedAt || len(i.Wrong) == 0 { // it has no last checkpoint
				t.Errorf("%+v", i.Inspection)
			}
		})
	})
}
