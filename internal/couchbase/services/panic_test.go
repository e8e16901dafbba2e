package services

import (
	"context"
	"crypto/tls"
	"net"
	"strings"
	"testing"

	"github.com/holdfast-db/holdfast/internal/couchbase/clustermap"
	"github.com/holdfast-db/holdfast/retry"
)

// faulty is an application's connection that panics in one of its methods.
type faulty struct {
	net.Conn
	method string
}

func (f faulty) Read(b []byte) (int, error) {
	if f.method == "Read" {
		panic("in Read")
	}
	return f.Conn.Read(b)
}

func (f faulty) Write(b []byte) (int, error) {
	if f.method == "Write" {
		panic("in Write")
	}
	return f.Conn.Write(b)
}

func (f faulty) Close() error {
	err := f.Conn.Close()
	if f.method == "Close" {
		panic("in Close")
	}
	return err
}

// The application's dialer and connections run on goroutines of net/http, where a panic would end the process. Close returns after it.
func TestAPanicOfTheApplicationsCodeIsAnError(t *testing.T) {
	type dial = func(ctx context.Context, network, address string) (net.Conn, error)
	connection := func(method string) func(dial) dial {
		return func(next dial) dial {
			return func(ctx context.Context, network, address string) (net.Conn, error) {
				raw, err := next(ctx, network, address)
				return faulty{raw, method}, err
			}
		}
	}
	for _, c := range []struct {
		name, says string
		wrap       func(dial) dial
		tls        *tls.Config
	}{
		{"the dialer", "in Dial", func(dial) dial {
			return func(context.Context, string, string) (net.Conn, error) { panic("in Dial") }
		}, nil},
		{"a dialer without a connection", "neither a connection nor an error", func(dial) dial {
			return func(context.Context, string, string) (net.Conn, error) { return nil, nil }
		}, nil},
		{"Read", "in Read", connection("Read"), nil},
		{"Write", "in Write", connection("Write"), nil},
		{"Close", "", connection("Close"), nil},
		{"Write, with TLS", "in Write", connection("Write"), &tls.Config{}},
		{"Close, with TLS", "", connection("Close"), &tls.Config{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble(t, func(t *testing.T, cluster *fakeCluster) {
				cluster.serve(t, "a:1", status(200, oneRow))
				client, _ := cluster.client(t, func(config *Config) { config.Dial, config.TLS = c.wrap(config.Dial), c.tls })
				defer client.Close()
				rows, err := stream(client, clustermap.Query, retry.ReadOnly)
				if err == nil {
					all(rows)
					err = rows.Close()
				}
				if c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)) {
					t.Errorf("%v", err)
				}
			})
		})
	}
}
