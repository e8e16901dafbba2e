package revocation

import (
	"bytes"
	"context"
	"crypto"
	"net/http"
	"sync"
	"time"

	"github.com/holdfast-db/holdfast/internal/base/panicked"
	"github.com/holdfast-db/holdfast/internal/base/shortanswer"
)

const (
	patience  = 5 * time.Second // the specification's default timeout of the requests
	maxAnswer = 100 << 10       // bytes; answers have some thousands
)

// waitOf returns how long responders may take. If the connection must be there soon, half of its time is left for what follows: a silent
// responder is no reason for refusing a server.
func waitOf(ctx context.Context) time.Duration {
	if deadline, ok := ctx.Deadline(); ok {
		return min(patience, time.Until(deadline)/2)
	}
	return patience
}

// ask asks all responders of a certificate at the same time, and returns the first conclusive answer. It is false if there is none. The other
// requests are interrupted, and have ended when ask returns.
func (c *Checker) ask(ctx context.Context, about *certificate, clock func() time.Time) (answer, bool) {
	ctx, cancel := context.WithTimeout(ctx, waitOf(ctx))
	defer cancel()
	answers := make(chan answer, len(about.leaf.OCSPServer))
	var all sync.WaitGroup
	for _, url := range about.leaf.OCSPServer {
		all.Go(func() {
			if a, err := c.askOne(ctx, url, about, clock); err == nil && a.isConclusive() {
				answers <- a
				cancel()
			}
		})
	}
	all.Wait()
	select {
	case a := <-answers:
		return a, true
	default:
		return answer{}, false
	}
}

// askOne asks one responder. The application's HTTP client and clock may panic.
func (c *Checker) askOne(ctx context.Context, url string, about *certificate, clock func() time.Time) (a answer, err error) {
	defer panicked.Recovered("the request to an OCSP responder", &err)
	request, _, err := about.request(crypto.SHA1)
	if err != nil {
		return answer{}, err
	}
	der, err := c.post(ctx, url, request)
	if err != nil {
		return answer{}, err
	}
	return about.read(der, clock())
}

// post sends a request to one responder (RFC 6960, A.1). The connection is not kept: its next use may be days away.
func (c *Checker) post(ctx context.Context, url string, request []byte) ([]byte, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(request))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/ocsp-request")
	r.Header.Set("Accept", "application/ocsp-response")
	return shortanswer.Get(c.client, r, maxAnswer)
}
