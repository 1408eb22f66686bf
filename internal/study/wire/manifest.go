package wire

import (
	"archive/tar"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"collapse.example/collapse/internal/queue"
	"collapse.example/collapse/internal/train"
)

// Manifest is the last message of a worker elsewhere: the run's files, in the message or in a blob.
type Manifest struct {
	Inline []byte      `json:"inline,omitempty"` // a tar archive
	Blob   *queue.Blob `json:"blob,omitempty"`
	Shared bool        `json:"shared,omitempty"` // the blob is in the shared folder
}

// InlineLimit is the largest archive of files that goes into the last message itself, where JSON makes it a third larger.
const InlineLimit = queue.MaxMessage / 2

// SendFiles gets a finished run's files to the coordinator, and returns the last message.
func SendFiles(ctx context.Context, t *queue.Task, dir string, blobs func() (queue.Blobs, error), shared bool) ([]byte, error) {
	newest := NewestOf(dir)
	kept, err := train.FilesBetween(dir, 0, int(newest))
	if err != nil {
		return nil, err
	}
	keep := runFiles(newest, kept)
	m := Manifest{Shared: shared}
	small := &bounded{limit: InlineLimit}
	err = Pack(small, dir, keep)
	switch {
	case err == nil:
		m.Inline = small.Bytes()
	case !errors.Is(err, errBound):
		return nil, err
	default:
		to, err := blobs()
		if err != nil {
			return nil, err
		}
		blob, err := put(ctx, to, BlobsOf(t)+"/files.tar", func(w io.Writer) error { return Pack(w, dir, keep) })
		if err != nil {
			return nil, err
		}
		m.Blob = &blob
	}
	return encoded(m), nil
}

// bounded is a buffer that refuses more than limit bytes.
type bounded struct {
	bytes.Buffer
	limit int
}

var errBound = errors.New("study: larger than wanted")

func (b *bounded) Write(p []byte) (int, error) {
	if b.Len()+len(p) > b.limit {
		return 0, errBound
	}
	return b.Buffer.Write(p)
}

// Unpack unpacks the files into the folder staging. blobs opens the store they are in if they did not fit into the message.
func (files Manifest) Unpack(ctx context.Context, staging string, blobs func(ctx context.Context, shared bool) (queue.Blobs, error)) error {
	if files.Blob == nil {
		return unpack(bytes.NewReader(files.Inline), staging)
	}
	from, err := blobs(ctx, files.Shared)
	if err != nil {
		return err
	}
	return fetch(ctx, from, *files.Blob, staging)
}

// ReadManifest reads the list of a finished run's files.
func ReadManifest(m queue.Message) (Manifest, error) {
	var files Manifest
	if err := json.Unmarshal(m.Data, &files); err != nil {
		return files, fmt.Errorf("study: the list of a run's files: %w", err)
	}
	if b := files.Blob; b != nil {
		if err := boundedText(b.Name, LongestKey); err != nil {
			return files, err
		}
		if !strings.HasPrefix(b.Name, m.Job+"/") || b.Bytes < 0 {
			return files, fmt.Errorf("study: a run's files are in %q with %d bytes; wanted a blob of the run", b.Name, b.Bytes)
		}
	}
	return files, nil
}

// OneFile is the last message of a run with a single file, which it contains.
func OneFile(name string, content []byte) []byte {
	var archive bytes.Buffer
	t := tar.NewWriter(&archive)
	err := t.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(content)), Format: tar.FormatPAX})
	_, err1 := t.Write(content)
	if errors.Join(err, err1, t.Close()) != nil {
		panic("study: an archive in memory cannot be written")
	}
	return encoded(Manifest{Inline: archive.Bytes()})
}
