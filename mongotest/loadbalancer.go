package mongotest

import (
	"errors"
	"fmt"
	"net"
	"slices"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/call"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
)

// https://github.com/mongodb/specifications/blob/master/source/load-balancers/load-balancers.md

// balancer is a load balancer: one address for several mongos. Each new connection goes to the next of them that runs.
type balancer struct {
	listening
	addr   string
	mongos []*mongos
	turn   int // guarded by the set's mutex
}

// LoadBalancer puts a load balancer before these mongos of a sharded cluster, all of them if none are named. It may be given
// several times; load balancers are counted from 0. The connection string then names the first one, and has loadBalanced=true;
// Listen needs their addresses after those of the mongos. A hello through a load balancer must have loadBalanced: true and is
// answered with the serviceId of its mongos. The servers must be of version 5.0 or newer.
func LoadBalancer(mongos ...int) Option {
	return deploymentOption(func(c *config) { c.balancers = append(c.balancers, slices.Clone(mongos)) })
}

// LoadBalancerAddr returns the address of a load balancer, "host:port".
func (rs *Deployment) LoadBalancerAddr(balancer int) string {
	return orPanic(nth("LoadBalancerAddr", "load balancer", rs.balancers, balancer)).addr
}

// checkBalancers refuses load balancers that cannot be.
func (c *config) checkBalancers() error {
	switch {
	case len(c.balancers) == 0:
		return nil
	case !c.sharded:
		return errors.New("mongotest: LoadBalancer is an option of sharded clusters only")
	case !c.version.AtLeast(5, 0):
		return fmt.Errorf("mongotest: LoadBalancer needs version 5.0 or newer; found %s", c.version)
	}
	for _, list := range c.balancers {
		for i, m := range list {
			if m < 0 || m >= c.mongos || slices.Contains(list[:i], m) {
				return fmt.Errorf("mongotest: LoadBalancer(%d): there is no such mongos, or it is named twice", m)
			}
		}
	}
	return nil
}

func newBalancer(set *Deployment, index int, before []int) *balancer {
	b := &balancer{listening: listening{host: fmt.Sprintf("balancer%d", index), name: fmt.Sprintf("load balancer %d", index)}}
	for _, m := range before {
		b.mongos = append(b.mongos, set.mongos[m])
	}
	if len(before) == 0 {
		b.mongos = set.mongos
	}
	return b
}

// nextLocked returns the mongos for a new connection, nil if none runs.
func (b *balancer) nextLocked() *mongos {
	for range b.mongos {
		r := b.mongos[b.turn%len(b.mongos)]
		b.turn++
		if r.process.Up {
			return r
		}
	}
	return nil
}

// accept begins to serve a connection at the next mongos. It returns false if none runs.
func (b *balancer) accept(rs *Deployment, nc net.Conn) bool {
	rs.set.Lock()
	defer rs.set.Unlock()
	r := b.nextLocked()
	if rs.set.Closed || r == nil {
		return false
	}
	c := rs.addLocked(&r.server, nc)
	c.balanced = true
	rs.wg.Go(c.serve)
	return true
}

// checkBalancing refuses the first hello through a load balancer by a client that does not know of it.
func checkBalancing(x *exec, a *helloArgs) error {
	c := x.conn
	if !c.balanced || c.greeted {
		return nil
	}
	if !a.loadBalanced {
		return mongoerr.Errorf(mongoerr.LoadBalancerSupportMismatch,
			"The server is being accessed through a load balancer, but this driver does not have load balancing enabled")
	}
	c.greeted = true
	return nil
}

// appendService writes which mongos a connection through a load balancer has reached.
func appendService(x *exec, a *helloArgs) {
	if x.conn.balanced && a.loadBalanced {
		x.Result.Out = call.WithLock(&x.Call, func(x call.Locked) []byte {
			return wire.AppendObjectID(x.Result.Out, "serviceId", x.Client.Process.ProcessID)
		})
	}
}
