package services

import (
	"errors"
	"io"
	"slices"
	"sync/atomic"
	"time"

	"github.com/holdfast-db/holdfast/retry"
)

// errNodeLeft is the cause with which an exchange with a node ends that a newer map does not have.
var errNodeLeft = errors.New("the node left the cluster, or no longer offers the service")

// leaveGrace is how long an exchange that cannot be repeated waits for bytes of a node that has left.
const leaveGrace = time.Second

// The states of a departure.
const (
	repeatable int32 = iota // the request can be sent to another node
	committed               // it cannot: it changes something and has a connection, or a row of its answer was delivered
	departed                // the node left while the request was repeatable: the exchange ends
)

// departure decides what happens to an exchange when its node leaves. A request that can be sent to another node is; any other may be
// answered by the node that has left, as long as no read waits longer than leaveGrace.
type departure struct {
	state atomic.Int32
	reads atomic.Int64 // the beginnings and ends of reads; it is odd while one waits
}

// commit tells that the request cannot be repeated from now on. It reports whether that is in time: if not, its node has left.
func (d *departure) commit() bool {
	return d.state.CompareAndSwap(repeatable, committed) || d.state.Load() == committed
}

// await returns when the exchange must end because its node has left, or when it has ended.
func (d *departure) await(ended <-chan struct{}) {
	if d.state.CompareAndSwap(repeatable, departed) {
		return
	}
	for {
		before := d.reads.Load()
		select {
		case <-ended:
			return
		case <-time.After(leaveGrace):
		}
		if before%2 == 1 && before == d.reads.Load() {
			return
		}
	}
}

// watch ends the exchange when its node leaves.
func (x *exchange) watch(newer <-chan struct{}) {
	for newer != nil {
		select {
		case <-x.ctx.Done():
			return
		case <-newer:
		}
		offer := x.client.nodes.Offering(x.request.Service, x.request.Bucket)
		if !slices.Contains(offer.Addresses, x.address) {
			x.departure.await(x.ctx.Done())
			x.cancel(errNodeLeft)
			return
		}
		newer = offer.Newer
	}
}

// connected is called when the exchange has a connection. It reports whether the request may be written.
func (x *exchange) connected() bool {
	if x.request.Idempotency == retry.NotIdempotent {
		return x.departure.commit()
	}
	return x.departure.state.Load() != departed
}

// deliver is called before the first row of the answer is delivered.
func (x *exchange) deliver() *retry.Failure {
	if x.departure.commit() {
		return nil
	}
	<-x.ctx.Done()
	return x.failed(x.ctx.Err())
}

// countedBody is the body of an answer. It counts reads for the departure, and notes the end.
type countedBody struct {
	io.ReadCloser
	exchange *exchange
}

// Read implements io.Reader.
func (b *countedBody) Read(p []byte) (int, error) {
	b.exchange.departure.reads.Add(1)
	defer b.exchange.departure.reads.Add(1)
	n, err := b.ReadCloser.Read(p)
	if err != nil {
		b.exchange.release()
	}
	return n, err
}
