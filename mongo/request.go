package mongo

import (
	"context"
	"sync"

	"github.com/holdfast-db/holdfast/internal/mongo/operation"
)

// WithRequest begins a request: a run of operations that belong together, as the Read Preferences document of 2014
// describes them. The request ends with the returned context: when cancel is called, or when parent ends. The caller must
// call cancel.
//
// On a replica set the operations with this context obey these rules, and not those of server selection:
//
//   - The first read that succeeds pins the request to its member. Reads with the same read preference go there again.
//   - Another read preference, a member that goes down, and a new primary end the pin. A change of tags or of round trip
//     times does not. Writes do not end it either.
//   - After a socket error a read tries other members that match its read preference, three members in all, each once and
//     at once. Other errors that are retryable get one retry. With retryReads=false nothing is tried again.
//   - If no member matches, a read fails at once, with the wording of the document. [IsNetworkError] reports true for that
//     error. Only before the first discovery of the members a read waits.
//   - All operations on the primary use one connection, one after the other.
//
// On other deployments a request changes nothing. A request does not promise that reads move forward in time: use a causally
// consistent session for that. The context may be used by several goroutines and with several clients. Operations that an
// explicit transaction or a cursor ties to a server stay there.
func WithRequest(parent context.Context) (ctx context.Context, cancel context.CancelFunc) {
	q := &request{ofClients: make(map[*Client]*operation.Request)}
	ctx, cancel = context.WithCancel(context.WithValue(orBackground(parent), requestKey{}, q))
	context.AfterFunc(ctx, q.end)
	return ctx, cancel
}

type requestKey struct{}

// request has the requests of one context, one for each client.
type request struct {
	mu        sync.Mutex
	ofClients map[*Client]*operation.Request
	ended     bool
}

// requestOf returns the client's request of ctx, nil if ctx has none.
func requestOf(ctx context.Context, c *Client) *operation.Request {
	q, _ := ctx.Value(requestKey{}).(*request)
	if q == nil {
		return nil
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	own := q.ofClients[c]
	if own == nil && !q.ended {
		own = c.runner.NewRequest()
		q.ofClients[c] = own
	}
	return own
}

func (q *request) end() {
	q.mu.Lock()
	q.ended = true
	q.mu.Unlock()
	for _, own := range q.ofClients { // it does not change any longer
		own.End()
	}
}
