package retryhttp

import (
	"io"
	"net/http"
	"sync"
)

// requestBody lends a request's body to the attempts. A transport closes the body of every attempt, also of one that sent
// nothing. So Close does nothing while nothing was read: a later attempt can then read the body.
type requestBody struct {
	mu     sync.Mutex
	body   io.ReadCloser
	used   bool // an attempt has read from it, or could still do so
	done   bool // there is no later attempt
	asked  bool // an attempt closed it
	closed bool
}

// bodyOf returns the request's body, or nil if it has none.
func bodyOf(r *http.Request) *requestBody {
	if r.Body == nil || r.Body == http.NoBody {
		return nil
	}
	return &requestBody{body: r.Body}
}

// Read implements io.Reader.
func (b *requestBody) Read(p []byte) (int, error) {
	b.use()
	return b.body.Read(p)
}

// Close implements io.Closer.
func (b *requestBody) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.asked = true
	return b.closeIfDone()
}

// use marks the body as no longer whole.
func (b *requestBody) use() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.used = true
}

// wasUsed reports whether an attempt may have read a part of the body.
func (b *requestBody) wasUsed() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.used
}

// lend gives the body to the next attempt, which closes it again.
func (b *requestBody) lend() io.ReadCloser {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.asked = false
	return b
}

// end says that there is no later attempt. If the latest one may still read the body, for it was answered before it had sent
// everything, the body is closed when that attempt closes it.
func (b *requestBody) end(inUse bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.done = true
	b.asked = b.asked || !inUse
	_ = b.closeIfDone()
}

// closeIfDone closes the body once, when an attempt wants it closed and none can read it from the beginning any more.
func (b *requestBody) closeIfDone() error {
	if b.closed || !b.asked || !b.done && !b.used {
		return nil
	}
	b.closed = true
	return b.body.Close()
}
