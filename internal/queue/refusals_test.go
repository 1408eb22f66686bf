package queue

import (
	"errors"
	"io"
	"math"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"collapse.example/collapse/internal/jail"
)

// says reports an error that is missing or does not name its cause.
func says(t *testing.T, what string, err error, cause string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), cause) {
		t.Errorf("%s: %v, want an error that says %q", what, err, cause)
	}
}

// TestWhatAQueueRefuses: jobs, blobs, addresses, files and folders that cannot be meant, each for its own reason.
func TestWhatAQueueRefuses(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	_, c, _ := local(t, quick(t))
	for size, refused := range map[int]bool{4096: false, 4097: true} {
		job := jobs(1)[0]
		job.State = make([]byte, size)
		err := c.Submit(soon(t), job)
		if (err != nil) != refused || refused && !strings.Contains(err.Error(), "begins with a state of 4097 bytes; at most 4096 go with a job") {
			t.Errorf("a state of %d bytes: %v", size, err)
		}
	}
	must(t, MakeFolder(at("blobs")))
	b, err := Folder(at("blobs")).Put(t.Context(), "x", strings.NewReader("content"))
	must(t, err)
	for _, bytes := range []int64{-1, math.MaxInt64} {
		wrong := b
		wrong.Bytes = bytes
		says(t, "a blob of no size", Folder(at("blobs")).Get(t.Context(), wrong, io.Discard), "x claims to have ")
	}
	for _, name := range []string{"../x", "/x", ""} {
		wrong := b
		wrong.Name = name
		says(t, name, Folder(at("blobs")).Get(t.Context(), wrong, io.Discard), "is not the name of a blob")
		_, err := Folder(at("blobs")).Put(t.Context(), name, strings.NewReader("x"))
		says(t, name, err, "is not the name of a blob")
		says(t, name, Folder(at("blobs")).Remove(t.Context(), name), "is not the name of a blob")
	}
	must(t, os.WriteFile(at("file"), nil, 0o666))
	says(t, "a folder in a file", MakeFolder(at("file/blobs")), "queue: the shared folder: ")
	_, err = Folder(at("none")).List(t.Context())
	if err != nil {
		t.Errorf("a folder that is gone: %v", err)
	}
	must(t, os.Symlink(dir, at("link")))
	if _, err := StartServer(ServerOptions{Dir: at("link")}); !errors.As(err, new(*jail.LinkError)) || !strings.HasPrefix(err.Error(), "queue: ") {
		t.Errorf("a link for the folder of the server: %v", err)
	}
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer taken.Close()
	for address, cause := range map[string]string{"nonsense": `--listen "nonsense": wanted host:port`, taken.Addr().String(): "is the address free?"} {
		s, err := StartServer(ServerOptions{Dir: at("server"), Listen: address, Token: strings.Repeat("t", 20)})
		says(t, address, err, cause)
		if err == nil {
			s.Close()
		}
	}
	t.Setenv("HOME", "")
	t.Setenv("XDG_CONFIG_HOME", "")
	_, _, _, err = LabToken(dir)
	says(t, "no home", err, "name a file for it with --token-file")
}
