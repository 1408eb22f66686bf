package serve

import (
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"collapse.example/collapse/arrayfile"
	"collapse.example/collapse/internal/figure"
	"collapse.example/collapse/internal/measurement"
	"collapse.example/collapse/internal/store"
)

// measurePage asks for files.
type measurePage struct {
	frame
	Most            string // the largest upload, in words
	Formats, Accept string // of files: in words, and as a browser wants their endings
}

func (s *Server) measurePage(w http.ResponseWriter, r *http.Request) error {
	s.write(w, http.StatusOK, "measure", measurePage{s.frame(r, "measure", "Measure"), fmt.Sprintf("%d MiB", s.opt.MaxUpload>>20), arrayfile.Formats(), strings.Join(arrayfile.Endings(), ",")})
	return nil
}

// Bounds of an upload's parts, apart from its bytes.
const (
	mostFiles = 16
	mostParts = 64
	nameBytes = 200
	listBytes = 1 << 16 // of the names of classes
)

// measureUpload measures the files of a form. They are kept in a temporary folder of their own and removed afterwards.
func (s *Server) measureUpload(w http.ResponseWriter, r *http.Request) error {
	in := &body{Reader: http.MaxBytesReader(w, r.Body, s.opt.MaxUpload), out: http.NewResponseController(w), patience: s.opt.UploadPatience, began: time.Now()}
	in.last = in.began.Add(s.opt.UploadTime)
	up, err := s.uploads.begin(r)
	if err != nil {
		in.refuse()
		return s.uploadError(err)
	}
	r.Body = io.NopCloser(in)
	paths, names, err := s.receive(r, up)
	if err != nil {
		in.refuse()
		return errors.Join(s.uploadError(err), up.end())
	}
	if err := in.arrived(); err != nil {
		return errors.Join(err, up.end())
	}
	found, err := s.measureTimely(r.Context(), up, paths, names)
	// The deadline of the whole request may have passed.
	if late := in.out.SetWriteDeadline(time.Now().Add(s.opt.Stalled)); late != nil && !errors.Is(late, http.ErrNotSupported) || err != nil {
		return errors.Join(err, late)
	}
	http.Redirect(w, r, "/measure/"+s.shown.keep(found), http.StatusSeeOther)
	return nil
}

// arrayNames are the arrays that a form asks for, where they have other names than usual, and what it says of labels: the names of the
// classes in order, and labels to leave out, both as lists with commas. Layers is a pattern, of which each match is measured.
type arrayNames struct{ features, labels, weight, layers, classes, ignore string }

// commas returns the parts of a text with commas, without spaces around them.
func commas(text string) (out []string) {
	for part := range strings.SplitSeq(text, ",") {
		if part = strings.TrimSpace(part); part != "" {
			out = append(out, part)
		}
	}
	return out
}

// field is where the value of a form's field goes; nil: nowhere.
func (n *arrayNames) field(name string) *string {
	return map[string]*string{"features": &n.features, "labels": &n.labels, "weight": &n.weight, "layers": &n.layers, "classes": &n.classes, "ignore": &n.ignore}[name]
}

// read takes a field of a form.
func (n *arrayNames) read(part *multipart.Part) error {
	to := n.field(part.FormName())
	if to == nil {
		return nil
	}
	most := nameBytes
	if to == &n.classes {
		most = listBytes
	}
	text, err := io.ReadAll(io.LimitReader(part, int64(most)+1))
	if err != nil {
		return err
	}
	if *to = strings.TrimSpace(string(text)); len(text) > most || !utf8.Valid(text) || strings.ContainsFunc(*to, unprintable) {
		return badRequest("the name of the %s is none: at most %d printable characters", part.FormName(), most)
	}
	return nil
}

// receive stores the files of a form under their base names, which must have an extension that can be read.
func (s *Server) receive(r *http.Request, up *uploading) (paths []string, names arrayNames, err error) {
	form, err := r.MultipartReader()
	if err != nil {
		return nil, names, badRequest("wanted the files of a measurement as a form: %v", err)
	}
	for parts := 0; ; parts++ {
		part, err := form.NextPart()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, names, err
		}
		if parts == mostParts {
			return nil, names, badRequest("the form has more than %d parts", mostParts)
		}
		name := part.FileName() // the base name: package multipart drops folders
		if name == "" {
			if err := names.read(part); err != nil {
				return nil, names, err
			}
			continue
		}
		if len(paths) == mostFiles {
			return nil, names, badRequest("at most %d files can be measured together", mostFiles)
		}
		ext := strings.ToLower(filepath.Ext(name))
		if len(name) > nameBytes || !utf8.ValidString(name) || strings.ContainsFunc(name, unprintable) || strings.ContainsAny(name, "/\\*?[") || !slices.Contains(arrayfile.Endings(), ext) {
			return nil, names, badRequest("%s cannot be measured; wanted a file that ends in %s", clip(name), strings.Join(arrayfile.Endings(), ", "))
		}
		path := filepath.Join(up.folder.dir, strconv.Itoa(len(paths)), name)
		if err := up.store(part, path); err != nil {
			return nil, names, err
		}
		paths = append(paths, path)
	}
	if len(paths) == 0 {
		return nil, names, badRequest("no file came with the form; choose one, or drop it on the page")
	}
	_, err = io.Copy(io.Discard, r.Body) // to the end: only then does the server notice when the browser leaves
	return paths, names, err
}

