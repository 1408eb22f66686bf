package rundir

import (
	"errors"
	"io"
	"os"
	"path/filepath"

	"collapse.example/collapse/arrayfile"
)

// Writer writes and removes the files of a run.
type Writer struct {
	Dir
	FS FS
}

// Writer writes through fs; nil: the operating system's files, and never through a link that leads out of the folder.
func (d Dir) Writer(fs FS) Writer {
	if fs == nil {
		fs = inside{string(d)}
	}
	return Writer{d, fs}
}

// Begin makes the folder of a run, with its configuration and room for checkpoints, and makes these names durable.
func (w Writer) Begin(config string) error {
	if err := w.FS.MkdirAll(w.CheckpointsDir()); err != nil {
		return err
	}
	if err := w.FS.SyncDir(filepath.Dir(string(w.Dir))); err != nil {
		return err
	}
	return ReplaceFile(w.FS, w.Config(), text([]byte(config)))
}

// WriteFinalFeatures writes features.npz.
func (w Writer) WriteFinalFeatures(arrays []arrayfile.Array) error {
	return ReplaceFile(w.FS, w.FinalFeatures(), func(to io.Writer) error { return arrayfile.WriteNPZ(to, arrays) })
}

// WriteFrame writes the frame of an epoch. SettleFrames makes its name durable.
func (w Writer) WriteFrame(epoch int, arrays []arrayfile.Array) error {
	path := w.Frame(epoch)
	if err := w.makeFolder(filepath.Dir(path)); err != nil {
		return err
	}
	return rename(w.FS, path, func(to io.Writer) error { return arrayfile.WriteNPZ(to, arrays) })
}

// SettleFrames makes it durable which frames there are: a run that goes on from a checkpoint does not make those before it again.
func (w Writer) SettleFrames() error {
	if _, missing := os.Stat(filepath.Dir(w.Frame(1))); missing != nil {
		return nil
	}
	return w.FS.SyncDir(filepath.Dir(w.Frame(1)))
}

// makeFolder makes a folder in that of the run, and the name of a new one durable. If the process dies between the two, Begin does that.
func (w Writer) makeFolder(dir string) error {
	_, missing := os.Stat(dir)
	if err := w.FS.MkdirAll(dir); err != nil || missing == nil {
		return err
	}
	return w.FS.SyncDir(string(w.Dir))
}

// WriteFeatures makes the folder of an epoch's features durable. fill puts each file there by a call of put.
func (w Writer) WriteFeatures(epoch int, fill func(put func(name string, arrays []arrayfile.Array) error) error) error {
	if err := w.makeFolder(filepath.Dir(w.Features(epoch))); err != nil {
		return err
	}
	return w.writeFolder(w.Features(epoch), func(tmp string) error {
		return fill(func(name string, arrays []arrayfile.Array) error {
			_, err := w.writeTensors(filepath.Join(tmp, name), arrays, nil)
			return err
		})
	})
}

// TakeFeatures makes what a script has written, files or folders of the run by a new name each, the folder of an epoch's features. The
// content is on the disk when the system wants it to be: no row of the run depends on it.
func (w Writer) TakeFeatures(epoch int, from map[string]string) error {
	if err := w.makeFolder(filepath.Dir(w.Features(epoch))); err != nil {
		return err
	}
	return w.writeFolder(w.Features(epoch), func(tmp string) error {
		for name, path := range from {
			if err := w.FS.Rename(path, filepath.Join(tmp, name)); err != nil {
				return err
			}
		}
		return nil
	})
}

// RemoveFeatures removes the features of epochs that drop names.
func (w Writer) RemoveFeatures(drop func(epoch int) bool) error {
	list, err := w.FeatureEpochs()
	for _, epoch := range list {
		if drop(epoch) {
			err = errors.Join(err, w.FS.RemoveAll(w.Features(epoch)))
		}
	}
	return err
}

