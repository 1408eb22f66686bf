package train

import (
	"time"

	"collapse/data"
	"collapse/internal/engine"
	"collapse/internal/rundir"
	"collapse/parallel"
)

// Options is how a run is carried out. Nothing here changes its result.
type Options struct {
	Team              *parallel.Team // threads; nil: the caller's goroutine alone
	Sink              Sink           // progress; nil: none
	Trace             Trace
	Again             bool // compute a finished configuration anew instead of returning what the lab holds
	IgnoreMemory      bool // start though the estimate is above what is free
	AllowKernelChange bool // resume under another kernel, GOARCH or GOAMD64; recorded in the run
	// Engines has the processes that compute runs of run.engine = torch; nil: such runs are refused.
	Engines *engine.Pool
	// StartOver has a run of Engines whose checkpoint is another machine's start at its beginning, where it would be refused: in studies
	// that several machines compute, the next one may have another PyTorch.
	StartOver bool
	// From is the hash of a finished run of the lab that is the same but for fewer run.epochs: this one goes on from its end, with
	// the bits it would have without. Anything that is not so is passed over and noted.
	From string
	// RowsElsewhere says that rows of epochs up to this one are in another lab, as a worker's are in the coordinator's: a checkpoint
	// need not find them here. A checkpoint whose rows are nowhere is passed over.
	RowsElsewhere int

	Label string
	Tags  []string  // for people and filters, as in store.Spec
	FS    rundir.FS // nil: the operating system's files
	// Open reads or makes a data set; nil: data.Open. Programs that compute many runs on one set may hand out a copy they hold.
	Open func(data.Source, data.Split) (*data.Set, error)
}

// Trace asks for the first steps of a run to be written whole, so that another framework can repeat each of them. An empty Dir
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

// Sink is told how a run goes. Calls come from the training goroutine, one at a time, and should return quickly.
type Sink interface {
	Started(Started)
	Step(StepDone)
	Epoch(EpochDone)
	// Note is a line worth showing once: a kernel change that was allowed, a run that was already finished.
	Note(string)
}

// Started comes once, before the first step.
type Started struct {
	Run           string // hash
	Dir           string // runs/<hash>
	Epochs        int
	StepsPerEpoch int
	FirstEpoch    int // the epoch that comes first now, above 1 for a resumed run
	TrainSamples  int
	TestSamples   int
	Parameters    int
	Memory        Footprint // estimate, beside the images
	Kernel        string
	Threads       int
}

// StepDone comes after each step, at most ten times a second. Epoch counts from 1.
type StepDone struct {
	Epoch, Step     int           // Step within the epoch, from 1
	Loss            float64       // mean of the epoch so far
	Accuracy        float64       // of the epoch so far, in [0,1], on observed labels, from the training passes
	ImagesPerSecond float64       // over the steps since the run started here
	Left            time.Duration // to the end of the run, measures included; 0 while unknown
}

// EpochDone comes after an epoch and its measures, once its checkpoint and rows are safe.
type EpochDone struct {
	Epoch           int
	Measured        bool // the fields from TrainLoss on hold this epoch's values
	RunningLoss     float64
	RunningAccuracy float64
	TrainLoss       float64
	TrainAccuracy   float64
	TestLoss        float64
	TestAccuracy    float64
	NC1             float64 // pseudo-inverse form on the training features; NaN when it does not exist
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
