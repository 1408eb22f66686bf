//go:build unix

package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// parsed is the command line as the program understands it. Files that it names must be there.
func parsed(t *testing.T, args []string) (flags program, command string) {
	t.Helper()
	_, line, err := parse(&flags, args, io.Discard, io.Discard)
	if err != nil {
		t.Errorf("collapse %s: %v", strings.Join(args, " "), err)
		return flags, ""
	}
	return flags, line.Command()
}

// tools makes a folder of commands, each a shell script.
func tools(t *testing.T, scripts map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range scripts {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+text+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// recorder stands for collapse: it writes its arguments to the file, one a line, and its last line once it is
// told to stop. It does not begin without a token.
func recorder(file string) string {
	return fmt.Sprintf(`trap 'echo stopped >> %[1]s; exit 0' TERM
printf '%%s\n' "$@" > %[1]s.new && mv %[1]s.new %[1]s
while sleep 0.05; do :; done`, file)
}

func recorded(t *testing.T, file string, wanted func(lines []string) bool) []string {
	t.Helper()
	for start := time.Now(); time.Since(start) < 20*time.Second; time.Sleep(20 * time.Millisecond) {
		text, err := os.ReadFile(file)
		if lines := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n"); err == nil && wanted(lines) {
			return lines
		}
	}
	t.Fatalf("%s was not written", file)
	return nil
}

func begun([]string) bool         { return true }
func stopped(lines []string) bool { return lines[len(lines)-1] == "stopped" }
func deployed(t *testing.T, name string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("..", "..", "deploy", name))
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// script starts a deployment's script and ends it when the test does.
func script(t *testing.T, env []string, args ...string) *exec.Cmd {
	t.Helper()
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("this machine has no bash")
	}
	cmd := exec.Command("bash", args...)
	cmd.Env = append(os.Environ(), env...)
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Signal(syscall.SIGTERM); cmd.Wait() })
	return cmd
}

