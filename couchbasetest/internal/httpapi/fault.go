package httpapi

import (
	"net/http"
	"time"

	"github.com/holdfast-db/holdfast/internal/base/pause"
)

// Fault says what happens to one request. The zero Fault does nothing.
type Fault struct {
	// Before runs when the request has come, before anything is done. No lock is held.
	Before func()
	// Delay is how long the request waits before anything is done.
	Delay time.Duration
	// Status, if not 0, is sent with Header and Body in place of the service's answer; nothing is executed.
	Status int
	Header http.Header // added to the headers of the answer, also without Status
	Body   string
	// Cut ends the connection.
	Cut Cut
	// After is the number of rows or bytes that are sent before the cut.
	After int
	// Silent changes Cut: the connection stays open, and nothing more is sent on it.
	Silent bool
}

// Cut is where a fault ends the connection.
type Cut int

// The places.
const (
	NoCut Cut = iota
	// CutRequest ends it before anything is executed.
	CutRequest
	// CutReply ends it when the request was executed, before anything of the reply is sent.
	CutReply
	// CutRows ends it after a number of rows.
	CutRows
	// CutBytes ends it after a number of bytes of the body.
	CutBytes
)

// Inject makes a fault happen to the next requests that w selects: to as many as times says, and for as long as duration
// says; 0 is no limit. The function that it returns ends it. Of several faults for a request, the newest happens.
func (s *Services) Inject(w When, times int, duration time.Duration, f Fault) (remove func()) {
	return s.faults.add(w, times, duration, f)
}

// applyBefore does what a fault does before the request is executed. It reports false if that was all.
func (x *exchange) applyBefore() bool {
	f := &x.fault
	if f.Before != nil {
		f.Before()
	}
	if pause.For(x.req.ctx, f.Delay) != nil {
		return false
	}
	if f.Cut == CutRequest {
		x.cut()
	}
	for name, values := range f.Header {
		x.Header()[http.CanonicalHeaderKey(name)] = values
	}
	if f.Status != 0 {
		x.text(f.Status, f.Body)
		return false
	}
	return true
}

// cut ends the connection in the way of the fault.
func (x *exchange) cut() {
	if x.fault.Silent {
		<-x.req.ctx.Done()
	}
	// net/http knows this value: it closes the connection, and says nothing.
	panic(http.ErrAbortHandler)
}
