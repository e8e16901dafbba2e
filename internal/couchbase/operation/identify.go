package operation

import (
	"errors"

	"github.com/holdfast-db/holdfast/internal/couchbase/kv"
	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
	"github.com/holdfast-db/holdfast/retry"
	"github.com/holdfast-db/holdfast/retry/couchbasereason"
)

// identify finds the id of the collection. The first operation in a collection waits for the look-up, which all who need it share: that
// is no failure.
func (r *run) identify() (retry.Failure, bool) {
	c := r.op.Collection
	if !r.conn.Features().Has(memd.FeatureCollections) {
		if c != nil && !c.IsDefault() {
			return r.unsupported("the server does not support collections"), false
		}
		return retry.Failure{}, true
	}
	if c == nil {
		return retry.Failure{}, true
	}
	if r.id = c.ID(); r.id != nil {
		return retry.Failure{}, true
	}
	lookup := c.LookUp(r.conn)
	select {
	case <-lookup.Done():
	case <-r.Done():
		return r.notSent(attemptCause{ErrCollectionNotFound, couchbasereason.KVCollectionOutdated, errors.New("the id is being looked up")}, nil), false
	}
	reply, conn, err := lookup.Result()
	switch {
	case err != nil:
		return r.lookupFailed(conn, err), false
	case reply.Status != memd.StatusSuccess:
		return r.notFound(reply), false
	}
	if r.id = c.ID(); r.id == nil { // outdated again already
		return r.notSent(attemptCause{ErrCollectionNotFound, couchbasereason.KVCollectionOutdated, nil}, nil), false
	}
	return retry.Failure{}, true
}

// lookupFailed is the failure of an attempt whose collection could not be looked up.
func (r *run) lookupFailed(conn *kv.Conn, err error) retry.Failure {
	if errors.Is(err, kv.ErrClosed) && conn == r.conn {
		r.endpoint.Lost(conn)
		return r.noConnection()
	}
	return r.notSent(attemptCause{ErrSocketNotAvailable, couchbasereason.SocketNotAvailable, err}, nil)
}

// notFound is the failure of an attempt in a collection that the server does not know. It may know it later.
func (r *run) notFound(reply *kv.Reply) retry.Failure {
	m := meaningOf(reply.Status, memd.OpCollectionID, 0)
	e := attemptError{kind: m.kind, status: reply.Status, hasStatus: true, info: memd.ParseErrorInfo(&reply.Packet), answer: reply.Value, specIndex: -1}
	switch reply.Status { //nolint:exhaustive // the others are as in the table
	case memd.StatusUnknownCollection, memd.StatusUnknownScope:
		return retry.Failure{Err: &e, Stage: retry.StageBeforeSending, Reason: couchbasereason.KVCollectionOutdated, Endpoint: r.address()}
	case memd.StatusUnknownCommand, memd.StatusNotSupported:
		e.kind = ErrFeatureNotAvailable
	}
	return retry.Failure{Err: &e, Stage: retry.StageBeforeSending, Reason: m.reason, Endpoint: r.address()}
}
