package powercut_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"collapse.example/collapse/internal/faulttest"
	"collapse.example/collapse/internal/longtest"
	"collapse.example/collapse/internal/powercut"
	"collapse.example/collapse/internal/queue"
	"collapse.example/collapse/internal/study/studytest"
)

// queueAt opens the queue whose files are in dir, and its coordinator.
func queueAt(ctx context.Context, dir string) (*queue.Coordinator, *queue.Broker, func(), error) {
	server, err := queue.StartServer(queue.ServerOptions{Dir: dir})
	if err != nil {
		return nil, nil, nil, err
	}
	opt := studytest.QuickQueue()
	opt.Version = "1"
	broker, err := server.Connect(opt)
	if err != nil {
		server.Close()
		return nil, nil, nil, err
	}
	c, err := broker.Coordinate(ctx, "lab")
	return c, broker, func() { broker.Close(); server.Close() }, err
}

const queueMessages = 6

// roleQueue does what coordinator and worker do of a job, with the queue's files in args[0]/queue and shared blobs in args[0]/blobs.
func roleQueue(args []string) error {
	token, _, _, err := queue.LabToken(args[0])
	if err != nil {
		return err
	}
	fmt.Println("token", token)
	c, broker, end, err := queueAt(ctx, filepath.Join(args[0], "queue"))
	if err != nil {
		return err
	}
	defer end()
	if err := c.Submit(ctx, queue.Job{ID: "a", Priority: queue.Normal}, queue.Job{ID: "b", Priority: queue.Low}); err != nil {
		return err
	}
	fmt.Println("submitted")
	objects, err := broker.Objects(ctx)
	if err != nil {
		return err
	}
	if err := queue.MakeFolder(filepath.Join(args[0], "blobs")); err != nil {
		return err
	}
	shared := queue.Folder(filepath.Join(args[0], "blobs"))
	working, stop := context.WithCancel(ctx)
	err = broker.Work(working, queue.WorkerOptions{Name: "w"}, func(ctx context.Context, t *queue.Task) ([]byte, error) {
		if t.ID == "b" {
			stop()
			<-ctx.Done()
			return nil, context.Cause(ctx)
		}
		return []byte("final"), roleTask(ctx, t, objects, shared)
	})
	if working.Err() != nil {
		err = nil
	}
	return err
}

func roleTask(ctx context.Context, t *queue.Task, objects, shared queue.Blobs) error {
	for i := range queueMessages {
		if err := t.Send(ctx, message(i)); err != nil {
			return err
		}
		fmt.Println("sent", i)
		if err := t.SetState(ctx, []byte{byte(i)}); err != nil {
			return err
		}
		fmt.Println("state", i)
		for word, blobs := range map[string]queue.Blobs{"object": objects, "shared": shared} {
			blob, err := blobs.Put(ctx, fmt.Sprintf("a/%d/%s", i, word), bytes.NewReader(message(i)))
			if err != nil {
				return err
			}
			text, err := json.Marshal(blob)
			if err != nil {
				return err
			}
			fmt.Printf("%s %s\n", word, text)
		}
	}
	return nil
}

func message(i int) []byte { return bytes.Repeat([]byte{byte('a' + i)}, 3000*(i+1)) }

// TestAQueueAfterAPowerCut: the server starts, and has every job, message, state and blob that it said it had.
func TestAQueueAfterAPowerCut(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	cmd := faulttest.Command("queue", root)
	cmd.Env = append(cmd.Env, "XDG_CONFIG_HOME="+filepath.Join(root, "config"))
	r := powercut.Record(t, root, cmd)
	r.Named = true // the queue's server syncs no folders
	r.Cuts(t, longtest.Of(24, 300), func(t *testing.T, c powercut.Cut) {
		t.Parallel()
		hasToken(t, c.Dir, c)
		within, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		coordinator, broker, end, err := queueAt(within, filepath.Join(c.Dir, "queue"))
		must(t, err)
		defer end()
		if _, ok := c.SaidLast("submitted"); ok {
			jobs, err := coordinator.Jobs(within)
			must(t, err)
			if !strings.Contains(fmt.Sprint(jobs), "b") {
				t.Errorf("the queue has the jobs %v", jobs)
			}
		}
		hasMessages(within, t, coordinator, c)
		objects, err := broker.Objects(within)
		must(t, err)
		for _, line := range c.Said {
			word, text, _ := strings.Cut(line, " ")
			blobs := map[string]queue.Blobs{"object": objects, "shared": queue.Folder(filepath.Join(c.Dir, "blobs"))}[word]
			if blobs == nil {
				continue
			}
			var blob queue.Blob
			must(t, json.Unmarshal([]byte(text), &blob))
			if err := blobs.Get(within, blob, io.Discard); err != nil {
				t.Errorf("a blob that was said to be stored: %v", err)
			}
		}
	})
}

