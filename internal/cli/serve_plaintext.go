package cli

import (
	"net"
	"strings"
)

// reaches reports whether other machines reach a listener at HOST:PORT where an empty HOST means emptyHost: any address but loopback
// ones, and any name that stands for one. A name that nobody knows counts: listening there fails anyway.
func reaches(listen, emptyHost string) bool {
	host, _, err := net.SplitHostPort(listen)
	if err != nil {
		host = listen
	}
	if host == "" {
		host = emptyHost
	}
	host, _, _ = strings.Cut(host, "%") // a zone
	if ip := net.ParseIP(host); ip != nil {
		return !ip.IsLoopback()
	}
	ips, err := net.LookupIP(host)
	for _, ip := range ips {
		if !ip.IsLoopback() {
			return true
		}
	}
	return err != nil
}

// warnPlainText says what listening without TLS means; how is what to do instead.
func (a *app) warnPlainText(what, at, how string) {
	a.notef("warning: other machines reach %s at %s without TLS: whoever can read the network reads everything as plain text, the token as well, and can then use it. %s\n", what, at, how)
}

const (
	pageWithTLS  = "Put a proxy with TLS before it, or listen on 127.0.0.1 and open it there through `ssh -L`."
	queueWithTLS = "Give --cert FILE and --key FILE, or listen on :PORT, this machine alone, and let workers come through `ssh -L`."
)
