package serve

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"collapse.example/collapse/arrayfile"
	"collapse.example/collapse/internal/featurefiles"
	"collapse.example/collapse/internal/measurement"
	"collapse.example/collapse/measure"
	"collapse.example/collapse/parallel"
)

// Memory for unpacked and decoded files: of one upload, and of all that are measured at once.
const (
	uploadMemory  = 512 << 20
	uploadsMemory = 2 << 30
)

var errTooLong = errors.New("the measurement takes too long")

// measureTimely measures uploaded files when a place is free, and ends the upload. It answers early if the browser leaves or
// Options.MeasureLimit passes; the work then stops soon after, and keeps its place and its files until it has.
func (s *Server) measureTimely(asked context.Context, up *uploading, paths []string, names arrayNames) (*measurement.Result, error) {
	if err := take(asked, s.measuring); err != nil {
		return nil, errors.Join(err, up.end())
	}
	ctx, cancel := context.WithTimeoutCause(asked, s.opt.MeasureLimit, errTooLong)
	defer cancel()
	type outcome struct {
		found *measurement.Result
		err   error
	}
	done := make(chan outcome, 1)
	s.working.Go(func() {
		defer func() { <-s.measuring }()
		var o outcome
		o.err = safely(func() (err error) {
			o.found, err = s.measureFiles(ctx, paths, names)
			return err
		})
		if err := up.end(); err != nil {
			s.opt.Log("serve: an upload: %v", err)
		}
		done <- o
	})
	select {
	case o := <-done:
		return o.found, s.measureError(ctx, o.err, up.folder.dir)
	case <-ctx.Done():
		return nil, s.measureError(ctx, ctx.Err(), up.folder.dir)
	}
}

// measureFiles is `collapse measure FILES --html`, on all processors.
func (s *Server) measureFiles(ctx context.Context, paths []string, names arrayNames) (*measurement.Result, error) {
	memory.enter()
	defer memory.leave()
	part := s.memory.Part(uploadMemory)
	defer part.Release()
	asked := featurefiles.Request{Files: paths, Layers: names.layers, ClassNames: commas(names.classes), IgnoreLabels: commas(names.ignore), Context: ctx, Budget: part}
	asked.Keys[featurefiles.Features], asked.Keys[featurefiles.Labels], asked.Keys[featurefiles.Weights] = names.features, names.labels, names.weight
	set, err := featurefiles.Open(asked)
	if err != nil {
		return nil, err
	}
	defer set.Close()
	team := parallel.NewTeam(0)
	defer team.Close()
	found, err := measurement.Of(set, measure.Options{Context: ctx, Team: team, KeepMargins: true, Uncertainty: true, Null: measure.DefaultNull}, true)
	if err != nil {
		return nil, err
	}
	forget(found, filepath.Dir(filepath.Dir(paths[0])))
	return found, nil
}

// measureError says why files were not measured, without naming their folder.
func (s *Server) measureError(ctx context.Context, err error, dir string) error {
	var bug *panicError
	var memory *arrayfile.BudgetError
	switch {
	case err == nil, errors.As(err, &bug):
		return err
	case context.Cause(ctx) == errTooLong:
		return statusError{http.StatusUnprocessableEntity, fmt.Errorf("the measurement was stopped: it takes longer than %v, the server's limit; `collapse measure` on the command line has none", s.opt.MeasureLimit)}
	case ctx.Err() != nil:
		return statusError{http.StatusServiceUnavailable, fmt.Errorf("the measurement was stopped: %w", ctx.Err())}
	case errors.As(err, &memory) && memory.Shared:
		return tryAgain(retryUpload, "other measurements use all the memory that the server has for them; try again in a moment")
	}
	own := regexp.MustCompile(regexp.QuoteMeta(dir) + `[/\\]\d+[/\\]`) // where receive stores files
	return badRequest("%s", withoutFlags(own.ReplaceAllString(err.Error(), "")))
}

// flagFields are the flags that have a field on the page.
var flagFields = strings.NewReplacer("say which with --features-key NAME", "give its name in the field “features”", "say which with --labels-key NAME", "give its name in the field “labels”",
	"say which with --weights-key NAME", "give its name in the field “weight”", "--features-key", "features", "--labels-key", "labels", "--weights-key", "weight", "--layers", "layers",
	"pass --class-names with the names", "give the names of the classes", "--class-names", "the names of the classes", "leave its samples out with --ignore-label=", "leave its samples out by the ignored label ")

var (
	flagInBrackets = regexp.MustCompile(` ?\([^()]*--[a-z][^()]*\)`)
	flagClause     = regexp.MustCompile(`[;,] [^;,]*--[a-z][^;]*`)
)

// withoutFlags is what an error of `collapse measure` says to somebody before a page, where there is no command line. What only a flag
// can do is left out and said to be possible there.
func withoutFlags(text string) string {
	text = flagFields.Replace(text)
	short := flagClause.ReplaceAllString(flagInBrackets.ReplaceAllString(text, ""), "")
	if short != text {
		short += "; `collapse measure` on the command line has a setting for this"
	}
	return short
}

// finish waits briefly for measurements to stop.
func (s *Server) finish(patience time.Duration) {
	stopped := make(chan struct{})
	go func() {
		s.working.Wait()
		close(stopped)
	}()
	select {
	case <-stopped:
	case <-time.After(patience):
	}
}
