package train

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"collapse/arrayfile"
	"collapse/internal/inputfile"
)

// Names inside a checkpoint's folder.
const (
	modelFile = "model.safetensors"
	optimFile = "optim.safetensors"
	stateFile = "state.json"
)

// state is state.json: all that a run needs to go on besides the two files of tensors. It holds nothing that differs between
// two computations of one run, such as times, so that checkpoints can be compared byte for byte.
type state struct {
	Format  int                `json:"format"` // stateFormat; 1 had no digest
	Digest  string             `json:"digest"` // of this file without it; Files has those of the others
	Run     string             `json:"run"`    // the identity: hash of kind and configuration
	Epoch   int                `json:"epoch"`  // finished epochs
	Step    int64              `json:"step"`   // finished steps
	Loss    float64            `json:"loss"`   // of the last step
	Random  randomState        `json:"random"`
	Version string             `json:"version"`
	Machine Machine            `json:"machine"`           // that computed the last epoch
	Changes []change           `json:"changes,omitempty"` // machines allowed by --allow-kernel-change
	Files   map[string]fileSum `json:"files"`
	Rows    []row              `json:"rows"` // of this epoch: a kill between rename and transaction must not lose them
}

// stateFormat is what this program writes. It reads 1, too, which had no digest.
const stateFormat = 2

// randomState is enough to continue every random stream: they are keyed by (seed, epoch, sample), none has a position.
type randomState struct {
	Seed      uint64 `json:"seed"`
	NoiseSeed uint64 `json:"noise_seed"`
	NextEpoch int    `json:"next_epoch"`
}

// change records that a run went on under another machine.
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

// checkpoints is the folder ckpt of a run.
type checkpoints struct {
	fs   FS
	dir  string
	run  string
	keep keepRule
}

func (c *checkpoints) path(epoch int) string { return filepath.Join(c.dir, strconv.Itoa(epoch)) }

// save makes a checkpoint durable: files are written to .tmp and synced, then the folder is renamed, then its parent synced. Until
// the rename nothing but .tmp is touched, so a failure at any call leaves every earlier checkpoint whole.
func (c *checkpoints) save(st state, model, optim []arrayfile.Array) error {
	tmp := filepath.Join(c.dir, ".tmp")
	if err := c.fs.RemoveAll(tmp); err != nil {
		return fmt.Errorf("train: clearing %s: %w", tmp, err)
	}
	if err := c.fs.MkdirAll(tmp); err != nil {
		return fmt.Errorf("train: making %s: %w", tmp, err)
	}
	if err := c.fill(tmp, st, model, optim); err != nil {
		return errors.Join(err, c.fs.RemoveAll(tmp)) // on a full disk its space is needed
	}
	// What newest passed over may still have the name.
	if err := c.fs.RemoveAll(c.path(st.Epoch)); err != nil {
		return fmt.Errorf("train: removing a broken checkpoint: %w", err)
	}
	if err := c.fs.Rename(tmp, c.path(st.Epoch)); err != nil {
		return fmt.Errorf("train: %w", err)
	}
	if err := c.fs.SyncDir(c.dir); err != nil {
		return fmt.Errorf("train: syncing %s: %w", c.dir, err)
	}
	return nil
}

// fill writes the three files, state.json last because it holds the others' digests.
func (c *checkpoints) fill(tmp string, st state, model, optim []arrayfile.Array) error {
	st.Files = map[string]fileSum{}
	for i, name := range []string{modelFile, optimFile} {
		arrays := [][]arrayfile.Array{model, optim}[i]
		sum, err := writeSynced(c.fs, filepath.Join(tmp, name), func(w io.Writer) error {
			return arrayfile.WriteSafetensors(w, arrays, map[string]string{"format": "pt"})
		})
		if err != nil {
			return err
		}
		st.Files[name] = sum
	}
	text, err := st.encode()
	if err != nil {
		return err
	}
	_, err = writeSynced(c.fs, filepath.Join(tmp, stateFile), func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	})
	if err != nil {
		return err
	}
	if err := c.fs.SyncDir(tmp); err != nil {
		return fmt.Errorf("train: syncing %s: %w", tmp, err)
	}
	return nil
}

// epochs lists the checkpoints present, whole or not, in ascending order.
func (c *checkpoints) epochs() ([]int, error) {
	entries, err := os.ReadDir(c.dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("train: %w", err)
	}
	var list []int
	for _, e := range entries {
		if n, err := strconv.Atoi(e.Name()); err == nil && n > 0 && strconv.Itoa(n) == e.Name() {
			list = append(list, n)
		}
	}
	slices.Sort(list)
	return list, nil
}