// unprintable finds characters that do not belong in a name: control characters and those that change the direction of
// writing.
func unprintable(r rune) bool { return !unicode.IsPrint(r) }

// store writes a part of a form to a file in its own folder.
func (up *uploading) store(part io.Reader, path string) error {
	if err := os.Mkdir(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(counted{f, up}, part)
	return cmp.Or(err, f.Close())
}

// counted is a file whose bytes are counted for an upload before they are written.
type counted struct {
	to *os.File
	up *uploading
}

func (c counted) Write(b []byte) (int, error) {
	if err := c.up.take(int64(len(b))); err != nil {
		return 0, err
	}
	return c.to.Write(b)
}

// uploadError says what is wrong with an upload. Errors of the server's disk name no folder.
func (s *Server) uploadError(err error) error {
	var large *http.MaxBytesError
	var known statusError
	var disk *os.PathError
	switch {
	case err == nil, errors.As(err, &known):
		return err
	case errors.Is(err, errSlow):
		return statusError{http.StatusRequestTimeout, fmt.Errorf("the files arrived too slowly: below %d KiB per second, or longer than %v in total; `collapse measure` on the command line needs no upload", uploadRate>>10, s.opt.UploadTime)}
	case errors.As(err, &large):
		return statusError{http.StatusRequestEntityTooLarge, fmt.Errorf("the files are larger than %d MiB; `collapse measure` on the command line has no such limit", s.opt.MaxUpload>>20)}
	case store.IsFull(err):
		s.opt.Log("serve: an upload: %v", err)
		return statusError{http.StatusInsufficientStorage, errors.New("the server's disk for temporary files is full; free some space, or set TMPDIR to a folder with space")}
	case errors.As(err, &disk):
		s.opt.Log("serve: an upload: %v", err)
		return statusError{http.StatusServiceUnavailable, errors.New("the server cannot store the files; its log says why")}
	}
	return badRequest("the upload was cut off or is not a form: %v", err)
}

// forget removes the folder from a measurement: only the uploaded names mean anything to the reader.
func forget(found *measurement.Result, dir string) {
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

// Bounds of what is kept from measurements: numbers and pictures, never the files.
const (
	mostShown   = 8
	mostNumbers = 32 << 20 // of all together; the newest stays, however large
	shownFor    = 30 * time.Minute
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
	found *measurement.Result
	size  int // numbers
}

// numbersOf counts the numbers of a measurement, which grow with the files.
func numbersOf(found *measurement.Result) (n int) {
	for _, c := range found.Columns {
		if r := c.Report; r != nil {
			n += len(r.Margins) + len(r.ClassMeans) + len(r.TestClassMeans) + len(c.Sample)
			for _, v := range r.PerClass {
				n += len(v)
			}
		}
	}
	return n
}

func newShown(now func() time.Time) *shown { return &shown{now: now} }

func (s *shown) keep(found *measurement.Result) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.expire()
	token, total := rand.Text(), 0
	s.items = append(s.items, shownItem{token, s.now().Add(shownFor), found, numbersOf(found)})
	for i, it := range slices.Backward(s.items) {
		if total += it.size; i < len(s.items)-1 && (total > mostNumbers || len(s.items)-i > mostShown) {
			s.items = slices.Delete(s.items, 0, i+1)
			break
		}
	}
	return token
}

func (s *shown) get(token string) (*measurement.Result, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.expire()
	for _, it := range s.items {
		if it.token == token {
			return it.found, nil
		}
	}
	return nil, notFound("this measurement is no longer kept: only the last %d are, for %d minutes", mostShown, int(shownFor.Minutes()))
}

func (s *shown) expire() {
	s.items = slices.DeleteFunc(s.items, func(it shownItem) bool { return s.now().After(it.until) })
}

// measuredPage shows a measurement.
type measuredPage struct {
	frame
	Found   measurement.Summary
	Figures []shownFigure
}

func (s *Server) measuredPage(w http.ResponseWriter, r *http.Request) error {
	token := r.PathValue("token")
	found, err := s.shown.get(token)
	if err != nil {
		return err
	}
	p := measuredPage{Found: found.Summary()}
	p.frame = s.frame(r, "measure", cmp.Or(p.Found.Name, "Measured"))
	p.Figures = drawAll(figure.OfMeasurement(found), "/measure/"+token+"/figures", nil)
	s.write(w, http.StatusOK, "measured", p)
	return nil
}

func (s *Server) measuredFigures(r *http.Request) ([]figure.Picture, error) {
	found, err := s.shown.get(r.PathValue("token"))
	if err != nil {
		return nil, err
	}
	return figure.OfMeasurement(found), nil
}
