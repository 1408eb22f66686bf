//go:build unix

package script

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"collapse.example/collapse/internal/faulttest"
	"collapse.example/collapse/internal/longtest"
	"collapse.example/collapse/internal/store"
)

// labProcess computes a run: lab, folder of the code, payload.
func labProcess(args []string) error {
	lab, err := store.Open(args[0], store.Options{})
	if err != nil {
		return err
	}
	defer lab.Close()
	spec, err := Decode(args[2])
	if err != nil {
		return err
	}
	for try := 0; ; try++ { // as the queue would
		err = Run(context.Background(), lab, spec, Options{Folder: args[1], Reported: func(e int) { fmt.Println("epoch", e) }})
		var why *FailedError
		if err == nil || errors.As(err, &why) || try == 3 {
			break
		}
	}
	if err == nil {
		fmt.Println("done")
	}
	return err
}

// TestKills kills the program, the script, or both, at all kinds of moments, until the run is done: its rows are complete, each
// once, and no process of any attempt is left.
func TestKills(t *testing.T) {
	longtest.Only(t)
	t.Parallel()
	kills := longtest.Of(12, 36) // every 12 kills have all combinations of whom and when
	if testing.Short() {
		kills = 9
	}
	// Each attempt records its own process and that of a child. The last epoch waits for the kills.
	spec, folder := written(t, `sleep 1000 & echo $$ $! >> pids
		while [ $e -le $COLLAPSE_EPOCHS ]; do
			while [ $e = $COLLAPSE_EPOCHS ] && [ ! -f enough ]; do sleep 0.01; done
			sleep 0.02; checkpoint $e; report $e 0.$e; e=$((e + 1))
		done; finish`, 60)
	payload, err := spec.Encode()
	must(t, err)
	dir := t.TempDir()
	hash, _, err := spec.Identity()
	must(t, err)
	killed := 0
	for done := false; !done; {
		cmd, lines := faulttest.Play(t, "lab", dir, folder, payload)
		over := make(chan bool, 1)
		go func() {
			finished := false
			for line := range lines {
				finished = finished || line == "done"
			}
			over <- finished
		}()
		for programLives := true; programLives && killed < kills; killed++ {
			if before := len(started(folder)); killed%4 != 0 {
				for start := time.Now(); len(started(folder)) == before && time.Since(start) < 3*time.Second; {
					time.Sleep(5 * time.Millisecond)
				}
			}
			time.Sleep(time.Duration(20+13*(killed%17)) * time.Millisecond)
			if pids := started(folder); killed%3 != 0 && len(pids) > 0 {
				syscall.Kill(pids[len(pids)-2], syscall.SIGKILL)
			}
			if killed%3 != 1 {
				cmd.Process.Kill()
				programLives = false
			}
		}
		if killed == kills {
			must(t, os.WriteFile(filepath.Join(folder, "enough"), nil, 0o666))
		}
		select {
		case done = <-over:
		case <-time.After(60 * time.Second):
			t.Fatal("the run does not end")
		}
		cmd.Wait()
	}
	whole(t, openLab(t, dir), hash, 60)
	for _, pid := range started(folder) {
		for start := time.Now(); alive(pid); time.Sleep(5 * time.Millisecond) {
			if time.Since(start) > 10*time.Second {
				t.Fatalf("process %d lives", pid)
			}
		}
	}
	t.Logf("%d kills, %d attempts", killed, len(started(folder))/2)
}

// started lists the processes of all attempts.
func started(folder string) (pids []int) {
	text, _ := os.ReadFile(filepath.Join(folder, "pids"))
	for _, word := range strings.Fields(string(text)) {
		if pid, err := strconv.Atoi(word); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids[:len(pids)/2*2]
}
