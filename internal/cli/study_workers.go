package cli

import (
	"time"

	"collapse.example/collapse/internal/queue"
	"collapse.example/collapse/internal/study/coordinator"
)

// whereFlags say where a study's runs are computed.
type whereFlags struct {
	Workers     *int          `help:"Workers: runs side by side in this process; 0: none, leave all runs to workers elsewhere; default: one per thread." placeholder:"N"`
	Listen      string        `help:"Address to listen on: lets workers on other machines join, for example 0.0.0.0:4333; :4333 is this machine only." placeholder:"ADDR" group:"Other machines:"`
	TokenFile   string        `help:"File with the token of the queue; default with --listen: queue.token in the lab, created if missing." type:"path" placeholder:"FILE" group:"Other machines:"`
	Cert        string        `help:"Certificate for TLS, with --listen." type:"existingfile" placeholder:"FILE" group:"Other machines:"`
	Key         string        `help:"The certificate's key." type:"existingfile" placeholder:"FILE" group:"Other machines:"`
	NATS        string        `name:"nats" help:"Use the JetStream of an existing NATS cluster." placeholder:"URL" group:"Other machines:"`
	CA          string        `name:"ca" help:"Certificates to trust: for the cluster of --nats." type:"existingfile" placeholder:"FILE" group:"Other machines:"`
	Queue       string        `help:"Name of the queue on a shared cluster." default:"collapse" placeholder:"NAME" group:"Other machines:"`
	Blobs       string        `help:"Folder that all workers share, for checkpoints and features; default: the queue's own store." type:"path" placeholder:"DIR" group:"Other machines:"`
	Silence     time.Duration `help:"Give a worker's runs to others once it has been silent for this long." default:"15s" placeholder:"TIME" group:"Other machines:"`
	OtherBuild  bool          `help:"Continue a study that another build of the program has begun: its numbers may then differ from those computed here."`
	Rebuild     bool          `help:"First reread every result that the queue still holds, for a lab that lost some." group:"Other machines:"`
	SlotsPerGPU int           `name:"slots-per-gpu" help:"Runs side by side on a device of PyTorch; default: as many as workers. For run.engine = torch." placeholder:"N" group:"PyTorch:"`
	Ensemble    int           `help:"Most runs of perceptrons that PyTorch computes in one batch; 1: none; default: as many as are useful." placeholder:"N" group:"PyTorch:"`
	engineFlags
	besideFlags
}

// effects says which flags need other machines.
func (w whereFlags) effects() []effect {
	shared := w.Listen != "" || w.NATS != ""
	return append([]effect{
		{"cert key", w.Listen != "", "goes with --listen"},
		{"ca", w.NATS != "", "goes with --nats"},
		{"token-file queue", shared, "goes with --listen or --nats"},
	}, w.besideFlags.effects()...)
}

// shortestSilence is the least that distinguishes a dead worker from a busy machine on a good network.
const shortestSilence = 500 * time.Millisecond

func (w *whereFlags) options(a *app) (coordinator.Options, error) {
	slots := a.threads()
	if w.Workers != nil {
		slots = *w.Workers
	}
	o := coordinator.Options{Slots: slots, Threads: a.threads(), Engines: w.engines(a, w.SlotsPerGPU), Members: w.Ensemble, Wider: w.Workers == nil, Listen: w.Listen, CertFile: w.Cert, KeyFile: w.Key, Blobs: w.Blobs, Rebuild: w.Rebuild, OtherBuild: w.OtherBuild,
		Queue: queue.Options{Name: w.Queue, AckWait: w.Silence}}
	switch {
	case slots < 0:
		return o, usagef("--workers is %d; wanted 0 or more", slots)
	case w.Ensemble < 0:
		return o, usagef("--ensemble is %d; wanted at least 1", w.Ensemble)
	case w.Silence < shortestSilence:
		return o, usagef("--silence is %v; wanted at least %v: workers report every third of it", w.Silence, shortestSilence)
	case w.NATS != "" && w.Listen != "":
		return o, usagef("--listen opens the built-in queue and --nats uses another: leave one out")
	case (w.Cert == "") != (w.Key == ""):
		return o, usagef("--cert and --key go together")
	case slots == 0 && w.NATS == "" && w.Listen == "":
		return o, usagef("--workers 0 leaves all runs to workers elsewhere, which cannot join without --listen or --nats")
	}
	var err error
	if w.Listen != "" && w.Cert == "" && reaches(w.Listen, "127.0.0.1") {
		a.warnPlainText("the queue", w.Listen, queueWithTLS)
	}
	if w.Listen != "" {
		var file string
		if o.Token, file, err = w.token(a); err == nil {
			a.notef("token: %s\n", file)
		}
	}
	if w.NATS != "" {
		o.Remote = &queue.Remote{URL: w.NATS, CAFile: w.CA}
		if w.TokenFile != "" {
			o.Remote.Token, err = queue.TokenFile(w.TokenFile, false)
		}
	}
	return o, err
}

// token is what workers must present, and the file that holds it.
func (w *whereFlags) token(a *app) (token, file string, err error) {
	if w.TokenFile != "" {
		token, err = queue.TokenFile(w.TokenFile, true)
		return token, w.TokenFile, err
	}
	token, file, replaced, err := queue.LabToken(a.flags.Lab)
	if replaced {
		a.notef("collapse: %s was not made by you for this lab in this place, so it is replaced: give workers the new one\n", file)
	}
	return token, file, err
}
