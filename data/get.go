package data

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
)

// GetOptions says where Get puts a set and how it reaches it.
type GetOptions struct {
	Root     string              // directory that holds the data sets; "": environment COLLAPSE_DATA
	Mirror   string              // base address that serves the files under their own names, tried before the official ones; "": none
	Client   *http.Client        // nil: http.DefaultClient
	Progress func(file Transfer) // called from time to time while a file is fetched, and once when it is complete; may be nil
}

// Transfer is the progress of a file.
type Transfer struct {
	File        string
	Done, Total int64 // bytes; Done begins where an interrupted download left off
}

// Got is the outcome for one file of a set.
type Got struct {
	File    string   `json:"file"`
	State   GotState `json:"state"`
	URL     string   `json:"url,omitempty"` // where it was fetched from
	Bytes   int64    `json:"bytes"`
	SHA256  string   `json:"sha256"`
	Source  string   `json:"checksum_source"`
	Folder  string   `json:"folder"`            // where it, or its contents, is now
	Members []string `json:"members,omitempty"` // files unpacked from it
}

// GotState says whether a file had to be fetched.
type GotState string

const (
	Fetched GotState = "fetched" // downloaded, and its checksum is right
	Already GotState = "already" // existed: with the right checksum or, for an archive, all its files with their official sizes
)

// ByHandError says that a set has no download address, and what to do.
type ByHandError struct {
	Name   string
	Advice string
}

func (e *ByHandError) Error() string {
	return fmt.Sprintf("data: %s cannot be downloaded by this program: %s", e.Name, e.Advice)
}

// DownloadError says that no address served a file, and what to do by hand. What was received stays in a .part file, which the next
// call continues.
type DownloadError struct {
	File RemoteFile
	To   string // where the file belongs
	Err  error  // the errors of all addresses
}

func (e *DownloadError) Error() string {
	what := "put it into"
	if e.File.members != nil {
		what = "unpack it with tar -xzf in"
	}
	return fmt.Sprintf("data: %s could not be downloaded: %v\nwithout a network, fetch %s (%d bytes, SHA-256 %s) on another machine and %s %s",
		e.File.Name, e.Err, e.File.URLs[0], e.File.Size, e.File.SHA256, what, e.To)
}

func (e *DownloadError) Unwrap() error { return e.Err }

// ErrNoRoot says that neither the call nor the environment names a root.
var ErrNoRoot = errors.New("no directory was given for the files")

// Get downloads a set into the root, where Open finds it: file by file, each continued where an interrupted call stopped, checked against
// its published checksum, and moved to its place only when it is complete. Existing files are not fetched again. It returns what it did,
// even with an error: *UnknownError, *ByHandError, ErrNoRoot, *DownloadError, ctx's error, or what the disk said.
func Get(ctx context.Context, name string, opts GetOptions) ([]Got, error) {
	i := slices.IndexFunc(registry, func(i *Info) bool { return i.Name == name })
	if i < 0 {
		return nil, &UnknownError{name}
	}
	info := registry[i]
	switch {
	case info.BuiltIn():
		return nil, &ByHandError{name, "it is built in and needs no files"}
	case len(info.Remote) == 0:
		return nil, &ByHandError{name, info.advice()}
	}
	opts.Root = rootOf(opts.Root)
	if opts.Root == "" {
		return nil, fmt.Errorf("data: %s: %w; name one with --root or %s", name, ErrNoRoot, RootVariable)
	}
	return getAll(ctx, info, opts)
}

func getAll(ctx context.Context, info *Info, opts GetOptions) ([]Got, error) {
	folder := filepath.Join(opts.Root, filepath.FromSlash(info.dirs[0]))
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return nil, fmt.Errorf("data: %w", err)
	}
	unlock, err := lockFolder(folder)
	if err != nil {
		return nil, err
	}
	defer unlock()
	var got []Got
	for _, f := range info.Remote {
		g := getter{GetOptions: opts, file: f, folder: folder}
		one, err := g.get(ctx)
		if err != nil {
			return got, err
		}
		got = append(got, one)
	}
	return got, nil
}

// getter fetches one file into a folder.
type getter struct {
	GetOptions
	file   RemoteFile
	folder string
}

// get does nothing if the file exists, and fails if another file is in its place: it belongs to the user and is not
// replaced.
func (g *getter) get(ctx context.Context) (Got, error) {
	got := Got{File: g.file.Name, State: Already, Bytes: g.file.Size, SHA256: g.file.SHA256, Source: g.file.Source, Folder: g.folder}
	for _, m := range g.file.members {
		got.Members = append(got.Members, m.name)
	}
	there, err := g.there()
	if err != nil || there {
		return got, err
	}
	got.State = Fetched
	part := filepath.Join(g.folder, g.file.Name+".part")
	if got.URL, err = g.download(ctx, part); err != nil {
		if ctx.Err() != nil {
			return got, fmt.Errorf("data: %s: stopped; the same command continues where it stopped: %w", g.file.Name, ctx.Err())
		}
		to := g.folder
		if g.file.members != nil { // its names begin with the folder's
			to = g.Root
		}
		return got, &DownloadError{File: g.file, To: to, Err: err}
	}
	if g.file.members != nil {
		err = unpack(part, g.folder, g.file.members)
	} else {
		err = os.Rename(part, filepath.Join(g.folder, g.file.Name))
	}
	if err != nil {
		return got, fmt.Errorf("data: %s is complete but could not be moved to its place: %w", part, err)
	}
	return got, syncDir(g.folder)
}

// there reports whether the file, or everything in an archive, is in its place. A file of another size or checksum is an error.
func (g *getter) there() (bool, error) {
	if g.file.members == nil {
		path := filepath.Join(g.folder, g.file.Name)
		sum, size, err := fileSum(path)
		switch {
		case errors.Is(err, os.ErrNotExist):
			return false, nil
		case err != nil:
			return false, fmt.Errorf("data: %w", err)
		case size != g.file.Size || sum != g.file.SHA256:
			return false, fmt.Errorf("data: %s exists but is not the official file: it has %d bytes and SHA-256 %s, want %d and %s (%s); move it away, or keep it and do not fetch",
				path, size, sum, g.file.Size, g.file.SHA256, g.file.Source)
		}
		return true, nil
	}
	present := 0
	for _, m := range g.file.members {
		st, err := os.Stat(filepath.Join(g.folder, m.name))
		switch {
		case errors.Is(err, os.ErrNotExist):
		case err != nil:
			return false, fmt.Errorf("data: %w", err)
		case st.Size() != m.size:
			return false, fmt.Errorf("data: %s exists but is not the official file: it has %d bytes, want %d; move it away, or keep it and do not fetch",
				filepath.Join(g.folder, m.name), st.Size(), m.size)
		default:
			present++
		}
	}
	return present == len(g.file.members), nil
}
