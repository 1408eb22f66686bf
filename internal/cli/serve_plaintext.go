package cli

import (
	"net"
	"strings"
)

// reaches reports whether other machines can reach a listener at HOST:PORT, where an empty HOST means emptyHost. They can at any
// address that is not a loopback one, and at any name of such an address. An unknown name counts as reachable: listening there fails
// anyway.
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

// heardAt is where a listener at HOST:PORT is heard, with the port that it got and the host as it was asked for.
func heardAt(listen string, got net.Addr) string {
	host, _, err := net.SplitHostPort(listen)
	_, port, wrong := net.SplitHostPort(got.String())
	if err != nil || wrong != nil || host == "" {
		return got.String()
	}
	return net.JoinHostPort(host, port)
}

// warnPlainText warns about listening without TLS; how says what to do instead.
func (a *app) warnPlainText(what, at, how string) {
	a.notef("warning: other machines reach %s at %s without TLS: anybody who can read the network sees everything as plain text, including the token, and can use it. %s\n", what, at, how)
}

const (
	pageWithTLS  = "Put a TLS proxy in front of it, or listen on 127.0.0.1 and open it there through `ssh -L`."
	queueWithTLS = "Give --cert FILE and --key FILE, or listen on :PORT, this machine only, and let workers connect through `ssh -L`."
)
