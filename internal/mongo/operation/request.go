package operation

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/readpref"

	"github.com/holdfast-db/holdfast/internal/mongo/cluster"
	"github.com/holdfast-db/holdfast/internal/mongo/topology"
	"github.com/holdfast-db/holdfast/retry"
	"github.com/holdfast-db/holdfast/retry/mongoreason"
)

// membersOfARead is the number of members that a read in a request tries.
const membersOfARead = 3

// Request is a "request" of the Read Preferences document of 2014: a run of operations that belong together. On a
// replica set its reads with one read preference are pinned to one member, and all its operations on the primary use
// one connection, one after the other. On other deployments it changes nothing. It is safe for concurrent use.
type Request struct {
	runner    *Runner
	readsOnly bool // only its reads belong together: it keeps no connection

	mu  sync.Mutex
	pin memberPin

	primary chan *heldConn // has the connection to the primary while no operation uses it
	ended   bool           // whoever has the value of primary may use it
}

// memberPin is the member to which the reads of a request are pinned. The zero value means none.
type memberPin struct {
	address    string
	preference *readpref.ReadPref
	primary    primaryID // at the time of the first read
}

// primaryID identifies a primary and its term.
type primaryID struct {
	address  string
	election bson.ObjectID
}

// heldConn is the connection to the primary that a request keeps. conn is nil before the first operation, and after
// the connection broke.
type heldConn struct {
	server *cluster.Server
	conn   *cluster.Conn
}

// NewRequest begins a request. The caller must end it.
func (r *Runner) NewRequest() *Request {
	q := &Request{runner: r, primary: make(chan *heldConn, 1)}
	q.primary <- &heldConn{}
	return q
}

// End ends the request, after the operation that uses its connection. Operations that begin later are not in a request.
// It may be called more than once.
func (q *Request) End() {
	held := <-q.primary
	q.ended = true
	defer func() { q.primary <- held }() // also if a listener panics
	held.release()
}

// target returns the member for a read: the pinned one or, without one, a suitable member that is not among failed.
// It is immediate: if no member is suitable, it returns an error at once (Read Preferences, "Errors"). Only before all
// seeds were checked for the first time it waits as other operations do.
func (q *Request) target(ctx context.Context, want *topology.Selection, failed []string) (cluster.Target, error) {
	c := q.runner.cfg.Cluster
	snapshot := c.Snapshot()
	if t, ok := q.pinned(snapshot, want, failed); ok {
		return t, nil
	}
	selection := *want
	selection.Deprioritized = failed
	t, err := snapshot.Select(&selection)
	switch {
	case err != nil:
		return t, err
	case t.Server != nil && !slices.Contains(failed, t.Server.Address()):
		return t, nil
	case t.Server == nil && len(failed) == 0 && snapshot.Description.Discovering():
		return c.Select(ctx, want)
	}
	return cluster.Target{}, noMemberError(topology.NoMemberMessage(want.ReadPref))
}

// noMemberError is the error of a read that no member matches: the wording of the document. It is a network error, not
// one of the configuration.
type noMemberError string

func (e noMemberError) Error() string { return string(e) }

// NoMember reports whether an error is that of a read in a request that no member matches.
func NoMember(err error) bool {
	var e noMemberError
	return errors.As(err, &e)
}

// HasErrorLabel implements the official LabeledError.
func (e noMemberError) HasErrorLabel(label string) bool { return label == labelNetworkError }

// pinned returns the pinned member if the pin is still valid, and removes an invalid pin.
func (q *Request) pinned(snapshot *cluster.Snapshot, want *topology.Selection, failed []string) (cluster.Target, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	d := snapshot.Description.Server(q.pin.address)
	if d == nil || !q.pin.valid(snapshot.Description, d, want.ReadPref) || slices.Contains(failed, d.Address) ||
		q.readsOnly && outlived(snapshot.Description, d, want) {
		q.pin = memberPin{}
		return cluster.Target{}, false
	}
	return cluster.Target{Server: snapshot.Server(d), Description: d, Topology: snapshot.Description}, true
}

// valid reports whether a read with the preference rp may go to the pinned member d. A new primary unpins, and so does
// a member that is down or whose state no longer matches the mode. A change of tags or of round trip times does not.
func (p *memberPin) valid(topo *topology.Description, d *topology.Server, rp *readpref.ReadPref) bool {
	if now := primaryOf(topo); now != (primaryID{}) && now != p.primary {
		return false
	}
	return samePreference(p.preference, rp) && inMode(d.Type, rp)
}

func inMode(kind topology.ServerType, rp *readpref.ReadPref) bool {
	mode := orPrimary(rp).Mode()
	return kind == topology.RSPrimary && mode != readpref.SecondaryMode ||
		kind == topology.RSSecondary && mode != readpref.PrimaryMode
}

