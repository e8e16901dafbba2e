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
func (u *run) identify() (retry.Failure, bool) {
	c := u.request.Collection
	if !u.conn.Features().Has(memd.FeatureCollections) {
		if c != nil && !c.IsDefault() {
			return u.unsupported("the server does not support collections"), false
		}
		return retry.Failure{}, true
	}
	if c == nil {
		return retry.Failure{}, true
	}
	if u.id = c.ID(); u.id != nil {
		return retry.Failure{}, true
	}
	lookup := c.LookUp(u.conn)
	select {
	case <-lookup.Done():
	case <-u.Done():
		return u.notSent(attemptCause{ErrCollectionNotFound, couchbasereason.KVCollectionOutdated, errors.New("the id is being looked up")}, nil), false
	}
	reply, conn, err := lookup.Result()
	switch {
	case err != nil:
		return u.lookupFailed(conn, err), false
	case reply.Status != memd.StatusSuccess:
		return u.notFound(reply), false
	}
	if u.id = c.ID(); u.id == nil { // outdated again already
		return u.notSent(attemptCause{ErrCollectionNotFound, couchbasereason.KVCollectionOutdated, nil}, nil), false
	}
	return retry.Failure{}, true
}

// lookupFailed is the failure of an attempt whose collection could not be looked up.
func (u *run) lookupFailed(conn *kv.Conn, err error) retry.Failure {
	if errors.Is(err, kv.ErrClosed) && conn == u.conn {
		u.endpoint.Lost(conn)
		return u.noConnection()
	}
	return u.notSent(attemptCause{ErrSocketNotAvailable, couchbasereason.SocketNotAvailable, err}, nil)
}

// notFound is the failure of an attempt in a collection that the server does not know. It may know it later.
func (u *run) notFound(reply *kv.Reply) retry.Failure {
	m := meaningOf(reply.Status, memd.OpCollectionID, 0)
	e := attemptError{kind: m.kind, status: reply.Status, hasStatus: true, info: memd.ParseErrorInfo(&reply.Packet), answer: reply.Value, specIndex: -1}
	switch reply.Status { //nolint:exhaustive // the others are as in the table
	case memd.StatusUnknownCollection, memd.StatusUnknownScope:
		return retry.Failure{Err: &e, Stage: retry.StageDispatch, Reason: couchbasereason.KVCollectionOutdated, Endpoint: u.address()}
	case memd.StatusUnknownCommand, memd.StatusNotSupported:
		e.kind = ErrFeatureNotAvailable
	}
	return retry.Failure{Err: &e, Stage: retry.StageDispatch, Reason: m.reason, Endpoint: u.address()}
}
