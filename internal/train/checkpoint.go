package train

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"collapse.example/collapse/arrayfile"
	"collapse.example/collapse/internal/inputfile"
	"collapse.example/collapse/internal/jail"
	"collapse.example/collapse/internal/rundir"
)

// state is state.json: everything that a run needs to continue, apart from the two files of tensors. It holds nothing that
// differs between two computations of one run, such as times, so that checkpoints can be compared byte for byte.
type state struct {
	Format  int                   `json:"format"` // stateFormat; 1 had no digest
	Digest  string                `json:"digest"` // of this file, computed without it; Files has those of the others
	Run     string                `json:"run"`    // the identity: hash of kind and configuration
	Epoch   int                   `json:"epoch"`  // finished epochs
	Step    int64                 `json:"step"`   // finished steps
	Loss    float64               `json:"loss"`   // of the last step
	Random  randomState           `json:"random"`
	Version string                `json:"version"`
	Machine Machine               `json:"machine"`           // that computed the last epoch
	Changes []change              `json:"changes,omitempty"` // machines allowed by --allow-kernel-change
	Files   map[string]rundir.Sum `json:"files"`
	Rows    []row                 `json:"rows"`            // of this epoch: a kill between rename and transaction must not lose them
	Start   []row                 `json:"start,omitempty"` // of epoch 0, with the rows of epoch 1
}

// stateFormat is the format that this program writes. It also reads 1, which had no digest.
const stateFormat = 2

// randomState is enough to continue every random stream: streams are keyed by (seed, epoch, sample), none has a position.
type randomState struct {
	Seed      uint64 `json:"seed"`
	NoiseSeed uint64 `json:"noise_seed"`
	NextEpoch int    `json:"next_epoch"`
}

// change records that a run continued on another machine.
type change struct {
	AfterEpoch int     `json:"after_epoch"`
	From       Machine `json:"from"`
	To         Machine `json:"to"`
}

// row is one number of an epoch, or why there is none.
type row struct {
	Split   string  `json:"split"`
	Layer   string  `json:"layer,omitempty"` // "" for the features
	Measure string  `json:"measure"`
	Value   float64 `json:"value"`
	Missing string  `json:"missing,omitempty"`
}

// checkpoints are the checkpoints of a run.
type checkpoints struct {
	rundir.Writer
	run  string
	keep keepRule
}

// save makes a checkpoint durable; state.json has the digests of the other two files.
func (c *checkpoints) save(st state, model, optim []arrayfile.Array) error {
	err := c.WriteCheckpoint(st.Epoch, model, optim, func(sums map[string]rundir.Sum) ([]byte, error) {
		st.Files = sums
		return st.encode()
	})
	if err != nil {
		return fmt.Errorf("train: %w", err)
	}
	return nil
}

// prune removes checkpoints that the rule does not keep, once the checkpoint of epoch is safe: all before it except one and the
// multiples of keep.every, and all after it, which newest skipped as broken.
func (c *checkpoints) prune(epoch int) error {
	list, err := c.Checkpoints()
	if err != nil {
		return err
	}
	at := slices.Index(list, epoch)
	for i, e := range list {
		if i == at || i == at-1 || e < epoch && c.keep.keeps(e) {
			continue
		}
		if err := c.RemoveCheckpoint(e); err != nil {
			return fmt.Errorf("train: removing an old checkpoint: %w", err)
		}
	}
	return nil
}

// CheckFolder returns an error unless dir has the files of a finished run with the given epochs: the last checkpoint, checked by the
// digest of its state and the sizes of the others, and the features.
func CheckFolder(dir, run string, epochs int) error {
	c := &checkpoints{Writer: rundir.Dir(dir).Writer(nil), run: run}
	st, err := c.readState(epochs)
	if err != nil {
		return fmt.Errorf("train: checkpoint %d: %w", epochs, err)
	}
	for _, name := range []string{rundir.Model, rundir.Optim} {
		info, err := os.Stat(filepath.Join(c.Checkpoint(epochs), name))
		if err != nil {
			return fmt.Errorf("train: checkpoint %d: %w", epochs, err)
		}
		if info.Size() != st.Files[name].Bytes {
			return fmt.Errorf("train: checkpoint %d: %s has %d bytes, wanted %d", epochs, name, info.Size(), st.Files[name].Bytes)
		}
	}
	for _, path := range []string{c.FinalFeatures(), c.Config()} {
		if _, err := os.Stat(path); err != nil {
			return fmt.Errorf("train: %w", err)
		}
	}
	return nil
}

// saved is a checkpoint read back. Its arrays hold the files' bytes.
type saved struct {
	state        state
	model, optim []arrayfile.Array
}

// newest returns the newest checkpoint of an epoch up to last whose digests match, or nil, and what was wrong with those that it
// skipped. Skipped ones stay until a new checkpoint is safe: they may be unreadable only for now.
func (c *checkpoints) newest(last int) (*saved, []string, error) {
	list, err := c.Checkpoints()
	if err != nil {
		return nil, nil, err
	}
	var notes []string
	for _, epoch := range slices.Backward(list) {
		if epoch > last {
			continue
		}
		s, err := c.read(epoch)
		if err == nil {
			return s, notes, nil
		}
		notes = append(notes, fmt.Sprintf("checkpoint %d is damaged or incomplete and is skipped: %v", epoch, err))
	}
	return nil, notes, nil
}

func (c *checkpoints) read(epoch int) (*saved, error) {
	if err := jail.Check(string(c.Dir)); err != nil {
		return nil, err
	}
	st, err := c.readState(epoch)
	if err != nil {
		return nil, err
	}
	s := &saved{state: st}
	if s.model, err = c.readArrays(epoch, rundir.Model, st.Files); err != nil {
		return nil, err
	}
	s.optim, err = c.readArrays(epoch, rundir.Optim, st.Files)
	return s, err
}

func (c *checkpoints) readState(epoch int) (state, error) {
	text, err := inputfile.Read(filepath.Join(c.Checkpoint(epoch), rundir.State), inputfile.Record)
	if err != nil {
		return state{}, err
	}
	st, err := decodeState(text)
	switch {
	case err != nil:
		return st, err
	case st.Run != c.run:
		return st, fmt.Errorf("%s belongs to run %s", rundir.State, short(st.Run))
	case st.Epoch != epoch:
		return st, fmt.Errorf("%s is of epoch %d", rundir.State, st.Epoch)
	}
	return st, nil
}

func (c *checkpoints) readArrays(epoch int, name string, sums map[string]rundir.Sum) ([]arrayfile.Array, error) {
	b, err := inputfile.Read(filepath.Join(c.Checkpoint(epoch), name), sums[name].Bytes)
	if err != nil {
		return nil, err
	}
	if sum := sha256.Sum256(b); hex.EncodeToString(sum[:]) != sums[name].SHA256 {
		return nil, fmt.Errorf("%s: its content (%d bytes) is not what was written (%d bytes): the digests differ", name, len(b), sums[name].Bytes)
	}
	arrays, _, err := arrayfile.ParseSafetensors(b)
	return arrays, err
}
