package script

import (
	"errors"
	"fmt"
	"os"
)

// codeIn returns the folder in which a run starts: that of its code or, if that has changed, of the copy that its study has kept.
func (s Spec) codeIn(opts Options) (string, error) {
	if err := s.checkData(opts.Folder); err != nil {
		return "", err
	}
	err := s.checkCode(opts.Folder)
	var changed *ChangedError
	if !errors.As(err, &changed) {
		return opts.Folder, err
	}
	kept := s.kept(opts.Folder)
	if kept == "" {
		return "", err
	}
	opts.note(fmt.Sprintf("%s %s since the study began: its runs use the copy of then, in %s", changed.Path, changed.Why, kept))
	return kept, nil
}

// codeStays looks at the code again before the first report of an attempt and after every one before which the script has read more of it:
// what was read between the look before the start and now may have been other code. Nobody else changes the copy.
func (j *job) codeStays(loaded []string) error {
	if j.last == j.from || len(loaded) > 0 {
		if err := j.spec.checkData(j.opts.Folder); err != nil {
			return err
		}
	}
	j.unnamed(loaded)
	if j.code != j.opts.Folder || j.last != j.from && len(loaded) == 0 {
		return nil
	}
	err := j.spec.checkCode(j.code)
	var changed *ChangedError
	if !errors.As(err, &changed) {
		return err
	}
	return fmt.Errorf("script: %s %s after the script had started, perhaps before it was read: it goes on after epoch %d with the code as it was", changed.Path, changed.Why, j.last)
}

// unlessCodeChanged returns err, unless err says that the run has failed and the code in the user's folder is no longer the run's: a script
// that misses half of its modules has failed for no fault of the run, and so has one whose copy misses what lay beside the code.
func (j *job) unlessCodeChanged(err error) error {
	var why *FailedError
	var changed *ChangedError
	if !errors.As(err, &why) {
		return err
	}
	if data := j.spec.checkData(j.opts.Folder); data != nil {
		return fmt.Errorf("%w; what the script made of that does not count: %s", data, why.Why)
	}
	if j.code != j.opts.Folder {
		if _, missing := os.Stat(j.opts.Folder); errors.Is(missing, os.ErrNotExist) {
			return fmt.Errorf("%w; what the script made of that does not count: %s", &ChangedError{j.opts.Folder, "is not there"}, why.Why)
		}
		return err
	}
	if !errors.As(j.spec.checkCode(j.code), &changed) {
		return err
	}
	return fmt.Errorf("script: %s %s after the script had started; what the script made of that does not count: %s", changed.Path, changed.Why, why.Why)
}