// samePreference reports whether two read preferences have the same mode, tag sets and limit of staleness. The latency
// window is the client's.
func samePreference(a, b *readpref.ReadPref) bool {
	return a == b || orPrimary(a).String() == orPrimary(b).String()
}

func orPrimary(rp *readpref.ReadPref) *readpref.ReadPref {
	if rp == nil {
		return readpref.Primary()
	}
	return rp
}

func primaryOf(d *topology.Description) primaryID {
	for _, s := range d.Servers {
		if s.Type == topology.RSPrimary {
			return primaryID{address: s.Address, election: s.ElectionID}
		}
	}
	return primaryID{}
}

// succeeded pins the reads of the request to the member of a read that succeeded.
func (q *Request) succeeded(t cluster.Target, rp *readpref.ReadPref) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.pin.address == "" {
		q.pin = memberPin{address: t.Description.Address, preference: rp, primary: primaryOf(t.Topology)}
	}
}

// checkOut returns the connection that the request keeps to the primary. If there is none, or if it cannot be used any
// longer, it checks one out. While another operation uses the connection, it waits.
func (q *Request) checkOut(ctx context.Context, server *cluster.Server) (*heldConn, error) {
	var held *heldConn
	select {
	case held = <-q.primary:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	renewed := false
	defer func() {
		if !renewed { // also if a listener panics
			q.primary <- held
		}
	}()
	err := held.renew(ctx, server)
	if renewed = err == nil; !renewed {
		return nil, err
	}
	return held, nil
}

// renew makes sure that there is a connection to the server that an operation can use.
func (h *heldConn) renew(ctx context.Context, server *cluster.Server) error {
	if h.conn != nil && (h.server != server || !server.StillUsable(h.conn, time.Now())) {
		h.release()
	}
	if h.conn != nil {
		server.BeginUse()
		return nil
	}
	conn, err := server.CheckOut(ctx, nil)
	if err != nil {
		return err
	}
	h.server, h.conn = server, conn
	conn.PinnedTo(cluster.UseRequest)
	return nil
}

// checkIn makes the connection available for the request's next operation.
func (q *Request) checkIn(held *heldConn) {
	defer func() { q.primary <- held }() // also if a listener panics
	if held.conn.Reusable() && !q.ended {
		held.server.EndUse()
		return
	}
	conn := held.conn
	held.conn = nil
	held.server.CheckIn(conn)
}

// release gives the connection back to its pool.
func (h *heldConn) release() {
	if conn := h.conn; conn != nil {
		h.conn = nil
		h.server.BeginUse()
		h.server.CheckIn(conn)
	}
}

// sharesConnection reports whether the attempt uses the connection to the primary that its request keeps.
func (r *run) sharesConnection(t cluster.Target) bool {
	return r.op.Request != nil && !r.op.Request.readsOnly && t.Description.Type == topology.RSPrimary
}

// onShared makes the attempt on the connection that the request keeps.
func (r *run) onShared(ctx, limited context.Context, target cluster.Target) retry.Failure {
	held, err := r.op.Request.checkOut(limited, target.Server)
	if err != nil {
		return r.checkOutFailed(ctx, target.Server, err)
	}
	defer r.op.Request.checkIn(held) // also if the command or a listener panics
	failure := r.loggedIn(ctx, limited, target, held.conn)
	if failure.Err == nil || r.reply.OK { // the reply of a failed write may have a cursor
		r.pinnedByFailure = failure.Err != nil && r.pin != nil && r.pin.server == nil
		r.pin.keepServer(target)
	}
	return failure
}

// inRequest reports whether the request chooses the member of the operation, which has no pin: it is a read on a replica set
// outside a transaction.
func (r *run) inRequest() bool {
	if r.op.Request == nil || r.op.Kind == Write || r.transactional {
		return false
	}
	kind := r.cfg.Cluster.Snapshot().Description.Type
	return kind == topology.ReplicaSetNoPrimary || kind == topology.ReplicaSetWithPrimary || kind == topology.UnknownTopology
}

// movesOn reports whether a read in a request moves to another member after this failure: after socket errors, and when
// the pool was cleared.
func movesOn(f *retry.Failure) bool {
	switch f.Reason {
	case retry.ReasonNetworkError, retry.ReasonConnectionFailed, retry.ReasonAttemptTimeout, mongoreason.PoolCleared:
		return true
	case retry.ReasonOverloaded:
		var e *cluster.HandshakeError
		return errors.As(f.Err, &e)
	default:
		return false
	}
}

// requestRule returns the rule of a read in a request: after a socket error the next member, three members in all;
// after another retryable error one retry.
func (r *run) requestRule(f *retry.Failure) retry.Strategy {
	if movesOn(f) {
		if len(r.failed) < membersOfARead {
			return retry.UntilDeadline()
		}
		return never(retry.StopAttemptsUsed)
	}
	if r.otherFailures > 1 {
		return never(retry.StopAttemptsUsed)
	}
	return retry.UntilDeadline()
}
