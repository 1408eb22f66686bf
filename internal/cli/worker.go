package cli

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
	"time"

	"collapse.example/collapse/internal/format"
	"collapse.example/collapse/internal/inputfile"
	"collapse.example/collapse/internal/queue"
	"collapse.example/collapse/internal/study/worker"
	"collapse.example/collapse/internal/version"
)

type workerCmd struct {
	Connect     string        `help:"Address of the coordinator, as collapse study run --listen prints it, or of a NATS cluster." required:"" placeholder:"URL"`
	TokenFile   string        `help:"File with the token of the queue." type:"existingfile" placeholder:"FILE"`
	CA          string        `name:"ca" help:"Certificates to trust: for a coordinator with its own certificate." type:"existingfile" placeholder:"FILE"`
	Slots       int           `help:"Runs side by side; default: one per thread." placeholder:"N"`
	Scratch     string        `help:"Local folder for running runs; a restarted worker resumes from it." default:"./scratch" type:"path" placeholder:"DIR"`
	Blobs       string        `help:"Folder that all workers share, for checkpoints and features; default: the queue's own store." type:"path" placeholder:"DIR"`
	Every       time.Duration `name:"checkpoint-every" help:"How often a run's checkpoint is uploaded." default:"1m" placeholder:"TIME"`
	Scripts     string        `name:"allow-scripts" help:"Folder with the code of your own trainers: start scripts there, if their code matches the study's." type:"existingdir" placeholder:"DIR"`
	LeaveAfter  time.Duration `help:"End after waiting this long for a run, or for the coordinator; default: wait for ever." placeholder:"TIME"`
	Queue       string        `help:"Name of the queue on a shared cluster." default:"collapse" placeholder:"NAME"`
	SlotsPerGPU int           `name:"slots-per-gpu" help:"Runs side by side on a device of PyTorch; default: as many as workers. For run.engine = torch." placeholder:"N" group:"PyTorch:"`
	Ensemble    int           `help:"Most runs of perceptrons that PyTorch computes in one batch; 1: none; default: none. Unless --slots says otherwise, as many slots." default:"1" placeholder:"N" group:"PyTorch:"`
	engineFlags
	Name string `help:"Name of this worker, for people; default: host and process." placeholder:"NAME"`
}

func (c *workerCmd) Run(a *app) error {
	o := worker.Options{Name: c.Name, Slots: c.Slots, Threads: a.threads(), Scratch: c.Scratch, Blobs: c.Blobs, Scripts: c.Scripts, CheckpointEvery: c.Every,
		Leave: c.LeaveAfter, Engines: c.engines(a, c.SlotsPerGPU), Members: c.Ensemble}
	if o.Slots <= 0 {
		o.Slots = max(o.Threads, c.Ensemble)
	}
	o.Logf = a.logf
	token := ""
	if c.TokenFile != "" {
		var err error
		if token, err = queue.TokenFile(c.TokenFile, false); err != nil {
			return err
		}
		if hosts := plainHosts(c.Connect); c.CA == "" && len(hosts) > 0 {
			a.notef("warning: the token goes to %s without TLS: whoever answers there gets it. Connect to tls://HOST:PORT, with --ca FILE for a certificate of your own, or through `ssh -L`.\n",
				strings.Join(hosts, ", "))
		}
	}
	b, err := c.reach(a, queue.Remote{URL: c.Connect, Token: token, CAFile: c.CA}, queue.Options{Name: c.Queue, Version: version.ID(), Logf: o.Logf})
	if err != nil {
		return err
	}
	defer b.Close()
	a.unhurried.Store(true)
	a.notef("at %s with %s (Ctrl-C stops cleanly: other workers continue the runs)\n", c.Connect, format.Count(o.Slots, "slot"))
	err = worker.Work(a.ctx, b, o)
	if errors.Is(err, worker.ErrIdle) {
		a.notef("no run for %v: the worker ends\n", c.LeaveAfter)
	}
	if errors.Is(err, worker.ErrIdle) || errors.Is(err, a.ctx.Err()) {
		return a.emit(map[string]string{"worker": "stopped"}, func() {})
	}
	return err
}

// authorityHint says what a worker needs for a certificate that nobody known here has signed.
func authorityHint(of *tls.CertificateVerificationError) string {
	if errors.As(of.Err, new(x509.UnknownAuthorityError)) {
		return " (for one of your own, --ca FILE names what signed it, or the certificate itself)"
	}
	return ""
}

// plainHosts are the hosts among NATS' addresses, separated by commas, on other machines that do not ask for TLS.
func plainHosts(connect string) (hosts []string) {
	for address := range strings.SplitSeq(connect, ",") {
		if address = strings.TrimSpace(address); !strings.Contains(address, "://") {
			address = "nats://" + address
		}
		if u, err := url.Parse(address); err == nil && u.Scheme != "tls" && u.Scheme != "wss" && reaches(net.JoinHostPort(u.Hostname(), "0"), "localhost") {
			hosts = append(hosts, u.Host)
		}
	}
	return hosts
}

// reach connects, and waits for a server that is not up yet: batch systems start workers at any time.
func (c *workerCmd) reach(a *app, r queue.Remote, o queue.Options) (*queue.Broker, error) {
	start := time.Now()
	for told := false; ; told = true {
		b, err := queue.Connect(r, o)
		var refused *queue.TokenError
		var kind *inputfile.KindError
		var size *inputfile.SizeError
		var none *queue.CertificateError
		if untrusted := (*tls.CertificateVerificationError)(nil); errors.As(err, &untrusted) {
			return nil, fmt.Errorf("%w%s", err, authorityHint(untrusted))
		}
		if err == nil || errors.As(err, &refused) || errors.As(err, &none) || errors.As(err, &kind) || errors.As(err, &size) {
			return b, err
		}
		if c.LeaveAfter > 0 && time.Since(start) > c.LeaveAfter {
			return nil, err
		}
		if !told {
			a.notef("%v; trying again until it answers\n", err)
		}
		select {
		case <-a.ctx.Done():
			return nil, a.ctx.Err()
		case <-time.After(2 * time.Second):
		}
	}
}
