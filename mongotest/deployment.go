package mongotest

import (
	"context"
	"crypto/tls"
	"errors"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/base/memnet"
	"github.com/holdfast-db/holdfast/internal/base/testserver"
	"github.com/holdfast-db/holdfast/mongotest/internal/call"
	"github.com/holdfast-db/holdfast/mongotest/internal/replica"
)

// Deployment is a standalone, a replica set or a sharded cluster that runs. Its methods are safe for concurrent use.
//
// The servers with data are its members, counted from 0; a standalone is member 0. An argument that names no member, no
// mongos or no namespace ("database.collection") is an error of the methods that return one; the others panic with a text
// that says so.
type Deployment struct {
	config     config
	set        *replica.Set
	cluster    *call.Cluster
	network    *memnet.Network // nil on TCP
	mongos     []*mongos
	balancers  []*balancer
	servers    []*server             // the members, then the mongos
	authority  *testserver.Authority // nil without TLS
	tls        *tls.Config           // of the servers, nil without TLS
	ocsp       *OCSPResponder        // nil without the option OCSP
	transcript transcript
	wg         sync.WaitGroup
	nextID     atomic.Int64 // connection ids

	middlewares

	// The replica set's configuration, beside the members' own, and what follows from it.
}

// Close ends every goroutine and connection of the deployment, and waits until they have ended. It must not be called from
// middleware. Closing twice is harmless.
func (rs *Deployment) Close() error {
	rs.set.Lock()
	first := rs.set.CloseLocked()
	var conns []*conn
	servers := rs.servers
	for _, s := range servers {
		for c := range s.conns {
			conns = append(conns, c)
		}
	}
	rs.set.Unlock()
	var errs []error
	for _, s := range servers {
		if first && s.listener != nil {
			errs = append(errs, s.listener.Close())
		}
	}
	for _, b := range rs.balancers {
		if first && b.listener != nil {
			errs = append(errs, b.listener.Close())
		}
	}
	for _, c := range conns {
		c.close()
	}
	if first {
		errs = append(errs, rs.ocsp.close())
	}
	rs.wg.Wait()
	return errors.Join(errs...)
}

// URI returns the connection string. That of a replica set has its name and the members that are neither hidden nor arbiters,
// or all members before replSetInitiate; that of a sharded cluster has the mongos, or the first load balancer and the option
// loadBalanced=true. With TLS it has the option tls=true. It has
// no users and no certificates.
func (rs *Deployment) URI() string {
	rs.set.Lock()
	defer rs.set.Unlock()
	var hosts []string
	for _, m := range rs.cluster.Members {
		if rs.set.Initiation != replica.Initiated || !m.Config.Hidden && m.Config.BearsData() {
			hosts = append(hosts, m.Addr)
		}
	}
	if rs.config.sharded {
		hosts = nil
	}
	for _, r := range rs.mongos {
		hosts = append(hosts, r.process.Addr)
	}
	var opts []string
	if len(rs.balancers) > 0 {
		hosts, opts = []string{rs.balancers[0].addr}, []string{"loadBalanced=true"}
	}
	if !rs.config.standalone && !rs.config.sharded {
		opts = append(opts, "replicaSet="+escape(rs.config.setName))
	}
	if rs.tls != nil {
		opts = append(opts, "tls=true")
	}
	uri := "mongodb://" + strings.Join(hosts, ",") + "/"
	if len(opts) > 0 {
		uri += "?" + strings.Join(opts, "&")
	}
	return uri
}

// escape encodes the value of an option in a connection string. A space becomes "%20", because some drivers do not read "+"
// as a space.
func escape(value string) string { return strings.ReplaceAll(url.QueryEscape(value), "+", "%20") }

// Dialer returns a dialer that connects to the deployment's servers, in memory and on TCP.
func (rs *Deployment) Dialer() *Dialer { return &Dialer{rs.dial} }

// Addr returns the address of a member, "host:port"; of member 0 if no member is given.
func (rs *Deployment) Addr(member ...int) string {
	i := 0
	if len(member) > 0 {
		i = member[0]
	}
	return orPanic(rs.memberAt("Addr", i)).Address()
}

// Members returns how many members there are, including those that do not run.
func (rs *Deployment) Members() int { return rs.set.Size() }

// Primary returns the index of the primary, -1 if there is none. While an older primary has not noticed yet that it was
// replaced, it is the newer one.
func (rs *Deployment) Primary() int { return rs.set.Primary() }

// Term returns the highest term in which a primary was elected.
func (rs *Deployment) Term() int64 { return rs.set.Term() }

// ReadAll returns the documents of a namespace ("database.collection") that a majority has, as the primary knows it or, if
// there is no primary, the member whose commit point is newest. The documents must not be changed. It panics if the namespace
// is invalid.
func (rs *Deployment) ReadAll(ns string) []bson.Raw {
	if _, _, err := call.SplitNamespace(ns); err != nil {
		panic(err.Error())
	}
	return rs.set.MajorityDocuments(ns)
}

// WaitIdle waits until no command is being executed, no bytes from clients are on their way in memory, and every secondary
// has all that the primary wrote, except secondaries that do not reach the primary or have a SecondaryDelay. Bytes that were
// sent to an isolated member count as on their way. On TCP it does not see bytes that the operating system still holds. It
// returns the cause of ctx's end if that comes first.
func (rs *Deployment) WaitIdle(ctx context.Context) error {
	rs.cluster.Idlers.Add(1)
	defer rs.cluster.Idlers.Add(-1)
	if err := rs.set.Await(rs.idleLocked, ctx.Done()); err != nil {
		return context.Cause(ctx)
	}
	return nil
}

func (rs *Deployment) idleLocked() bool {
	if rs.network != nil && rs.tls == nil && rs.network.Unprocessed() > 0 {
		return false
	}
	if rs.cluster.Active.Load() > 0 {
		return false
	}
	return rs.set.ReplicatedLocked()
}

// WaitPrimary waits until there is a primary that reaches a majority, and returns its index. If ctx ends first, it returns -1
// and the cause of ctx's end.
func (rs *Deployment) WaitPrimary(ctx context.Context) (int, error) {
	primary, err := rs.set.AwaitPrimary(ctx.Done())
	if err != nil {
		return -1, context.Cause(ctx)
	}
	return primary, nil
}
