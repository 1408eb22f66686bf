// Package rundir knows the folder of a run: what its files are called, and how they are written so that a process that is killed
// never leaves half of one under its name.
//
//	config.toml                     the run's configuration as the user gave it, folders included
//	ckpt/<epoch>/                   a checkpoint: model.safetensors, optim.safetensors, state.json
//	frames/<epoch>.npz              some training features of a measured epoch, its class means and classifier; pages show them in turn
//	features/<epoch>/               all features of an epoch (run.save_features): classifier.safetensors, train-<i> and test-<i>.safetensors;
//	                                of a script its captures: train, test and ood, folders or files
//	features.npz                    the first features of a finished run
//	starts-over                     the run's script does not continue from checkpoints; an empty file
//	rows-only                       says that a copy has left the run's other files behind
//	code.sha256                     the digests of the code that it used, as sha256sum writes them
//	loaded.sha256                   the digests of modules that it has loaded and that are part neither of its code nor of its data
//	command.txt                     how the newest attempt of such a script was started, as a shell takes it
//	script.log                      what a run of somebody's own script wrote to its output; script.log.old is what came before
//	.script/<generation>/           what an attempt of such a run and the lab tell each other; gone when the attempt has ended
//	.…, ….tmp, g<generation>        on their way in or out (IsStaging)
//
// Dir names and lists them, Writer writes them. What a checkpoint holds and when it may be gone on from is train's; what arrays mean is
// theirs who write and read them.
package rundir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"collapse.example/collapse/arrayfile"
)

// Names inside a checkpoint's folder.
const (
	Model = "model.safetensors"
	Optim = "optim.safetensors"
	State = "state.json"
)

// Classifier is the classifier in a folder of saved features.
const Classifier = "classifier.safetensors"

// Shard is file number i, from 0, of a split in a folder of saved features. Samples keep their order over the shards.
func Shard(split string, i int) string { return split + "-" + strconv.Itoa(i) + ".safetensors" }

// Dir is the folder of a run. Dir("") gives names relative to such a folder.
type Dir string

func (d Dir) path(names ...string) string {
	return filepath.Join(append([]string{string(d)}, names...)...)
}

func (d Dir) Config() string              { return d.path("config.toml") }
func (d Dir) CheckpointsDir() string      { return d.path("ckpt") }
func (d Dir) Checkpoint(epoch int) string { return d.path("ckpt", strconv.Itoa(epoch)) }
func (d Dir) Frame(epoch int) string      { return d.path("frames", strconv.Itoa(epoch)+".npz") }
func (d Dir) Features(epoch int) string   { return d.path("features", strconv.Itoa(epoch)) }
func (d Dir) FinalFeatures() string       { return d.path("features.npz") }
func (d Dir) ScriptLog() string           { return d.path("script.log") }
func (d Dir) RowsOnly() string            { return d.path("rows-only") }

// HasRowsOnly reports whether a copy of the lab has left the files of a finished run behind.
func (d Dir) HasRowsOnly() bool {
	_, err := os.Lstat(d.RowsOnly())
	return err == nil
}

func (d Dir) ScriptCode() string    { return d.path("code.sha256") }
func (d Dir) ScriptLoaded() string  { return d.path("loaded.sha256") }
func (d Dir) ScriptCommand() string { return d.path("command.txt") }

// StartsOver is a file that says that the run's script does not continue from checkpoints.
func (d Dir) StartsOver() string { return d.path("starts-over") }

// Workspaces is where attempts of a script work, each in a folder named by its generation.
func (d Dir) Workspaces() string { return d.path(".script") }

// ArrivingCheckpoint is where a script writes a checkpoint before it names it.
func (d Dir) ArrivingCheckpoint() string { return d.path("ckpt", ".tmp") }

// FetchedCheckpoint is where a checkpoint from elsewhere arrives, until Writer.PlaceCheckpoint names it.
func (d Dir) FetchedCheckpoint() string { return d.path("ckpt", ".fetched") }

// Exchange is where arrays are exchanged with a process that computes the run, while it does.
func (d Dir) Exchange() string { return d.path(".engine") }

