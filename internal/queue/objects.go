package queue

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nuid"
)

// objects are blobs in an object store. Its content may be damaged: an entry that links to itself, one whose parts are missing, one
// that cannot be parsed. The library would follow the first, and wait for the other two, forever.
type objects struct {
	s      jetstream.ObjectStore
	js     jetstream.JetStream
	bucket string
}

// Put does not replace a blob of the same name, since only the coordinator may remove anything; it picks another name.
func (o objects) Put(ctx context.Context, name string, r io.Reader) (Blob, error) {
	if _, err := o.s.GetInfo(ctx, name, jetstream.GetObjectInfoShowDeleted()); !errors.Is(err, jetstream.ErrObjectNotFound) {
		name += "~" + nuid.Next()
	}
	sum := summer{h: sha256.New()}
	if _, err := o.s.Put(ctx, jetstream.ObjectMeta{Name: name}, io.TeeReader(r, &sum)); err != nil {
		return Blob{}, fmt.Errorf("queue: storing %s: %w", name, err)
	}
	return sum.blob(name), nil
}

// slowest is the speed, in bytes per second, below which fetching a blob is given up.
const slowest = 64 << 10

func (o objects) Get(ctx context.Context, b Blob, w io.Writer) error {
	if err := o.whole(ctx, b); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second+time.Duration(b.Bytes/slowest)*time.Second)
	defer cancel()
	r, err := o.s.Get(ctx, b.Name)
	if err != nil {
		return fmt.Errorf("queue: fetching %s: %w", b.Name, err)
	}
	defer r.Close()
	return b.copy(w, r)
}

// whole returns an error unless the store has an object with the blob's name and size and with all its parts.
func (o objects) whole(ctx context.Context, b Blob) error {
	i, err := o.s.GetInfo(ctx, b.Name)
	if err != nil {
		return fmt.Errorf("queue: fetching %s: %w", b.Name, err)
	}
	switch {
	case i.Opts != nil && i.Opts.Link != nil:
		return fmt.Errorf("queue: %s is a link, wanted a blob", b.Name)
	case !validID(i.NUID):
		return fmt.Errorf("queue: %s has no parts", b.Name)
	case b.Bytes < 0 || i.Size != uint64(b.Bytes):
		return fmt.Errorf("queue: %s has %d bytes, wanted %d", b.Name, i.Size, b.Bytes)
	}
	subject := "$O." + o.bucket + ".C." + i.NUID
	subjects, err := o.subjects(ctx, subject)
	if err != nil {
		return err
	}
	if have := subjects[subject]; have != uint64(i.Chunks) {
		return fmt.Errorf("queue: %s has %d of its %d parts", b.Name, have, i.Chunks)
	}
	return nil
}

// subjects returns the number of messages in the store for each subject that matches filter.
func (o objects) subjects(ctx context.Context, filter string) (map[string]uint64, error) {
	i, err := streamInfo(ctx, o.js, "OBJ_"+o.bucket, jetstream.WithSubjectFilter(filter))
	if err != nil {
		return nil, fmt.Errorf("queue: the object store: %w", err)
	}
	return i.State.Subjects, nil
}

// List skips entries with unreadable names, and parts without an entry: those are from a worker that was killed, or is still writing.
func (o objects) List(ctx context.Context) ([]string, error) {
	above := o.entry("")
	subjects, err := o.subjects(ctx, above+">")
	if err != nil {
		return nil, err
	}
	var names []string
	for subject := range subjects {
		if name, err := base64.URLEncoding.DecodeString(strings.TrimPrefix(subject, above)); err == nil && o.entry(string(name)) == subject {
			names = append(names, string(name))
		}
	}
	return names, nil
}

// entry is the subject of the entry with the given name.
func (o objects) entry(name string) string {
	return "$O." + o.bucket + ".M." + base64.URLEncoding.EncodeToString([]byte(name))
}

// Remove removes the parts first: while there is an entry, its parts can be found. The library's own removal would leave an entry
// marked as removed forever.
func (o objects) Remove(ctx context.Context, names ...string) error {
	if len(names) == 0 {
		return nil
	}
	s, err := o.js.Stream(ctx, "OBJ_"+o.bucket)
	if err != nil {
		return fmt.Errorf("queue: the object store: %w", err)
	}
	for _, name := range names {
		i, err := o.s.GetInfo(ctx, name, jetstream.GetObjectInfoShowDeleted())
		switch {
		case errors.Is(err, jetstream.ErrObjectNotFound):
			continue
		case err == nil && validID(i.NUID):
			err = s.Purge(ctx, jetstream.WithPurgeSubject("$O."+o.bucket+".C."+i.NUID))
		case err == nil || errors.Is(err, jetstream.ErrBadObjectMeta): // not a valid entry
			err = nil
		}
		if err == nil {
			err = s.Purge(ctx, jetstream.WithPurgeSubject(o.entry(name)))
		}
		if err != nil {
			return fmt.Errorf("queue: removing %s: %w", clean(name, longestName), err)
		}
	}
	return nil
}

func (o objects) Clear(ctx context.Context) error {
	s, err := o.js.Stream(ctx, "OBJ_"+o.bucket)
	if err == nil {
		err = s.Purge(ctx)
	}
	if err != nil {
		return fmt.Errorf("queue: emptying the object store: %w", err)
	}
	return nil
}
