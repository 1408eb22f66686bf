package serve

import (
	"cmp"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
)

// gate decides who may use the server: by the host asked for, which stops other sites that resolve to this machine (DNS
// rebinding), and by the token where strangers could connect.
type gate struct {
	addr  *net.TCPAddr
	name  string   // host part of --listen, "" if it was left out
	token string   // "" on a loopback address without a token
	own   string   // this machine's name
	hosts []string // further names, under which a proxy passes requests on
}

// newGate makes a token if the address is not a loopback one, or further names are given, under which a proxy makes it known to others,
// unless a token is given.
func newGate(listen string, addr *net.TCPAddr, token string, hosts []string) (*gate, error) {
	name, _, err := net.SplitHostPort(listen)
	if err != nil {
		return nil, fmt.Errorf("serve: --listen is %q, wanted HOST:PORT: %w", listen, err)
	}
	if token != "" && len(token) < 16 {
		return nil, errors.New("serve: the token is shorter than 16 characters, which can be guessed")
	}
	for i, host := range hosts {
		hosts[i] = strings.ToLower(strings.TrimSuffix(host, "."))
		if host == "" || strings.ContainsAny(host, "/:?#@ ") {
			return nil, fmt.Errorf("serve: --host is %q, wanted a name such as lab.example.org, without scheme, port and path", host)
		}
	}
	if token == "" && (!addr.IP.IsLoopback() || len(hosts) > 0) {
		token = rand.Text()
	}
	own, _ := os.Hostname() // "" if it has none
	return &gate{addr: addr, name: name, token: token, own: own, hosts: hosts}, nil
}

// url is the address for a browser on this machine.
func (g *gate) url(base string) string {
	host := g.name
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = cmp.Or(g.own, "localhost")
	}
	u := url.URL{Scheme: "http", Host: net.JoinHostPort(host, strconv.Itoa(g.addr.Port)), Path: base + "/"}
	if g.token != "" {
		u.RawQuery = url.Values{"token": {g.token}}.Encode()
	}
	return u.String()
}

// knowsHost reports whether a request's Host can be this server's: never a name of another domain.
func (g *gate) knowsHost(host string) bool {
	name := host
	if h, _, err := net.SplitHostPort(host); err == nil {
		name = h
	}
	name = strings.ToLower(strings.Trim(strings.TrimSuffix(name, "."), "[]"))
	if ip, err := netip.ParseAddr(name); err == nil {
		return g.token != "" || ip.IsLoopback() // an IP address cannot be rebound; other machines need the token
	}
	own := strings.ToLower(g.own)
	return name == "localhost" || slices.Contains(g.hosts, name) || name == strings.ToLower(g.name) && name != "" ||
		g.token != "" && own != "" && (name == own || strings.HasPrefix(name, own+".") || name == own+".local")
}

// cookie is the name of the cookie that holds the token. It names the port, since cookies ignore ports and several
// servers may run.
func (g *gate) cookie() string { return "collapse-" + strconv.Itoa(g.addr.Port) }

// admits compares digests in constant time, which hides the length too.
func (g *gate) admits(token string) bool {
	a, b := sha256.Sum256([]byte(token)), sha256.Sum256([]byte(g.token))
	return subtle.ConstantTimeCompare(a[:], b[:]) == 1
}

// shows reports whether the request carries the token in its cookie.
func (g *gate) shows(r *http.Request) bool {
	c, err := r.Cookie(g.cookie())
	return err == nil && g.admits(c.Value)
}

// give sets the cookie, below the path of a proxy for nobody else there. Lax, so that a link in a colleague's mail works; requests that change anything are also checked by origin.
func (g *gate) give(w http.ResponseWriter, under base) {
	http.SetCookie(w, &http.Cookie{Name: g.cookie(), Value: g.token, Path: string(under) + "/", HttpOnly: true, SameSite: http.SameSiteLaxMode, MaxAge: 30 * 24 * 3600})
}
