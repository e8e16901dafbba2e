package operation

import (
	"context"
	"errors"
	"net"
	"slices"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	official "go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/holdfast-db/holdfast/internal/mongo/cluster"
	"github.com/holdfast-db/holdfast/internal/mongo/topology"
	"github.com/holdfast-db/holdfast/retry"
	"github.com/holdfast-db/holdfast/retry/mongoreason"
)

// nowhere is a network on which no server answers.
type nowhere struct{}

func (nowhere) DialContext(context.Context, string, string) (net.Conn, error) { return nil, errCause }

// deployment returns a cluster of one server that is never found.
func deployment(t *testing.T) *cluster.Cluster {
	t.Helper()
	c, err := cluster.New(cluster.Config{Dialer: nowhere{}, Topology: topology.Config{Seeds: []string{"a:1"}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func serverOf(c *cluster.Cluster) *cluster.Server {
	s := c.Snapshot()
	return s.Server(s.Description.Servers[0])
}

// An attempt that got no connection: nothing was sent, whatever it is.
func TestWhatACheckoutThatFailedMeans(t *testing.T) {
	refusal := func(code int32) []byte {
		return marshal(t, bson.D{{Key: "ok", Value: 0}, {Key: "code", Value: code}, {Key: "errmsg", Value: "m"}})
	}
	cleared := &cluster.PoolClearedError{Address: "a:1", Cause: errCause}
	full := &cluster.CheckOutError{Address: "a:1", Err: context.Canceled}
	for _, c := range []struct {
		name   string
		closed bool
		err    error
		reason retry.Reason
		labels []string // nil: the error stays what it is
		code   int32
	}{
		{"the pool was cleared", false, cleared, mongoreason.PoolCleared, []string{"NetworkError", "RetryableWriteError"}, 0},
		{"the server left", false, cluster.ErrPoolClosed, mongoreason.PoolCleared, []string{"NetworkError", "RetryableWriteError"}, 0},
		{"the pool was exhausted", false, full, retry.ReasonUnknown, nil, 0},
		{
			"connecting failed", false, &cluster.HandshakeError{Connecting: true, Network: true, Err: errCause}, retry.ReasonOverloaded,
			[]string{"NetworkError", "SystemOverloadedError", "RetryableError", "RetryableWriteError"},
			0,
		},
		{
			"the name was not resolved", false, &cluster.HandshakeError{Network: true, Err: errCause}, retry.ReasonConnectionFailed,
			[]string{"NetworkError", "RetryableWriteError"},
			0,
		},
		{
			"hello was refused, retryably", false, &cluster.HandshakeError{Reply: refusal(91), Err: errCause}, retry.ReasonConnectionFailed,
			[]string{"RetryableWriteError"},
			91,
		},
		{
			"hello was refused by a primary that is none", false, &cluster.HandshakeError{Reply: refusal(10107), Err: errCause},
			retry.ReasonConnectionFailed,
			[]string{"RetryableWriteError"},
			10107,
		},
		{
			"hello was refused", false, &cluster.HandshakeError{Reply: refusal(18), Err: errCause}, retry.ReasonUnknown,
			[]string{},
			18,
		},
		{
			"hello took longer than its maxTimeMS", false, &cluster.HandshakeError{Reply: refusal(50), Err: errCause}, retry.ReasonUnknown,
			[]string{},
			50,
		},
		{
			"hello was answered by no document", false, &cluster.HandshakeError{Reply: []byte{1}, Err: errCause}, retry.ReasonUnknown,
			[]string{},
			0,
		},
		{"the client could not write its hello", false, &cluster.HandshakeError{Err: errCause}, retry.ReasonUnknown, nil, 0},
		{"the client was disconnected, whose servers have other errors", true, cleared, mongoreason.PoolCleared, []string{"NetworkError", "RetryableWriteError"}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := on(Write, Config{Cluster: deployment(t), RetryWrites: true})
			server := serverOf(r.cfg.Cluster)
			if c.closed {
				r.cfg.Cluster.Close()
			}
			r.txnNumber = 1
			f := r.checkOutFailed(t.Context(), server, c.err)
			if !errors.Is(f.Err, c.err) || f.Stage != retry.StageBeforeSending || f.Reason != c.reason || f.Endpoint != "a:1" || f.Idempotency != retry.Idempotent ||
				f.Stop != retry.StopNone {
				t.Errorf("%+v", f)
			}
			var command official.CommandError
			switch is := errors.As(f.Err, &command); {
			case is != (c.labels != nil):
				t.Errorf("the error is a %T: %v", f.Err, f.Err)
			case is && (!slices.Equal(command.Labels, c.labels) || command.Code != c.code || !errors.Is(f.Err, c.err)):
				t.Errorf("the error is %+v", command)
			}
		})
	}
	t.Run("the client was disconnected", func(t *testing.T) {
		r := on(Read, Config{Cluster: deployment(t)})
		server := serverOf(r.cfg.Cluster)
		r.cfg.Cluster.Close()
		f := r.checkOutFailed(t.Context(), server, cluster.ErrPoolClosed)
		if f.Err != official.ErrClientDisconnected || f.Stop != retry.StopNoServer || f.Stage != retry.StageBeforeSending || f.Idempotency != retry.ReadOnly { //nolint:errorlint // never wrapped
			t.Errorf("%+v", f)
		}
	})
}

// A fact that the connection does not report has the careful value.
func TestABrokenConnectionWhoseStageIsNotKnownIsInFlight(t *testing.T) {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for _, c := range []struct {
		err  error
		want retry.Stage
	}{
		{errCause, retry.StageInFlight},
		{&cluster.IOError{Stage: retry.StageInFlight, Err: errCause}, retry.StageInFlight},
		{&cluster.IOError{Stage: retry.StageBeforeSending, Err: errCause}, retry.StageBeforeSending},
	} {
		r := on(Read, Config{Cluster: deployment(t)})
		f := r.ioFailed(ended, serverOf(r.cfg.Cluster), nil, c.err)
		if f.Stage != c.want || f.Reason != retry.ReasonNetworkError || f.Endpoint != "a:1" || f.Idempotency != retry.ReadOnly || f.Unsettled {
			t.Errorf("%v: %+v", c.err, f)
		}
	}
}
