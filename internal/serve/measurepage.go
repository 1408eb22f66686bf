package serve

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"collapse/internal/features"
	"collapse/internal/kernel"
	"collapse/internal/report"
	"collapse/measure"
)

// measurePage asks for files.
type measurePage struct {
	frame
	Most string // the largest upload, in words
}

func (s *Server) measurePage(w http.ResponseWriter, r *http.Request) error {
	s.write(w, http.StatusOK, "measure", measurePage{s.frame(r, "measure", "Measure"), fmt.Sprintf("%d MiB", s.opt.MaxUpload>>20)})
	return nil
}

// Bounds of an upload's parts beside its bytes.
const (
	mostFiles = 16
	nameBytes = 200
)

// uploadKinds are the endings that arrayfile reads.
var uploadKinds = []string{".npz", ".npy", ".safetensors", ".pt", ".pth", ".parquet"}

// measureUpload measures the files of a form. They lie in a folder of their own for as long as that takes, and are then gone.
func (s *Server) measureUpload(w http.ResponseWriter, r *http.Request) error {
	if err := take(r.Context(), s.heavy); err != nil {
		return err
	}
	defer func() { <-s.heavy }()
	r.Body = http.MaxBytesReader(w, r.Body, s.opt.MaxUpload)
	form, err := r.MultipartReader()
	if err != nil {
		return badRequest("the files of a measurement come as a form: %v", err)
	}
	dir, err := os.MkdirTemp("", "collapse-measure-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	paths, err := s.receive(form, dir)
	if err != nil {
		return err
	}
	found, err := measureFiles(paths)
	if err != nil {
		return badRequest("%s", strings.ReplaceAll(err.Error(), dir+string(filepath.Separator), ""))
	}
	forget(found, dir)
	token := s.shown.keep(found)
	http.Redirect(w, r, "/measure/"+token, http.StatusSeeOther)
	return nil
}

// receive stores the files of a form under their own base names, which must be of a kind that can be read.
func (s *Server) receive(form *multipart.Reader, dir string) ([]string, error) {
	var paths []string
	for {
		part, err := form.NextPart()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, s.uploadError(err)
		}
		name := part.FileName() // the base name: package multipart drops folders
		if name == "" {
			continue
		}
		if len(paths) == mostFiles {
			return nil, badRequest("at most %d files can be measured together", mostFiles)
		}
		ext := strings.ToLower(filepath.Ext(name))
		if len(name) > nameBytes || strings.ContainsAny(name, "/\\\x00*?[") || !slices.Contains(uploadKinds, ext) {
			return nil, badRequest("%s cannot be measured; wanted a file that ends in %s", clip(name), strings.Join(uploadKinds, ", "))
		}
		path := filepath.Join(dir, fmt.Sprintf("%d", len(paths)), name)
		if err := s.store(part, path); err != nil {
			return nil, err
		}
		paths = append(paths, path)
	}
	if len(paths) == 0 {
		return nil, badRequest("no file came with the form; choose one, or drop it on the page")
	}
	return paths, nil
}

func (s *Server) store(part io.Reader, path string) error {
	if err := os.Mkdir(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, part)
	if closing := f.Close(); err == nil && closing != nil {
		return closing
	}
	return s.uploadError(err)
}

// uploadError says what is wrong with an upload.
func (s *Server) uploadError(err error) error {
	var large *http.MaxBytesError
	var disk *os.PathError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &large):
		return statusError{http.StatusRequestEntityTooLarge, fmt.Errorf("the files are larger than %d MiB; `collapse measure` on the command line has no such limit", s.opt.MaxUpload>>20)}
	case errors.As(err, &disk):
		return err
	}
	return badRequest("the upload broke off or is no form: %v", err)
}

// measureFiles is `collapse measure FILES --html`, on all processors.
func measureFiles(paths []string) (*report.Measured, error) {
	set, err := features.Open(features.Request{Files: paths})
	if err != nil {
		return nil, err
	}
	defer set.Close()
	team := kernel.NewTeam(0)
	defer team.Close()
	return report.MeasureSet(set, measure.Options{Team: team, KeepMargins: true, KeepMeans: true, Uncertainty: true, Null: measure.DefaultNull})
}

// forget takes the folder out of what was found: only the names that were uploaded mean anything.
func forget(found *report.Measured, dir string) {
	for i := range found.Inputs {
		in := &found.Inputs[i]
		for j, f := range in.Files {
			in.Files[j] = filepath.Base(f)
		}
	}
	for i, n := range found.Notes {
		found.Notes[i] = strings.ReplaceAll(n, dir+string(filepath.Separator), "")
	}
	found.Generated = time.Now()
}

// Bounds of what is remembered of measurements: numbers and pictures, never the files.
const (
	mostShown = 8
	shownFor  = 30 * time.Minute
)

// shown keeps the results of the last measurements under addresses that cannot be guessed.
type shown struct {
	now func() time.Time

	mu    sync.Mutex
	items []shownItem // oldest first
}

type shownItem struct {
	token string
	until time.Time
	found *report.Measured
}

func newShown(now func() time.Time) *shown { return &shown{now: now} }

func (s *shown) keep(found *report.Measured) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.expire()
	if len(s.items) == mostShown {
		s.items = s.items[1:]
	}
	token := rand.Text()
	s.items = append(s.items, shownItem{token, s.now().Add(shownFor), found})
	return token
}

func (s *shown) get(token string) (*report.Measured, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.expire()
	for _, it := range s.items {
		if it.token == token {
			return it.found, nil
		}
	}
	return nil, notFound("this measurement is not kept any more: only the last %d are, for %d minutes", mostShown, int(shownFor.Minutes()))
}

func (s *shown) expire() {
	s.items = slices.DeleteFunc(s.items, func(it shownItem) bool { return s.now().After(it.until) })
}

// measuredPage shows a measurement.
type measuredPage struct {
	frame
	report.MeasuredSummary
	Figures []figure
}

func (s *Server) measuredPage(w http.ResponseWriter, r *http.Request) error {
	token := r.PathValue("token")
	found, err := s.shown.get(token)
	if err != nil {
		return err
	}
	p := measuredPage{frame: s.frame(r, "measure", "Measured"), MeasuredSummary: found.Summary()}
	p.Figures = drawAll(found.Pictures(), "/measure/"+token+"/figures", nil)
	s.write(w, http.StatusOK, "measured", p)
	return nil
}

func (s *Server) measuredFigures(r *http.Request) ([]report.Picture, error) {
	found, err := s.shown.get(r.PathValue("token"))
	if err != nil {
		return nil, err
	}
	return found.Pictures(), nil
}
