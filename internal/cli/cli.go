// Package cli is the command line: one file per command. Each turns flags into library calls that a
// user could make and prints the result. Start with Main.
package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync/atomic"

	"github.com/alecthomas/kong"

	"collapse.example/collapse/internal/engine"
	"collapse.example/collapse/internal/format"
	"collapse.example/collapse/internal/kernel/isa"
	"collapse.example/collapse/internal/outfile"
	"collapse.example/collapse/internal/screen"
	"collapse.example/collapse/internal/store"
)

// Exit codes of every command.
const (
	exitOK          = 0
	exitFailed      = 1   // the run failed
	exitUsage       = 2   // the call was wrong
	exitInterrupted = 130 // Ctrl-C
	exitTerminated  = 143 // SIGTERM
)

// program is the command line as a whole; kong reads its tags.
type program struct {
	Lab     string `help:"Folder where runs, epochs and measures live." env:"COLLAPSE_LAB" default:"./lab" type:"path" placeholder:"DIR"`
	JSON    bool   `name:"json" help:"Print one JSON document, and nothing else, on standard output."`
	Threads int    `help:"Threads to compute with; 0 means one per processor. Results do not depend on it." default:"0" placeholder:"N"`

	Quiet   bool `short:"q" xor:"loudness" help:"Print the result only: no progress, no notes, no advice on what to type next."`
	Verbose bool `short:"v" xor:"loudness" help:"Print details too: what a result was computed with, and full hashes."`

	ShowVersion versionFlag `name:"version" help:"Print the version and stop."`

	Demo   demoCmd `cmd:"" help:"A network that collapses, live, on built-in images; and three more." group:"Start:"`
	HelpOn helpCmd `cmd:"" name:"help" help:"Help on a command, with examples." group:"Start:"`

	Measure measureCmd `cmd:"" help:"Every collapse measure of features in files of any framework." group:"Measure:"`

	Train  trainCmd  `cmd:"" help:"One training run that takes every collapse measure on the way." group:"Train:"`
	Study  studyCmd  `cmd:"" help:"Many runs: a grid or a search, computed here or on many machines." group:"Train:"`
	Worker workerCmd `cmd:"" help:"Join a study from another machine." group:"Train:"`
	Data   dataCmd   `cmd:"" help:"Data sets: which there are and whether they are complete." group:"Train:"`

	Solve     solveCmd     `cmd:"" help:"Unconstrained-features models: exact optimum, numerical optimum, certificate." group:"Theory:"`
	Dilation  dilationCmd  `cmd:"" help:"The memorization–dilation model: cross-entropy against label smoothing." group:"Theory:"`
	Landscape landscapeCmd `cmd:"" help:"Loss and gradient of one feature around a simplex-ETF classifier." group:"Theory:"`

	Reproduce reproduceCmd `cmd:"" help:"A figure, table or theorem of the papers." group:"Papers:"`
	Results   resultsCmd   `cmd:"" help:"Table and figures of a folder of results, remade from its JSON files." group:"Papers:"`

	Serve    serveCmd  `cmd:"" help:"The live page: studies, runs and theory in the browser." group:"Lab:"`
	Runs     runsCmd   `cmd:"" help:"What the lab holds." group:"Lab:"`
	Report   reportCmd `cmd:"" help:"Pages and figures from saved results." group:"Lab:"`
	Export   exportCmd `cmd:"" help:"Runs and studies as one tidy table, or as event files of TensorBoard." group:"Lab:"`
	WholeLab labCmd    `cmd:"" name:"lab" help:"The lab as a whole: copy it, check what is in it." group:"Lab:"`

	Engine     engineCmd     `cmd:"" help:"Other engines that compute runs: PyTorch." group:"Developers:"`
	Bench      benchCmd      `cmd:"" help:"Rates of the kernels and of training steps, against the machine's limit." group:"Developers:"`
	Version    versionCmd    `cmd:"" help:"Version, kernel and processor." group:"Developers:"`
	Completion completionCmd `cmd:"" help:"Shell completion for bash, zsh or fish." group:"Developers:"`
	Licenses   licensesCmd   `cmd:"" help:"Licences of the program and of everything in it." group:"Developers:"`
	Wheel      wheelCmd      `cmd:"" hidden:"" help:"A Python wheel of this program." group:"Developers:"`
	Draw       drawCmd       `cmd:"" hidden:"" help:"A figure in JSON as SVG." group:"Developers:"`
}

