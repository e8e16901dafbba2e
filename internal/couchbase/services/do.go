package services

import (
	"context"
	"fmt"
	"io"
	"net/http"

	"github.com/holdfast-db/holdfast/internal/couchbase/clustermap"
	"github.com/holdfast-db/holdfast/retry"
)

// Reply is the whole answer to a request without rows.
type Reply struct {
	Status  int
	Header  http.Header
	Body    []byte
	Address string
}

// managementJudges has the tables of the services whose management answers in another way than the cluster manager.
var managementJudges = map[clustermap.Service]judge{
	clustermap.Search: judgeSearchIndexes, clustermap.Views: judgeDesignDocuments,
}

// Do sends a request whose answer is read whole, such as one to the cluster manager. An HTTP status that is not 2xx is an error.
func (c *Client) Do(ctx context.Context, r *Request) (*Reply, error) {
	table := managementJudges[r.Service]
	if table == nil {
		table = judgeManagement
	}
	var reply *Reply
	l, err := c.run(ctx, r, func(ctx context.Context, n int) *retry.Failure {
		return c.attempt(ctx, n, r, func(x *exchange) (failure *retry.Failure) {
			defer x.close()
			reply, failure = x.whole(table)
			return failure
		})
	})
	if err != nil {
		return nil, err
	}
	l.end()
	return reply, nil
}

// whole reads an answer to its end and judges it.
func (x *exchange) whole(table judge) (*Reply, *retry.Failure) {
	body, err := io.ReadAll(io.LimitReader(x.reply.Body, maxMeta+1))
	if err == nil && len(body) > maxMeta {
		err = fmt.Errorf("%w: it has more than %d bytes", errMalformed, maxMeta)
	}
	if err != nil {
		return nil, x.unreadable(err, err)
	}
	a := &Answer{Status: x.reply.StatusCode, Text: string(body[:min(len(body), maxText)])}
	if v, bad := table(x.request, a); bad {
		return nil, v.failure(a, x.address)
	}
	return &Reply{Status: x.reply.StatusCode, Header: x.reply.Header, Body: body, Address: x.address}, nil
}