// prune removes what the rule does not keep once the checkpoint of epoch is safe: all before it but one and the multiples of
// keep.every, and all after it, which newest passed over as broken.
func (c *checkpoints) prune(epoch int) error {
	list, err := c.epochs()
	if err != nil {
		return err
	}
	at := slices.Index(list, epoch)
	for i, e := range list {
		if i == at || i == at-1 || e < epoch && c.keep.keeps(e) {
			continue
		}
		if err := c.remove(e); err != nil {
			return fmt.Errorf("train: removing an old checkpoint: %w", err)
		}
	}
	return nil
}

// remove removes the checkpoint of epoch. It is renamed first: who reads it meanwhile, as a worker does that sends it to the queue,
// finds it whole or not at all, never without some of its files.
func (c *checkpoints) remove(epoch int) error {
	gone := filepath.Join(c.dir, ".gone")
	if err := c.fs.RemoveAll(gone); err != nil { // a process was killed here
		return err
	}
	if err := c.fs.Rename(c.path(epoch), gone); err != nil {
		return err
	}
	return c.fs.RemoveAll(gone)
}

// RetireCheckpoints removes the checkpoints in a run's folder of epochs after the given one: another process computes those epochs anew.
func RetireCheckpoints(dir string, after int) error {
	c := &checkpoints{fs: systemFS{}, dir: filepath.Join(dir, ckptDir)}
	list, err := c.epochs()
	if err != nil {
		return err
	}
	for _, epoch := range list {
		if epoch <= after {
			continue
		}
		if err := c.remove(epoch); err != nil {
			return fmt.Errorf("train: removing a checkpoint: %w", err)
		}
	}
	return nil
}

// CheckFolder returns an error unless dir has the files of a finished run of so many epochs: the last checkpoint, by the digest of its
// state and the sizes of the others, and the features.
func CheckFolder(dir, run string, epochs int) error {
	c := &checkpoints{dir: filepath.Join(dir, ckptDir), run: run}
	st, err := c.readState(epochs)
	if err != nil {
		return fmt.Errorf("train: checkpoint %d: %w", epochs, err)
	}
	for _, name := range []string{modelFile, optimFile} {
		info, err := os.Stat(filepath.Join(c.path(epochs), name))
		if err != nil {
			return fmt.Errorf("train: checkpoint %d: %w", epochs, err)
		}
		if info.Size() != st.Files[name].Bytes {
			return fmt.Errorf("train: checkpoint %d: %s has %d bytes, wanted %d", epochs, name, info.Size(), st.Files[name].Bytes)
		}
	}
	for _, name := range []string{featuresFile, configFile} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
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
// passed over. Those stay until a new checkpoint is safe: what looks broken may only be unreadable today.
func (c *checkpoints) newest(last int) (*saved, []string, error) {
	list, err := c.epochs()
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
		notes = append(notes, fmt.Sprintf("checkpoint %d is not whole and is passed over: %v", epoch, err))
	}
	return nil, notes, nil
}

func (c *checkpoints) read(epoch int) (*saved, error) {
	st, err := c.readState(epoch)
	if err != nil {
		return nil, err
	}
	s := &saved{state: st}
	if s.model, err = c.readArrays(epoch, modelFile, st.Files); err != nil {
		return nil, err
	}
	s.optim, err = c.readArrays(epoch, optimFile, st.Files)
	return s, err
}

func (c *checkpoints) readState(epoch int) (state, error) {
	text, err := inputfile.Read(filepath.Join(c.path(epoch), stateFile), inputfile.Record)
	if err != nil {
		return state{}, err
	}
	st, err := decodeState(text)
	switch {
	case err != nil:
		return st, err
	case st.Run != c.run:
		return st, fmt.Errorf("%s belongs to run %s", stateFile, short(st.Run))
	case st.Epoch != epoch:
		return st, fmt.Errorf("%s is of epoch %d", stateFile, st.Epoch)
	}
	return st, nil
}

func (c *checkpoints) readArrays(epoch int, name string, sums map[string]fileSum) ([]arrayfile.Array, error) {
	b, err := inputfile.Read(filepath.Join(c.path(epoch), name), sums[name].Bytes)
	if err != nil {
		return nil, err
	}
	if sum := sha256.Sum256(b); hex.EncodeToString(sum[:]) != sums[name].SHA256 {
		return nil, fmt.Errorf("%s: its content (%d bytes) is not what was written (%d bytes): the digests differ", name, len(b), sums[name].Bytes)
	}
	arrays, _, err := arrayfile.ParseSafetensors(b)
	return arrays, err
}