// app is what a command works with: where to print, when to stop, the global flags.
type app struct {
	ctx    context.Context
	stdout io.Writer     // results only
	file1  io.Writer     // the file behind stdout, for outputs named "-"
	stderr io.Writer     // progress and messages; nowhere with --quiet
	errors io.Writer     // what failed
	screen screen.Screen // behind stdout
	flags  *program
	model  *kong.Kong
	args   []string // as given

	leaveable atomic.Bool // see onlyComputes
	unhurried atomic.Bool // a signal ends the command, but not before it is ready
	again     bool        // the call itself continues its studies: it says where their scripts are

	read  *store.Reader // the lab, once reader has opened it
	write *store.Lab    // likewise openLab
	pool  *engine.Pool  // once engines has been asked for it
}

// commandLine is the call, quoted for a shell.
func (a *app) commandLine() string {
	line := "collapse"
	for _, arg := range a.args {
		line += " " + format.ShellWord(arg)
	}
	return line
}

// threads is the number of threads that the command computes with.
func (a *app) threads() int {
	if a.flags.Threads > 0 {
		return a.flags.Threads
	}
	return runtime.GOMAXPROCS(0)
}

// next is a command line for the same lab, to suggest to the user.
func (a *app) next(call string) string {
	if usual, err := filepath.Abs(cmp.Or(os.Getenv("COLLAPSE_LAB"), "lab")); err == nil && usual == a.flags.Lab {
		return "collapse " + call
	}
	return "collapse --lab " + format.ShellWord(a.flags.Lab) + " " + call
}

// resume is the command line that continues studies.
func (a *app) resume(names ...string) string {
	if a.again {
		return a.commandLine()
	}
	return a.next("study resume " + strings.Join(names, " "))
}

// resumed is what packages say that know the names of studies.
var resumed = regexp.MustCompile(`collapse study resume [a-zA-Z0-9._-]+( [a-zA-Z0-9._-]+)*`)

// usageError marks a call that was wrong, as opposed to a run that failed.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// Main runs the program with the given arguments and returns its exit code. After it returns, nothing more can be written to files: the
// process should end.
func Main(args []string, stdout, stderr io.Writer) int {
	ctx, stop := untilSignal()
	defer stop()
	defer outfile.Finish() // an abandoned command may still be writing
	return run(ctx, args, stdout, stderr)
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) (code int) {
	return runBeside(ctx, args, stdout, stdout, stderr)
}

// runBeside is run in a process whose standard output, file1, takes more than what this call prints.
func runBeside(ctx context.Context, args []string, stdout, file1, stderr io.Writer) (code int) {
	defer func() {
		if r := recover(); r != nil {
			e, ok := r.(exitRequest)
			if !ok {
				panic(r)
			}
			code = int(e)
		}
	}()
	if len(args) == 0 {
		args = []string{"--help"}
	}
	var flags program
	parser, parsed, err := parse(&flags, args, stdout, stderr)
	if err != nil {
		say(stderr, "collapse: %v\nTry '%s --help'.\n", misspelt(err), selected(err))
		return exitUsage
	}
	out := &checkedOutput{w: stdout}
	a := &app{ctx: ctx, stdout: out, file1: file1, stderr: stderr, errors: stderr, screen: screen.Of(file1), flags: &flags, model: parser, args: args}
	if flags.Quiet {
		a.stderr = io.Discard
	}
	if err := isa.Err(); err != nil {
		return a.report(usageError{err})
	}
	if err := refuseIdle(parsed); err != nil {
		return a.report(err)
	}
	err = a.perform(func() error {
		defer a.closeLab()
		defer a.closeEngines()
		return parsed.Run(a)
	})
	if err == nil && out.err != nil {
		err = fmt.Errorf("standard output: %w", out.err)
	}
	return a.report(err)
}

// selected is the command of a refused call, as far as it was understood.
func selected(err error) string {
	var refused *kong.ParseError
	if errors.As(err, &refused) && refused.Context != nil && refused.Context.Selected() != nil {
		return refused.Context.Selected().FullPath()
	}
	return "collapse"
}

// exitRequest carries the exit code that kong asks for (--help) out of the parser.
type exitRequest int

// report prints an error for people and returns the exit code it stands for.
func (a *app) report(err error) int {
	if err == nil {
		return exitOK
	}
	said := err.Error() + meantFile(err)
	if a.ctx.Err() != nil {
		said = strings.Replace(said, context.Canceled.Error(), context.Cause(a.ctx).Error(), 1) // which signal ended it
	}
	if a.again {
		said = resumed.ReplaceAllLiteralString(said, a.commandLine())
	}
	const onward = "continue with: collapse " // say packages that know a run or a study, but not how this call named the lab
	if !strings.Contains(said, a.commandLine()) {
		said = strings.ReplaceAll(said, onward, "continue with: "+a.next(""))
	}
	say(a.errors, "collapse: %v\n", errors.New(said))
	var wrong usageError
	switch {
	case errors.Is(err, context.Canceled):
		return interruptCode(a.ctx)
	case errors.As(err, &wrong):
		return exitUsage
	}
	return exitFailed
}
