package httpapi

import (
	"bytes"
	"encoding/json"
	"net/http"
	"time"

	"github.com/holdfast-db/holdfast/internal/couchbase/clustermap"
)

// exchange is one request with its answer. It is the http.ResponseWriter of the handlers.
type exchange struct {
	w     http.ResponseWriter
	r     *http.Request // of the handler: it knows the values of the path
	req   *Request
	s     *Services
	node  NodeID
	user  User
	fault Fault
	rec   *Record
	sent  int64 // bytes of the body
	rows  int
}

var _ http.ResponseWriter = (*exchange)(nil)

func (x *exchange) Header() http.Header { return x.w.Header() }

func (x *exchange) WriteHeader(status int) {
	if x.fault.Cut == CutReply {
		x.cut()
	}
	x.s.log.change(x.rec, func(rec *Record) {
		if rec.Status == 0 {
			rec.Status = status
		}
	})
	x.w.WriteHeader(status)
}

func (x *exchange) Write(b []byte) (int, error) {
	if x.rec.Status == 0 { // only this goroutine writes it
		x.WriteHeader(http.StatusOK)
	}
	if left := int64(x.fault.After) - x.sent; x.fault.Cut == CutBytes && int64(len(b)) >= left {
		_, _ = x.write(b[:max(left, 0)])
		x.Flush()
		x.cut()
	}
	return x.write(b)
}

func (x *exchange) write(b []byte) (int, error) {
	n, err := x.w.Write(b)
	x.sent += int64(n)
	return n, err
}

// rowWritten is called after each row.
func (x *exchange) rowWritten() {
	x.rows++
	x.cutRows()
}

// cutRows ends the connection if the fault wants it after the rows written so far.
func (x *exchange) cutRows() {
	if x.fault.Cut == CutRows && x.rows >= x.fault.After {
		x.Flush()
		x.cut()
	}
}

// Flush sends what was written. An error is seen by the next write.
func (x *exchange) Flush() { _ = http.NewResponseController(x.w).Flush() }

// end completes the record.
func (x *exchange) end() {
	left := x.req.ctx.Err() != nil
	x.s.log.change(x.rec, func(rec *Record) {
		rec.Done, rec.Left = true, left
		rec.Rows, rec.Bytes = x.rows, x.sent
		rec.Took = time.Since(rec.At)
	})
}

// json sends a value as the whole body.
func (x *exchange) json(status int, v any) {
	b, err := marshal(v)
	if err != nil {
		x.text(http.StatusInternalServerError, "couchbasetest: "+err.Error())
		return
	}
	x.bytes(status, "application/json", b)
}

// text sends a text as the whole body, of the type that is set or looks right.
func (x *exchange) text(status int, s string) {
	kind := x.Header().Get("Content-Type")
	if kind == "" {
		kind = "text/plain"
		if json.Valid([]byte(s)) {
			kind = "application/json"
		}
	}
	x.bytes(status, kind, []byte(s))
}

func (x *exchange) bytes(status int, contentType string, b []byte) {
	x.Header().Set("Content-Type", contentType)
	x.WriteHeader(status)
	_, _ = x.Write(b) // the client has left; the record says so
}

// marshal is json.Marshal without the escapes for HTML, which the services do not write.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimRight(b.Bytes(), "\n"), nil
}

// isRowService reports whether a service answers from scripts.
func isRowService(s clustermap.Service) bool {
	return s == clustermap.Query || s == clustermap.Analytics || s == clustermap.Search || s == clustermap.Views
}