func tokenFile(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "queue.token")
	if err := os.WriteFile(path, []byte("a-token-of-some-length\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestTheSlurmScriptStartsAWorker runs the batch script as a node does, with a command in the place of collapse.
func TestTheSlurmScriptStartsAWorker(t *testing.T) {
	record, token, scratch := filepath.Join(t.TempDir(), "args"), tokenFile(t), t.TempDir()
	bin := tools(t, map[string]string{"srun": `exec "$@"`, "collapse": recorder(record)})
	env := []string{"PATH=" + bin + ":" + os.Getenv("PATH"), "COORDINATOR=tls://lab:4333", "TOKEN=" + token, "SLURM_CPUS_PER_TASK=4",
		"SLURM_JOB_ID=17", "SLURM_ARRAY_TASK_ID=3", "TMPDIR=" + scratch, "BLOBS=" + scratch}
	batch := script(t, env, deployed(t, "slurm.sbatch"))
	flags, command := parsed(t, recorded(t, record, begun))
	w := flags.Worker
	if command != "worker" || flags.Threads != 4 || w.Connect != "tls://lab:4333" || w.TokenFile != token || w.Name != "slurm-17-3" ||
		w.Scratch != filepath.Join(scratch, fmt.Sprint("collapse-", os.Getuid())) || w.Blobs != scratch {
		t.Errorf("%s with %d threads: %+v", command, flags.Threads, w)
	}
	batch.Process.Signal(syscall.SIGTERM) // reaches the worker itself: the script has become it
	recorded(t, record, stopped)
}

// TestTheSlurmScriptForGPUsStartsAWorker: a run at a time on the task's GPU, by the Python that was named, and scripts of the named folder alone.
func TestTheSlurmScriptForGPUsStartsAWorker(t *testing.T) {
	record, token, code := filepath.Join(t.TempDir(), "args"), tokenFile(t), t.TempDir()
	bin := tools(t, map[string]string{"srun": `exec "$@"`, "collapse": recorder(record)})
	env := []string{"PATH=" + bin + ":" + os.Getenv("PATH"), "COORDINATOR=tls://lab:4333", "TOKEN=" + token, "SLURM_CPUS_PER_TASK=8", "PYTHON=/venv/bin/python"}
	for _, scripts := range []string{"", code} {
		os.Remove(record)
		batch := script(t, append(env, "CODE="+scripts), deployed(t, "slurm-gpu.sbatch"))
		flags, command := parsed(t, recorded(t, record, begun))
		w := flags.Worker
		if command != "worker" || flags.Threads != 8 || w.Connect != "tls://lab:4333" || w.TokenFile != token || w.Slots != 1 ||
			!slices.Equal(w.Device, []string{"cuda:0"}) || w.Python != "/venv/bin/python" || w.Scripts != scripts {
			t.Errorf("%s with %d threads: %+v", command, flags.Threads, w)
		}
		batch.Process.Signal(syscall.SIGTERM)
		recorded(t, record, stopped)
	}
	text, err := os.ReadFile(deployed(t, "slurm-gpu.sbatch"))
	if err != nil || !strings.Contains(string(text), "\n#SBATCH --gres=gpu:1\n") {
		t.Errorf("the task has no GPU: %v", err)
	}
}

// TestTheSSHScriptStartsAWorkerAndStopsIt runs the script with a shell in the place of another machine. As with ssh, what
// runs there outlives the command here, whose end it notices by its input.
func TestTheSSHScriptStartsAWorkerAndStopsIt(t *testing.T) {
	record, home := filepath.Join(t.TempDir(), "args"), t.TempDir()
	bin := tools(t, map[string]string{"collapse": recorder(record), "elsewhere": `shift; cd "$REMOTE_HOME"; exec 3<&0; sh -c "$*" <&3 & wait $!`})
	token := tokenFile(t)
	env := []string{"REMOTE_HOME=" + home, "SSH=" + filepath.Join(bin, "elsewhere"), "COLLAPSE=" + filepath.Join(bin, "collapse")}
	far := script(t, env, deployed(t, "ssh.sh"), "nats://10.0.0.5:4333", token, "node1")
	args := recorded(t, record, begun)
	t.Chdir(filepath.Join(home, ".collapse-worker"))
	flags, command := parsed(t, args)
	w := flags.Worker
	if command != "worker" || w.Connect != "nats://10.0.0.5:4333" || filepath.Base(w.TokenFile) != "queue.token" || w.Name != "node1" {
		t.Errorf("%s: %+v", command, w)
	}
	copied, err := os.Stat("queue.token")
	if err != nil || copied.Mode().Perm() != 0o600 {
		t.Errorf("the token's copy: %v, %v", copied, err)
	}
	far.Process.Signal(syscall.SIGTERM)
	recorded(t, record, stopped)
}

func TestTheKubernetesJobStartsAWorker(t *testing.T) {
	kubernetesWorker(t, "kubernetes.yaml")
	w, text := kubernetesWorker(t, "kubernetes-gpu.yaml")
	if !slices.Equal(w.Device, []string{"cuda:0"}) || w.Slots != 1 || w.Python != "python3" || !strings.Contains(text, `nvidia.com/gpu: "1"`) {
		t.Errorf("%+v", w)
	}
}

// kubernetesWorker reads the container's command, the one line that is ours, and what it mounts.
func kubernetesWorker(t *testing.T, name string) (w workerCmd, file string) {
	t.Helper()
	text, err := os.ReadFile(deployed(t, name))
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`(?m)^ +command: (\[.*\])$`).FindSubmatch(text)
	if found == nil {
		t.Fatal("no command")
	}
	var args []string
	if err := json.Unmarshal(found[1], &args); err != nil {
		t.Fatal(err)
	}
	at := slices.Index(args, "--token-file") + 1
	for _, mount := range []string{filepath.Dir(args[at]), args[slices.Index(args, "--scratch")+1]} {
		if !strings.Contains(string(text), "mountPath: "+mount) {
			t.Errorf("nothing is mounted at %s", mount)
		}
	}
	args[at] = tokenFile(t) // as the secret is
	flags, command := parsed(t, args[1:])
	w = flags.Worker
	if args[0] != "/collapse" || command != "worker" || w.Connect != "tls://lab.example.org:4333" || w.Scratch != "/scratch" {
		t.Errorf("%s: %+v", command, w)
	}
	return w, string(text)
}

// commandLine finds commands in comments and prose: to the end of the line, two spaces, or what closes a quotation.
var commandLine = regexp.MustCompile("(?m)(?:^ *|`|: +|#  +)collapse ((?:--[a-z]+ [0-9]+ )?(?:study|worker|bench) .*?)(?:`|$|  |  #)")

// TestCommandLinesInTheClustersGuide parses every command that the guide and the files in deploy show.
func TestCommandLinesInTheClustersGuide(t *testing.T) {
	files, err := filepath.Glob(deployed(t, "*"))
	if err != nil || len(files) < 3 {
		t.Fatal(files, err)
	}
	files = append(files, deployed(t, "../docs/cluster.md"), deployed(t, "../docs/scale.md"), deployed(t, "../docs/internal/queue.md"))
	var texts []string
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, string(text))
	}
	t.Chdir(t.TempDir())
	for _, name := range []string{"FILE", "queue.token", "study.toml"} {
		if err := os.WriteFile(name, []byte("there\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	lines := commandLine.FindAllStringSubmatch(strings.Join(texts, "\n"), -1)
	if len(lines) < 10 {
		t.Fatalf("only %d commands found", len(lines))
	}
	for _, line := range lines {
		parsed(t, strings.Fields(line[1]))
	}
}
