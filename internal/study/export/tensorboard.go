package export

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode"

	"collapse.example/collapse/internal/outfile"
	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/internal/tensorboard"
)

// EventsKind is what folders hold that TensorBoard writes.
const EventsKind = "event files of TensorBoard"

// TensorBoard writes runs as TensorBoard event files, one folder in another for each run that has values, and returns how many runs and
// values it wrote; without any the folder stays as it is. A tag is split/measure ("train/nc1_pinv"), or split@layer/measure for a layer; a series other than epochs is a
// prefix. A step is an epoch. Rows carry no time, so wall times are spread evenly between start and end of the run. Exporting again
// leaves these runs alone. One run at a time is held in memory.
func TensorBoard(lab *store.Reader, runs []Selected, to *outfile.Folder) (n Written, err error) {
	err = to.Write(func(files *outfile.Files) error {
		if n, err = writeRuns(lab, runs, files); err == nil && n.Runs == 0 {
			err = fmt.Errorf("none of the %d runs has values yet", len(runs))
		}
		return err
	})
	return n, err
}

// Written counts what was written, and the values that are missing in the lab, of which event files have nothing.
type Written struct{ Runs, Values, Missing int }

func writeRuns(lab *store.Reader, runs []Selected, files *outfile.Files) (n Written, err error) {
	seen := map[string]bool{}
	for _, r := range runs {
		if seen[r.Hash] {
			continue
		}
		seen[r.Hash] = true
		rows, err := lab.Values(r.Hash)
		if err != nil {
			return n, err
		}
		all := len(rows)
		rows = slices.DeleteFunc(rows, func(v store.Value) bool { return v.Missing != "" })
		if n.Missing += all - len(rows); len(rows) == 0 {
			continue
		}
		run, err := lab.Run(r.Hash)
		if err != nil {
			return n, err
		}
		if err := writeEvents(files.Below(folderName(r)), run, rows); err != nil {
			return n, fmt.Errorf("study: exporting run %.12s: %w", r.Hash, err)
		}
		n.Runs, n.Values = n.Runs+1, n.Values+len(rows)
	}
	return n, nil
}

// folderName is TensorBoard's name for a run: what sets it apart in its study, and the start of its hash.
func folderName(r Selected) string {
	note := r.Note
	if note == "" {
		note = string(r.Kind)
	}
	plain := strings.Map(func(c rune) rune {
		if unicode.IsLetter(c) || unicode.IsDigit(c) || strings.ContainsRune("-+=.", c) {
			return c
		}
		return '_'
	}, note)
	const longest = 80 // runes; a file system allows 255 bytes
	if cut := []rune(plain); len(cut) > longest {
		plain = string(cut[:longest])
	}
	return fmt.Sprintf("%s-%.12s", strings.TrimLeft(plain, "."), r.Hash)
}

// writeEvents writes the run's event file.
func writeEvents(files *outfile.Files, run store.Run, rows []store.Value) error {
	return files.Put(tensorboard.FileName(run.Created), func(w io.Writer) error { return events(w, run, rows) })
}

// events writes the values step by step.
func events(w io.Writer, run store.Run, rows []store.Value) error {
	begin, end := run.Started, run.Finished
	if begin.IsZero() {
		begin = run.Created
	}
	if end.Before(begin) { // not finished
		end = begin
	}
	out, err := tensorboard.NewWriter(w, begin)
	if err != nil {
		return err
	}
	steps := map[int64][]tensorboard.Scalar{}
	for _, v := range rows {
		steps[v.Step] = append(steps[v.Step], tensorboard.Scalar{Tag: tagOf(v.Key), Value: v.Value})
	}
	order := slices.Sorted(maps.Keys(steps))
	last := max(order[len(order)-1], 1)
	for _, step := range order {
		share := min(1, max(0, float64(step)/float64(last)))
		wall := begin.Add(time.Duration(share * float64(end.Sub(begin))))
		if err := out.Write(wall, step, steps[step]); err != nil {
			return err
		}
	}
	return nil
}

func tagOf(k store.Key) string {
	tag := k.Split
	if k.Layer != "" {
		tag += "@" + k.Layer
	}
	if tag != "" {
		tag += "/"
	}
	tag += k.Measure
	if k.Series != "epoch" {
		tag = k.Series + "/" + tag
	}
	return tag
}
