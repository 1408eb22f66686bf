package script

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"collapse.example/collapse/internal/rundir"
)

// Names in a workspace.
const (
	runFile       = "run.json"
	eventsFile    = "events.jsonl"
	heartbeatFile = "heartbeat"
	capturesDir   = "captures"
)

// contract is the format of run.json and of the events.
const contract = "collapse-script 1"

// runInfo is run.json: what a script is told. docs/trainers.md describes it.
type runInfo struct {
	Format     string         `json:"format"`
	Run        string         `json:"run"`
	Generation int64          `json:"generation"`
	Settings   map[string]any `json:"settings"`
	Seed       *uint64        `json:"seed"`
	Epochs     int            `json:"epochs"`
	Horizon    int            `json:"horizon"`
	FromEpoch  int            `json:"from_epoch"`
	Checkpoint string         `json:"checkpoint,omitempty"` // folder; "" at the start
	Dir        string         `json:"dir"`                  // the run's folder; its ckpt/ receives checkpoints
	Events     string         `json:"events"`
	Heartbeat  string         `json:"heartbeat"`
	Captures   string         `json:"captures"`
	Threads    int            `json:"threads"`
	Device     string         `json:"device"` // CUDA_VISIBLE_DEVICES, "" if it is not set
}

// workspace is the folder through which one attempt of a script communicates with the lab. Each attempt has its own, so that
// anything an earlier attempt still writes is ignored.
type workspace struct {
	dir    string
	real   string // dir with links resolved
	events *os.File
}

// newWorkspace creates the workspace of a generation, and removes those of earlier ones.
func newWorkspace(run rundir.Dir, generation int64) (*workspace, error) {
	if err := os.RemoveAll(run.Workspaces()); err != nil {
		return nil, fmt.Errorf("script: %w", err)
	}
	dir, err := filepath.Abs(filepath.Join(run.Workspaces(), strconv.FormatInt(generation, 10)))
	if err != nil {
		return nil, fmt.Errorf("script: %w", err)
	}
	w := &workspace{dir: dir}
	if err := os.MkdirAll(filepath.Join(dir, capturesDir), 0o777); err != nil {
		return nil, fmt.Errorf("script: %w", err)
	}
	if w.events, err = os.Create(w.path(eventsFile)); err == nil {
		w.real, err = filepath.EvalSymlinks(dir)
	}
	if err == nil {
		err = w.beat()
	}
	if err != nil {
		w.close()
		return nil, fmt.Errorf("script: %w", err)
	}
	return w, nil
}

func (w *workspace) path(name string) string { return filepath.Join(w.dir, name) }

// tell writes run.json.
func (w *workspace) tell(info runInfo) error {
	text, err := json.MarshalIndent(info, "", " ")
	if err != nil {
		return fmt.Errorf("script: %w", err)
	}
	err = rundir.ReplaceFile(rundir.System{}, w.path(runFile), func(to io.Writer) error {
		_, err := to.Write(append(text, '\n'))
		return err
	})
	if err != nil {
		return fmt.Errorf("script: %w", err)
	}
	return nil
}

// beatEvery is how often the heartbeat file shows that the lab is alive. A script takes the lab for dead after a minute without a heartbeat.
const beatEvery = 2 * time.Second

// beat creates the heartbeat file, or updates its time.
func (w *workspace) beat() error {
	return os.WriteFile(w.path(heartbeatFile), []byte(time.Now().UTC().Format(time.RFC3339)+"\n"), 0o666)
}

// keepBeating updates the heartbeat until stop is called or lost is closed. An update that fails, as on a full disk, is tried again.
func (w *workspace) keepBeating(lost <-chan struct{}) (stop func()) {
	quit, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(beatEvery)
		defer tick.Stop()
		for {
			select {
			case <-quit:
				return
			case <-lost:
				return
			case <-tick.C:
				w.beat()
			}
		}
	}()
	return func() { close(quit); <-ended }
}

func (w *workspace) close() {
	if w.events != nil {
		w.events.Close()
	}
}

// remove removes the workspace. If this process is killed meanwhile, the next attempt removes the rest.
func (w *workspace) remove(run rundir.Dir) error {
	w.close()
	if err := os.RemoveAll(run.Workspaces()); err != nil {
		return fmt.Errorf("script: %w", err)
	}
	return nil
}

// environment is the environment of a script: that of this process, the location of the run, and the few values that scripts without JSON need.
func (i runInfo) environment(run string) []string {
	env := append(os.Environ(), "COLLAPSE_RUN="+run, "COLLAPSE_EVENTS="+i.Events, "COLLAPSE_DIR="+i.Dir,
		fmt.Sprintf("COLLAPSE_GENERATION=%d", i.Generation), fmt.Sprintf("COLLAPSE_EPOCHS=%d", i.Epochs), fmt.Sprintf("COLLAPSE_FROM_EPOCH=%d", i.FromEpoch))
	if os.Getenv("OMP_NUM_THREADS") == "" { // otherwise each of several runs side by side would use all processors
		env = append(env, fmt.Sprintf("OMP_NUM_THREADS=%d", i.Threads))
	}
	return env
}
