package cli

import (
	"cmp"
	"crypto/rand"
	"errors"
	"os"
	"runtime/debug"
	"strings"
	"time"

	"collapse.example/collapse/internal/serve"
	"collapse.example/collapse/internal/study/trials"
)

type serveCmd struct {
	Listen  string   `help:"Address to listen on: for browsers. Anything but a loopback address needs a token, which is printed once, and sends plain text, since there is no TLS." default:"127.0.0.1:8642" placeholder:"HOST:PORT"`
	Base    string   `help:"Path below which a proxy serves it, such as /collapse; the proxy may take it off or leave it." placeholder:"/PATH"`
	Host    []string `help:"Another name under which the server is reached, through a proxy that passes the Host header on; needs a token. May be repeated." placeholder:"NAME"`
	Token   string   `help:"The token that browsers need; default: a new one. The environment variable keeps it out of the process list." env:"COLLAPSE_TOKEN" placeholder:"TOKEN"`
	Open    bool     `help:"Show the page in the browser when it is ready."`
	Control bool     `help:"Let the page cancel, retry and resume runs and studies; a token is then needed on loopback addresses, too."`

	MeasureLimit time.Duration `help:"Stop measuring dropped files after this time." default:"60s" placeholder:"TIME"`
}

// serving is the JSON document of `collapse serve`, printed once it listens.
type serving struct {
	URL       string `json:"url"`
	Token     bool   `json:"token"`     // browsers need the token in url
	Reachable bool   `json:"reachable"` // from other machines
}

func (c *serveCmd) Run(a *app) error {
	if c.MeasureLimit <= 0 {
		return usagef("--measure-limit %v: want a time above 0, such as 60s", c.MeasureLimit)
	}
	collectSooner()
	opt := serve.Options{Lab: a.flags.Lab, Listen: c.Listen, Base: strings.TrimSuffix(c.Base, "/"), Hosts: c.Host, Token: c.Token, Log: a.logf, MeasureLimit: c.MeasureLimit, Searches: trials.SearchesOf}
	if c.Control {
		lab, err := a.openLab()
		if err != nil {
			return err
		}
		control := newLabControl(a, lab)
		defer control.jobs.Wait()
		// A loopback address is open to every user of this machine, such as a login node: these may look, but not act.
		opt.Control, opt.Token = control, cmp.Or(c.Token, rand.Text())
	}
	server, err := serve.Start(opt)
	if err != nil {
		return err
	}
	out := serving{server.URL(), server.NeedsToken(), server.Reachable()}
	if err := a.emit(out, func() { printServing(a, out) }); err != nil {
		return errors.Join(err, server.Close())
	}
	if out.Reachable {
		a.warnPlainText("the page", heardAt(c.Listen, server.Addr()), pageWithTLS)
	}
	if c.Open {
		if err := openInBrowser(server.URL()); err != nil {
			a.notef("%v\n", err)
		}
	}
	<-a.ctx.Done()
	return server.Close()
}

// collectSooner bounds the garbage beside the many small values of a large lab, which pages keep: a study of 10,000 runs takes a fifth less
// memory for a fifth more processor time. A user's GOGC stays.
func collectSooner() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(50)
	}
}

func printServing(a *app, s serving) {
	a.printf("%s\n", s.URL)
	if s.Token {
		a.printf("Each browser asks for the token in this address once; it is not shown again.\n")
	}
	a.printf("Ctrl-C ends the page; it never disturbs the work it shows.\n")
}

func (a *app) logf(format string, args ...any) { a.notef(format+"\n", args...) }

// besideFlags is embedded in commands that can show the live page while they work.
type besideFlags struct {
	Serve       bool   `help:"Show the live page during the work." group:"Live page:"`
	ServeListen string `help:"Where the live page listens." default:"127.0.0.1:0" placeholder:"HOST:PORT" group:"Live page:"`
}

func (f besideFlags) effects() []effect {
	return []effect{{"serve-listen", f.Serve, "goes with --serve"}}
}

// beside starts the live page if asked for, shows it in the browser, and returns the function that ends it. A page that cannot
// start is reported and stops nothing.
func (f besideFlags) beside(a *app) (end func()) {
	if !f.Serve {
		return func() {}
	}
	server, err := serve.Start(serve.Options{Lab: a.flags.Lab, Listen: f.ServeListen, Log: a.logf, Searches: trials.SearchesOf})
	if err != nil {
		a.notef("no live page: %v\n", err)
		return func() {}
	}
	a.notef("live page: %s\n", server.URL())
	if server.Reachable() {
		a.warnPlainText("the page", heardAt(f.ServeListen, server.Addr()), pageWithTLS)
	}
	if err := openInBrowser(server.URL()); err != nil {
		a.notef("%v\n", err)
	}
	return func() {
		if err := server.Close(); err != nil {
			a.notef("closing the live page: %v\n", err)
		}
	}
}