// WriteCheckpoint makes the checkpoint of an epoch durable. state is called with the sums of the other two files, by name, and gives the
// content of state.json.
func (w Writer) WriteCheckpoint(epoch int, model, optim []arrayfile.Array, state func(sums map[string]Sum) ([]byte, error)) error {
	return w.writeFolder(w.Checkpoint(epoch), func(tmp string) (err error) {
		sums, format := map[string]Sum{}, map[string]string{"format": "pt"}
		if sums[Model], err = w.writeTensors(filepath.Join(tmp, Model), model, format); err != nil {
			return err
		}
		if sums[Optim], err = w.writeTensors(filepath.Join(tmp, Optim), optim, format); err != nil {
			return err
		}
		content, err := state(sums)
		if err != nil {
			return err
		}
		return create(w.FS, filepath.Join(tmp, State), text(content))
	})
}

// writeTensors makes a safetensors file.
func (w Writer) writeTensors(path string, arrays []arrayfile.Array, metadata map[string]string) (Sum, error) {
	return createSummed(w.FS, path, func(to io.Writer) error { return arrayfile.WriteSafetensors(to, arrays, metadata) })
}

// text writes a text.
func text(content []byte) func(io.Writer) error {
	return func(to io.Writer) error {
		_, err := to.Write(content)
		return err
	}
}

// writeFolder makes a folder durable: files are written to .tmp beside it and synced, then the folder is renamed, then its parent
// synced. Until the rename nothing but .tmp is touched, so a failure at any call leaves every earlier folder whole.
func (w Writer) writeFolder(final string, fill func(tmp string) error) error {
	tmp := filepath.Join(filepath.Dir(final), ".tmp")
	if err := w.FS.RemoveAll(tmp); err != nil {
		return err
	}
	if err := w.FS.MkdirAll(tmp); err != nil {
		return err
	}
	err := fill(tmp)
	if err == nil {
		err = w.FS.SyncDir(tmp)
	}
	if err != nil {
		return errors.Join(err, w.FS.RemoveAll(tmp)) // on a full disk its space is needed
	}
	return w.place(tmp, final)
}

// place gives a folder whose content is on the disk its name. A broken one may have the name: a checkpoint that was passed over, or
// features of a run that was killed before the checkpoint after them.
func (w Writer) place(from, final string) error {
	if err := w.FS.RemoveAll(final); err != nil {
		return err
	}
	if err := w.FS.Rename(from, final); err != nil {
		return err
	}
	return w.FS.SyncDir(filepath.Dir(final))
}

// PlaceCheckpoint makes what has arrived as FetchedCheckpoint, and is on the disk, the checkpoint of an epoch.
func (w Writer) PlaceCheckpoint(epoch int) error {
	return w.place(w.FetchedCheckpoint(), w.Checkpoint(epoch))
}

// RemoveCheckpoint removes the checkpoint of an epoch. It is renamed first: who reads it meanwhile, as a worker does that sends it to
// the queue, finds it whole or not at all, never without some of its files.
func (w Writer) RemoveCheckpoint(epoch int) error {
	gone := w.path("ckpt", ".gone")
	if err := w.FS.RemoveAll(gone); err != nil { // a process was killed here
		return err
	}
	if err := w.FS.Rename(w.Checkpoint(epoch), gone); err != nil {
		return err
	}
	return w.FS.RemoveAll(gone)
}

// SettleCheckpoints makes it durable which checkpoints there are: removals do not wait for the disk, and nobody looks at those of a run that is done.
func (w Writer) SettleCheckpoints() error { return w.FS.SyncDir(w.CheckpointsDir()) }

// RemoveCheckpointsAfter removes the checkpoints of later epochs: another process computes those epochs anew.
func (w Writer) RemoveCheckpointsAfter(epoch int) error {
	list, err := w.Checkpoints()
	if err != nil {
		return err
	}
	for _, e := range list {
		if e > epoch {
			if err := w.RemoveCheckpoint(e); err != nil {
				return err
			}
		}
	}
	return nil
}

// Sweep removes what killed processes left half-written or half-removed.
func (w Writer) Sweep() error {
	list, err := w.Staging()
	for _, name := range list {
		if err := w.FS.RemoveAll(w.path(filepath.FromSlash(name))); err != nil {
			return err
		}
	}
	return err
}
