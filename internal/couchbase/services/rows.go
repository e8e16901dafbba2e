package services

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"

	"github.com/holdfast-db/holdfast/retry"
)

// Rows is a result whose rows are read one by one. It must be closed, or read to its end; else it holds its connection until
// the operation's timeout, counted from the last call of Next. It is not safe for concurrent use.
type Rows struct {
	exchange *exchange
	judge    judge
	reader   rowReader
	row      json.RawMessage
	pending  bool // row was read by the attempt and not delivered yet
	ended    bool
	err      error
	life     *life // of the operation; nil: it ends with a larger one
	// known is called when the fields beside the rows are known, as far as they are: before the first row, and at the end.
	known func(*meta)
	// refused is called with a failure that the service answered.
	refused func(*retry.Failure)
}

// Stream sends a request whose answer has rows. Until the first row is there, or it is known that there is none, the request
// may be repeated.
func (c *Client) Stream(ctx context.Context, r *Request) (*Rows, error) {
	if judges[r.Service] == nil {
		return nil, invalid("the service %v returns no rows", r.Service)
	}
	rows := &Rows{judge: judges[r.Service]}
	return c.stream(ctx, r, rows, func(ctx context.Context, n int) *retry.Failure {
		return c.attempt(ctx, n, r, rows.open)
	})
}

func (c *Client) stream(ctx context.Context, r *Request, rows *Rows, attempt func(context.Context, int) *retry.Failure) (*Rows, error) {
	l, err := c.run(ctx, r, attempt)
	if err != nil {
		return nil, err
	}
	rows.life = l
	if rows.ended {
		l.end()
	}
	return rows, nil
}

// open reads an answer up to its first row. A failure closes the exchange.
func (r *Rows) open(x *exchange) *retry.Failure {
	*r = Rows{exchange: x, judge: r.judge, known: r.known, refused: r.refused}
	r.reader = rowReader{in: jsonReader{from: x.reply.Body}, name: rowFields[x.request.Service]}
	var failure *retry.Failure
	if x.reply.StatusCode != http.StatusOK {
		failure = r.errorAnswer()
	} else {
		failure = r.head()
	}
	if failure != nil {
		x.close()
	}
	return failure
}

// head reads up to the first row, or the end.
func (r *Rows) head() *retry.Failure {
	row, err := r.reader.next()
	if err != nil && !isEnd(err) {
		return r.exchange.unreadable(err, r.reader.in.err)
	}
	if failure := r.verdict(); failure != nil {
		return failure
	}
	if err == nil {
		if failure := r.exchange.deliver(); failure != nil {
			return failure
		}
	}
	if r.known != nil {
		r.known(&r.reader.meta)
	}
	if err != nil {
		r.exchange.close()
		r.ended = true
		return nil
	}
	r.row, r.pending = row, true
	return nil
}

// verdict judges what is known of the answer so far.
func (r *Rows) verdict() *retry.Failure {
	a := &Answer{Status: r.exchange.reply.StatusCode}
	if raw, ok := r.reader.meta.fields["errors"]; ok {
		a.Entries = entries(raw)
		a.Text = string(r.reader.meta.object())
	}
	return r.judged(a)
}

func (r *Rows) judged(a *Answer) *retry.Failure {
	v, bad := r.judge(r.exchange.request, a)
	if !bad {
		return nil
	}
	failure := v.failure(a, r.exchange.address)
	if r.refused != nil {
		r.refused(failure)
	}
	return failure
}

// errorAnswer reads an answer whose HTTP status is not 200.
func (r *Rows) errorAnswer() *retry.Failure {
	text, failure := r.exchange.text()
	if failure != nil {
		return failure
	}
	a := &Answer{Status: r.exchange.reply.StatusCode, Text: string(text)}
	var fields struct {
		Errors json.RawMessage `json:"errors"`
	}
	if json.Unmarshal(text, &fields) == nil && len(fields.Errors) > 0 {
		a.Entries = entries(fields.Errors)
	}
	if failure := r.judged(a); failure != nil {
		return failure
	}
	a.err = errors.New("the HTTP status is not 200")
	return verdict{kind: KindOther, unsettled: true}.failure(a, r.exchange.address)
}

// text reads the body of an answer that is an error.
func (x *exchange) text() ([]byte, *retry.Failure) {
	text, err := io.ReadAll(io.LimitReader(x.reply.Body, maxText))
	if err != nil {
		return nil, x.failed(err)
	}
	return text, nil
}

// unreadable classifies an error of reading an answer. body is the error of reading its bytes, or nil. What an operation that has ended
// could still read of its answer says nothing about the service.
func (x *exchange) unreadable(err, body error) *retry.Failure {
	if !x.hasEnded() && (errors.Is(err, errMalformed) || isEnd(body) && x.framed()) {
		return &retry.Failure{
			Err: &Answer{Kind: KindOther, Status: x.reply.StatusCode, err: err}, Stage: retry.StageAnswered, Unsettled: true,
			Endpoint: x.address,
		}
	}
	return x.failed(err)
}

// Next reads the next row. It returns false at the end and after an error.
func (r *Rows) Next() bool {
	switch {
	case r.ended:
		return false
	case r.pending:
		r.pending = false
		return true
	}
	if r.life != nil && !r.exchange.request.WithRows {
		r.life.renew()
	}
	var err error
	if r.row, err = r.reader.next(); err == nil {
		return true
	}
	r.end(err)
	return false
}

// end ends a result that was read to its end, or to an error.
func (r *Rows) end(err error) {
	var failure *retry.Failure
	if isEnd(err) {
		failure = r.verdict()
		if failure == nil && r.known != nil {
			r.known(&r.reader.meta)
		}
	} else {
		failure = r.exchange.unreadable(err, r.reader.in.err)
	}
	if failure != nil {
		r.err = endedEarly(r.exchange, failure)
	}
	r.finish()
}

func (r *Rows) finish() {
	r.row, r.ended = nil, true
	r.exchange.close()
	if r.life != nil {
		r.life.end()
	}
}

// Row returns the current row, in memory of its own.
func (r *Rows) Row() json.RawMessage { return r.row }

// Err returns the error that ended the rows, or nil.
func (r *Rows) Err() error { return r.err }

// Close ends the result, and the request if it is still under way. It returns Err.
func (r *Rows) Close() error {
	if !r.ended {
		r.finish()
	}
	return r.err
}

// Ended reports whether the result was read to its end, or closed.
func (r *Rows) Ended() bool { return r.ended }

// Field returns a field that the answer has beside its rows, or nil. All are known only at the end.
func (r *Rows) Field(name string) json.RawMessage { return r.reader.meta.fields[name] }

// Meta returns all fields beside the rows, as far as they are known, as one JSON object.
func (r *Rows) Meta() []byte { return r.reader.meta.object() }

// Address returns the host and port of the node that answers.
func (r *Rows) Address() string { return r.exchange.address }
