package simulation

import (
	"context"
	"sync"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/router"
	"github.com/holdfast-db/holdfast/interop/internal/simlife"
	"github.com/holdfast-db/holdfast/mongotest"
)

// routerFaults happen to routers, and to the network behind them. The cluster may be broken at the same time.
func routerFaults() []faultKind {
	return []faultKind{
		toRouter("router killed", func(i *injector, k int, hold time.Duration) { i.kill(k, hold) }),
		toRouter("router drained", func(i *injector, k int, hold time.Duration) { i.drain(k, hold) }),
		toRouter("all routers killed", func(i *injector, _ int, hold time.Duration) {
			for k := range i.settings.routers {
				i.kill(k, hold)
			}
		}),
		toRouter("router drained, another killed", func(i *injector, k int, hold time.Duration) {
			i.drain(k, hold)
			i.kill((k+1)%i.settings.routers, hold)
		}),
		{name: "another's reply", message: func(*injector, *planned, *mongotest.Request) mongotest.Middleware {
			return changedReply(func(reply *mongotest.Reply, r *mongotest.Request) {
				*reply = *mongotest.NewReply(bson.D{{Key: askerField, Value: "another"}})
				reply.ResponseTo = r.RequestID + 1<<20
			})
		}},
		cutLink("router cut off from a member", true, true),
		cutLink("router does not reach a member", true, false),
		cutLink("member does not reach a router", false, true),
	}
}

// toRouter makes a kind of fault of the router that sent the message.
func toRouter(name string, strike func(i *injector, k int, hold time.Duration)) faultKind {
	return faultKind{name: name, message: func(i *injector, f *planned, r *mongotest.Request) mongotest.Middleware {
		k := i.routers.routerOf(r)
		return strikeAt(f.moment, sync.OnceFunc(func() { strike(i, k, f.hold) }))
	}}
}

// kill ends a router as its death does, and starts it again later.
func (i *injector) kill(k int, hold time.Duration) {
	i.end(k, hold, (*router.Router).Close)
}

// drain ends a router as SIGTERM does, and starts it again later.
func (i *injector) drain(k int, hold time.Duration) {
	i.end(k, hold, func(r *router.Router) { r.Shutdown(context.Background()) })
}

// end ends a router, if it is not dead or ending already. Nothing that it waits for may wait for the message that is struck.
func (i *injector) end(k int, hold time.Duration, how func(*router.Router)) {
	taken := i.routers.take(k)
	if taken == nil {
		return
	}
	i.repairs.Later(0, func() {
		how(taken)
		simlife.Pause(hold)
		i.routers.again(k)
	})
}

// cutLink makes a kind of fault of the network between the router that sent the message and the member that got it.
func cutLink(name string, up, down bool) faultKind {
	return faultKind{name: name, message: func(i *injector, f *planned, r *mongotest.Request) mongotest.Middleware {
		l := i.routers.links[i.routers.routerOf(r)][r.Member]
		return strikeAt(f.moment, sync.OnceFunc(func() {
			l.up.Set(up)
			l.down.Set(down)
			i.repairs.Later(f.hold, func() {
				l.up.Set(false)
				l.down.Set(false)
			})
		}))
	}}
}
