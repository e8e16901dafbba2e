package services

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/holdfast-db/holdfast/internal/couchbase/clustermap"
	"github.com/holdfast-db/holdfast/retry"
	"github.com/holdfast-db/holdfast/retry/couchbasereason"
)

// run makes attempts of a request. It returns the operation's life, which the caller must end; after an error it has ended.
func (c *Client) run(ctx context.Context, r *Request, attempt func(context.Context, int) *retry.Failure) (*life, error) {
	if err := r.check(); err != nil {
		return nil, err
	}
	l := c.live(ctx, r.Timeout)
	returned := false
	defer func() {
		if !returned { // a function of the application has panicked: what the operation has of connections ends
			l.end()
		}
	}()
	operation := retry.Operation{Name: r.Name, Strategy: r.Strategy, Data: r.Data, Idempotency: r.Idempotency}
	err := c.engine.Do(l, operation, func(ctx context.Context, n int) retry.Failure { //nolint:contextcheck // l is made from ctx
		if failure := attempt(ctx, n); failure != nil {
			return *failure
		}
		return retry.Failure{}
	})
	returned = true
	if err != nil {
		deadline, _ := l.Deadline()
		late := !time.Now().Before(deadline)
		l.end()
		return nil, failed(r, late, err)
	}
	return l, nil
}

// attempt makes attempt n; the first is 0. It chooses a node, sends, and lets use read the answer. use closes the exchange when it
// is done.
func (c *Client) attempt(ctx context.Context, n int, r *Request, use func(*exchange) *retry.Failure) *retry.Failure {
	offer := c.nodes.Offering(r.Service, r.Bucket)
	address, failure := c.choose(r, offer)
	if failure != nil {
		return failure
	}
	var body []byte
	if r.Body != nil {
		deadline, _ := ctx.Deadline()
		left := time.Until(deadline)
		if left <= 0 {
			return &retry.Failure{Err: context.DeadlineExceeded, Stage: retry.StageBeforeSending, Endpoint: address}
		}
		var err error
		if body, err = r.Body(left); err != nil {
			return &retry.Failure{Err: &Answer{Kind: KindEncodingFailure, err: err}, Stage: retry.StageBeforeSending}
		}
	}
	x := c.begin(ctx, r, address, offer)
	x.retries = n
	failure = x.send(body) //nolint:contextcheck // the exchange has it
	if failure == nil {
		failure = use(x)
	}
	x.ended(failure)
	return failure
}

// choose returns the node of an attempt, or why there is none.
func (c *Client) choose(r *Request, offer Offer) (string, *retry.Failure) {
	none := &retry.Failure{Stage: retry.StageBeforeSending, Wake: offer.Newer}
	switch {
	case c.closed.Err() != nil: // the end of ctx may come a moment later
		none.Err, none.Stop = &Answer{Kind: KindClosed, err: ErrClosed}, retry.StopNoServer
		return "", none
	case offer.NotOpen != nil:
		return "", offer.NotOpen.failure(none)
	case len(offer.Addresses) == 0:
		none.Err = fmt.Errorf("no node offers the service %v", r.Service)
		none.Reason = couchbasereason.ServiceNotAvailable
		if offer.Never {
			none.Err = fmt.Errorf("buckets of this type have no service %v", r.Service)
			none.Stop = retry.StopNoServer
		}
		return "", none
	case r.Address == "":
		return c.failures.pick(offer.Addresses), nil
	case slices.Contains(offer.Addresses, r.Address):
		return r.Address, nil
	default:
		none.Err = fmt.Errorf("the node %s does not offer the service %v", r.Address, r.Service)
		none.Reason, none.Endpoint = couchbasereason.NodeNotAvailable, r.Address
		return "", none
	}
}

var errNoMap = errors.New("there is no cluster map yet")

// failure describes to the engine that there is no map.
func (n *NotOpen) failure(f *retry.Failure) *retry.Failure {
	err := errNoMap
	if n.Err != nil {
		err = fmt.Errorf("%w: %w", errNoMap, n.Err)
	}
	f.Err, f.Reason = &Answer{Kind: n.Kind, err: err}, couchbasereason.BucketOpening
	if n.Kind == KindAuthenticationFailure || n.Kind == KindClosed {
		f.Stop = retry.StopNoServer
	}
	return f
}

func isDeadline(err error) bool { return errors.Is(err, context.DeadlineExceeded) }

// judges has the table of each service for requests that return rows.
var judges = map[clustermap.Service]judge{
	clustermap.Query: judgeQuery, clustermap.Analytics: judgeAnalytics, clustermap.Search: judgeSearch, clustermap.Views: judgeViews,
}

// rowFields has the name of the field with the rows.
var rowFields = map[clustermap.Service]string{
	clustermap.Query: "results", clustermap.Analytics: "results", clustermap.Search: "hits", clustermap.Views: "rows",
}
