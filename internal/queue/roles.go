package queue

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/hex"
	"fmt"

	"github.com/nats-io/nats-server/v2/server"
)

// roles distinguishes the coordinator, which connects within the server's process and may do everything, from clients with the lab's
// token, which may do what a worker needs.
type roles struct {
	name        string // of the queue
	token       string // of the workers; "": there are none
	coordinator string // a secret of this process
}

func newRoles(name, token string) *roles {
	var b [32]byte
	rand.Read(b[:]) // never fails
	if name == "" {
		name = Options{}.withDefaults().Name
	}
	return &roles{name: name, token: token, coordinator: hex.EncodeToString(b[:])}
}

// Check implements server.Authentication.
func (r *roles) Check(c server.ClientAuthentication) bool {
	brought := []byte(c.GetOpts().Token)
	switch {
	case subtle.ConstantTimeCompare(brought, []byte(r.coordinator)) == 1:
		c.RegisterUser(&server.User{Username: "coordinator"})
		return true
	case r.token != "" && subtle.ConstantTimeCompare(brought, []byte(r.token)) == 1:
		c.RegisterUser(&server.User{Username: "worker", Permissions: workersMay(r.name)})
		return true
	}
	return false
}

// workersMay are the permissions of a queue's workers: to take jobs, to write leases, results, notices and blobs, and to read what
// they continue from and how much is waiting to be read. They cannot submit or remove jobs, change the queue's description, read or
// acknowledge results, cancel others, or create, change, purge or delete streams and buckets. docs/internal/queue.md lists the same for
// clusters.
func workersMay(name string) *server.Permissions {
	jobs, leases, blobs := name+"-jobs", "KV_"+name+"-claims", "OBJ_"+name+"-blobs"
	publish := []string{
		name + ".res.*",
		name + ".notice",
		"$KV." + name + "-claims." + leasePrefix + "*",
		"$O." + name + "-blobs.>",
		"$JS.ACK." + jobs + ".>",
		"$JS.API.CONSUMER.CREATE." + blobs + ".>", // reading a blob
		"$JS.API.CONSUMER.DELETE." + blobs + ".>",
		"$JS.API.CONSUMER.INFO." + blobs + ".>",
		"$JS.FC." + blobs + ".>",
		"$JS.API.STREAM.INFO." + name + "-results", // for Traffic, which measures a queue
		"$JS.API.CONSUMER.INFO." + name + "-results." + readerName,
	}
	for p := range priorities {
		publish = append(publish, fmt.Sprintf("$JS.API.CONSUMER.INFO.%s.p%d", jobs, p), fmt.Sprintf("$JS.API.CONSUMER.MSG.NEXT.%s.p%d", jobs, p))
	}
	for _, stream := range []string{leases, blobs} {
		publish = append(publish, "$JS.API.STREAM.INFO."+stream, "$JS.API.DIRECT.GET."+stream, "$JS.API.DIRECT.GET."+stream+".>", "$JS.API.STREAM.MSG.GET."+stream)
	}
	return &server.Permissions{
		Publish:   &server.SubjectPermission{Allow: publish},
		Subscribe: &server.SubjectPermission{Allow: []string{"_INBOX.>", name + ".stop", name + ".wake"}},
	}
}