// Arriving is where the files of a finished run arrive, which a worker elsewhere computed as the given generation.
func (d Dir) Arriving(generation uint64) string { return d.path(fmt.Sprintf(".g%d", generation)) }

// Checkpoints lists the epochs that have a checkpoint, whole or not, ascending.
func (d Dir) Checkpoints() ([]int, error) { return d.epochs("ckpt", "") }

// Frames lists the epochs that have a frame, ascending.
func (d Dir) Frames() ([]int, error) { return d.epochs("frames", ".npz") }

// FeatureEpochs lists the epochs whose features are saved, ascending.
func (d Dir) FeatureEpochs() ([]int, error) { return d.epochs("features", "") }

// NewestCheckpoint is the largest epoch up to upTo that has a checkpoint, whole or not; 0 for none.
func (d Dir) NewestCheckpoint(upTo int) int {
	list, _ := d.Checkpoints() // what cannot be read cannot be gone on from
	for _, epoch := range slices.Backward(list) {
		if epoch <= upTo {
			return epoch
		}
	}
	return 0
}

// epochs lists the numbers from 1 that name something in a folder, which may be missing.
func (d Dir) epochs(folder, suffix string) ([]int, error) {
	entries, err := os.ReadDir(d.path(folder))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var list []int
	for _, e := range entries {
		if epoch, ok := epochNamed(e.Name(), suffix); ok {
			list = append(list, epoch)
		}
	}
	slices.Sort(list)
	return list, nil
}

// epochNamed reads an epoch from a name as Checkpoint, Frame and Features write it: "07" and "+7" are none.
func epochNamed(name, suffix string) (epoch int, ok bool) {
	number, ok := strings.CutSuffix(name, suffix)
	epoch, err := strconv.Atoi(number)
	return epoch, ok && err == nil && epoch > 0 && strconv.Itoa(epoch) == number
}

// arriving is what Arriving was called in versions before it had a dot.
var arriving = regexp.MustCompile(`^g[0-9]+$`)

// IsStaging reports whether a name directly in a run's folder, or in a folder there, is of something half-written or half-removed: it is
// no part of the run, and once no process works on the run it is litter.
func IsStaging(name string) bool {
	return strings.HasPrefix(name, ".") || strings.HasSuffix(name, ".tmp") || arriving.MatchString(name)
}

// Staging lists what is half-written or half-removed, relative to the folder, with slashes.
func (d Dir) Staging() ([]string, error) {
	var list []string
	for _, folder := range []string{"", "ckpt", "frames", "features"} {
		entries, err := os.ReadDir(d.path(folder))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return list, err
		}
		for _, e := range entries {
			if IsStaging(e.Name()) {
				list = append(list, filepath.ToSlash(filepath.Join(folder, e.Name())))
			}
		}
	}
	return list, nil
}

// Files lists a file, or all that are below a folder, both named relative to d, relative to d with slashes.
func (d Dir) Files(name string) ([]string, error) {
	var list []string
	err := filepath.WalkDir(d.path(name), func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		rel, err := filepath.Rel(string(d), path)
		list = append(list, filepath.ToSlash(rel))
		return err
	})
	return list, err
}

// FeaturesReadable reports why the saved features of an epoch cannot be read. Shards are numbered without a gap.
func (d Dir) FeaturesReadable(epoch int, splits ...string) error {
	dir := d.Features(epoch)
	all := []error{Readable(filepath.Join(dir, Classifier))}
	for _, split := range splits {
		found, err := filepath.Glob(filepath.Join(dir, split+"-*.safetensors"))
		all = append(all, err)
		for n := range max(1, len(found)) {
			all = append(all, Readable(filepath.Join(dir, Shard(split, n))))
		}
	}
	return errors.Join(all...)
}

// Readable reports why the arrays of a file cannot be read, from their headers and lengths.
func Readable(path string) error {
	f, err := arrayfile.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if refused := f.Refused(); len(refused) > 0 || len(f.Headers()) == 0 {
		return fmt.Errorf("%s: %d of its arrays can be read, %d cannot", path, len(f.Headers()), len(refused))
	}
	return nil
}
