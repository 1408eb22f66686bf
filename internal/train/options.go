package train

import (
	"time"

	"collapse.example/collapse/data"
	"collapse.example/collapse/internal/engine"
	"collapse.example/collapse/internal/rundir"
	"collapse.example/collapse/measure"
	"collapse.example/collapse/parallel"
)

// Options say how a run is carried out. They do not affect its result.
type Options struct {
	Team  *parallel.Team // threads; nil: only the caller's goroutine
	Sink  Sink           // progress; nil: none
	Trace Trace
	// Features is given the training features, labels and classifier of each measured epoch, which the callee may keep; nil: nobody asks.
	Features          func(epoch int, in measure.Input[float64])
	Again             bool // compute a finished configuration anew instead of returning what the lab holds
	IgnoreMemory      bool // start even if the estimate exceeds free memory
	AllowKernelChange bool // resume under another kernel, GOARCH or GOAMD64; recorded in the run
	// Engines provides the processes that compute runs with run.engine = torch; nil: such runs are refused.
	Engines *engine.Pool
	// Ensemble lets runs of Engines be computed in one batch.
	Ensemble Ensemble
	// StartOver lets a run of Engines start from the beginning if its checkpoint is from another machine, instead of refusing it: in
	// studies that several machines compute, the next one may have another PyTorch.
	StartOver bool
	// From is the hash of a finished run of the lab that is the same except for fewer run.epochs: this run continues from its end,
	// with the same bits as without it. A run that does not qualify is ignored, with a note.
	From string
	// RowsElsewhere is the epoch up to which rows are in another lab, as a worker's are in the coordinator's: a checkpoint need not
	// find them here. A checkpoint whose rows are in neither lab is skipped.
	RowsElsewhere int

	// Measures are those of a run's checkpoints that Later measures; nil: those of every epoch.
	Measures []string

	Label string
	Tags  []string  // for people and filters, as in store.Spec
	FS    rundir.FS // nil: the operating system's files
	// Open reads or creates a data set; nil: data.Open. Programs that compute many runs on one set can return a shared copy.
	Open func(data.Source, data.Split) (*data.Set, error)
}

// Ensemble says how many runs may be computed in one batch, and with how many threads; the zero value: each run alone.
type Ensemble struct {
	Members, Threads int
	Exactly          bool // as many as Members, whatever the device and the network are

	before int // members beside which an earlier attempt was computed; 0: there was none
}

// Trace requests that the first steps of a run be written in full, so that another framework can repeat each of them. An empty Dir
// means no trace.
type Trace struct {
	Dir   string
	Steps []int64 // step numbers from 0, any order
}

// FirstSteps lists steps 0..n-1 for Trace.Steps.
func FirstSteps(n int) []int64 {
	s := make([]int64, n)
	for i := range s {
		s[i] = int64(i)
	}
	return s
}

// Sink receives the progress of a run. Calls come from the training goroutine, one at a time, and should return quickly.
type Sink interface {
	Started(Started)
	Step(StepDone)
	Epoch(EpochDone)
	// Note receives a line worth showing once: a permitted kernel change, a run that was already finished.
	Note(string)
}

// Started is sent once, before the first step.
type Started struct {
	Run           string // hash
	Dir           string // runs/<hash>
	Epochs        int
	StepsPerEpoch int
	FirstEpoch    int // the epoch that comes first now, above 1 for a resumed run
	TrainSamples  int
	TestSamples   int
	Parameters    int
	Memory        Footprint // estimate, not counting the images
	Kernel        string
	Threads       int
}

// StepDone is sent after each step, at most ten times a second. Epoch counts from 1.
type StepDone struct {
	Epoch, Step     int           // Step within the epoch, from 1
	Loss            float64       // mean over the epoch so far
	Accuracy        float64       // of the epoch so far, in [0,1], on observed labels, from the training passes
	ImagesPerSecond float64       // over the steps since the run started here
	Left            time.Duration // to the end of the run, measures included; 0 while unknown
}

// EpochDone is sent after an epoch and its measures, once its checkpoint and rows are safe.
type EpochDone struct {
	Epoch           int
	Measured        bool // the fields from TrainLoss on hold this epoch's values
	RunningLoss     float64
	RunningAccuracy float64
	TrainLoss       float64
	TrainAccuracy   float64
	TestLoss        float64
	TestAccuracy    float64
	NC1             float64 // pseudo-inverse form on the training features; NaN if it does not exist
	LR              float64
	ImagesPerSecond float64
	Left            time.Duration
}

// Result is what a run left behind, and the JSON document of `collapse train`.
type Result struct {
	Run         string             `json:"run"`          // hash
	Dir         string             `json:"dir"`          // runs/<hash> in the lab
	Epochs      int                `json:"epochs"`       // finished
	AlreadyDone bool               `json:"already_done"` // nothing was computed: the lab held this configuration
	Checkpoint  string             `json:"checkpoint"`   // folder of the last checkpoint
	Features    string             `json:"features"`     // features.npz
	Values      map[string]float64 `json:"values"`       // "split/measure", of a tapped layer "layer/split/measure" → value at the last measured epoch
}