// hasMessages checks that the queue gives every message that was sent, and the state that was saved last, or a later one.
func hasMessages(ctx context.Context, t *testing.T, coordinator *queue.Coordinator, c powercut.Cut) {
	t.Helper()
	last := -1
	if text, ok := c.SaidLast("sent"); ok {
		fmt.Sscan(text, &last)
	}
	got := map[string]bool{}
	must(t, coordinator.Replay(ctx, func(list []queue.Message) error {
		for _, m := range list {
			got[string(m.Data)] = true
		}
		return nil
	}))
	for i := range last + 1 {
		if !got[string(message(i))] {
			t.Errorf("message %d was said to be sent, and is gone", i)
		}
	}
	text, ok := c.SaidLast("state")
	if !ok || last == queueMessages-1 { // the job may have ended
		return
	}
	var state byte
	fmt.Sscan(text, &state)
	leases, err := coordinator.Leases(ctx)
	must(t, err)
	for _, lease := range leases {
		if lease.Job == "a" && (len(lease.State) != 1 || lease.State[0] < state) {
			t.Errorf("the state is %v, and %d was said to be saved", lease.State, state)
		}
	}
	if len(leases) == 0 {
		t.Error("no lease is left")
	}
}

// roleToken makes tokens in the folder args[0]: of a lab that is new, and in a file that a user names.
func roleToken(args []string) error {
	token, _, _, err := queue.LabToken(filepath.Join(args[0], "new", "lab"))
	if err != nil {
		return err
	}
	fmt.Println("token", token)
	if token, err = queue.TokenFile(filepath.Join(args[0], "my", "keys", "token"), true); err != nil {
		return err
	}
	fmt.Println("file", token)
	return nil
}

// TestTokensAfterAPowerCut: on a disk that keeps a name only if its folder was synced, a token that workers were given still counts.
func TestTokensAfterAPowerCut(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	cmd := faulttest.Command("token", root)
	cmd.Env = append(cmd.Env, "XDG_CONFIG_HOME="+filepath.Join(root, "config"))
	powercut.Record(t, root, cmd).Cuts(t, 12, func(t *testing.T, c powercut.Cut) {
		hasToken(t, filepath.Join(c.Dir, "new", "lab"), c)
		if token, ok := c.SaidLast("file"); ok {
			if got, err := queue.TokenFile(filepath.Join(c.Dir, "my", "keys", "token"), false); err != nil || got != token {
				t.Errorf("the user's file has the token %q, %v, and was said to have %q", got, err, token)
			}
		}
	})
}

// hasToken checks that a lab's token is the one that workers were given, and that it will count.
func hasToken(t *testing.T, lab string, c powercut.Cut) {
	t.Helper()
	token, ok := c.SaidLast("token")
	if !ok {
		return
	}
	text, err := os.ReadFile(filepath.Join(lab, "queue.token"))
	if err != nil || strings.TrimSpace(string(text)) != token {
		t.Errorf("the token is %q, %v, and was said to be %q", text, err, token)
	}
	want := fmt.Sprintf("%x", sha256.Sum256([]byte(token)))
	for _, record := range files(t, filepath.Join(c.Dir, "config")) {
		if strings.TrimSpace(string(record)) == want {
			return
		}
	}
	t.Error("no record says that the token counts")
}
