//go:build unix

package cluster

import (
	"crypto/tls"
	"math/rand/v2"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/topology"
	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

// floodServer is a slow and unreliable server on a real TCP address.
type floodServer struct {
	net.Listener
	open    atomic.Int64 // connections
	serving sync.WaitGroup
}

func newFloodServer(t *testing.T, config *tls.Config) *floodServer {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if config != nil {
		l = tls.NewListener(l, config)
	}
	f := &floodServer{Listener: l}
	f.serving.Go(func() {
		for {
			nc, err := l.Accept()
			if err != nil {
				return
			}
			f.open.Add(1)
			f.serving.Go(func() {
				defer f.open.Add(-1)
				defer nc.Close()
				f.serve(nc)
			})
		}
	})
	return f
}

// serve answers late, in two pieces, or closes the connection.
func (f *floodServer) serve(nc net.Conn) {
	for {
		message, err := wire.ReadMessage(nc, nil, wire.MaxMessageLength)
		if err != nil {
			return
		}
		h, _ := wire.ParseHeader(message)
		body, _ := bson.Marshal(append(bson.D{{Key: "ok", Value: 1}, {Key: "id", Value: h.RequestID}}, standalone()...))
		reply := msg(h.RequestID, body)
		<-time.After(rand.N(6 * time.Millisecond))
		cut := rand.IntN(len(reply))
		switch rand.IntN(50) {
		case 0:
			return
		case 1:
			_, _ = nc.Write(reply[:cut])
			return
		}
		_, err = nc.Write(reply[:cut])
		<-time.After(rand.N(time.Millisecond))
		if _, err2 := nc.Write(reply[cut:]); err != nil || err2 != nil {
			return
		}
	}
}

// TestNothingIsLostOrLeftUnderAFlood on real sockets, whose deadlines pass while other goroutines set them.
func TestNothingIsLostOrLeftUnderAFloodOnSockets(t *testing.T) {
	for name, edit := range map[string]func(*testing.T, *Config) *tls.Config{
		"TCP": func(*testing.T, *Config) *tls.Config { return nil },
		"TLS": func(t *testing.T, cfg *Config) *tls.Config {
			cfg.TLS = &tls.Config{InsecureSkipVerify: true}
			return tlsConfig(t)
		},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := Config{
				MaxPoolSize: 5, MinPoolSize: 2, MaxConnIdleTime: 20 * time.Millisecond, ConnectTimeout: 100 * time.Millisecond,
			}
			server := newFloodServer(t, edit(t, &cfg))
			cfg.Topology = topology.Config{Seeds: []string{server.Addr().String()}}
			s := bareOn(t, cfg)
			s.cluster.background.Go(func() { s.pool.maintain(s.cluster.backgroundCtx) })
			found(t, s, standalone())
			floodSockets(t, s)
			s.cluster.Close()
			counters(t, s, 0, 0, 0)
			if n := s.inFlight.Load(); n != 0 {
				t.Errorf("%d operations are in flight", n)
			}
			_ = server.Close()
			server.serving.Wait() // every connection ends
		})
	}
}

func floodSockets(t *testing.T, s *Server) {
	t.Helper()
	const callers = 10
	began := time.Now()
	var all sync.WaitGroup
	var succeeded atomic.Int64
	for i := range callers {
		all.Go(func() {
			goesOn := func() bool { // without a success the callers go on when the pool is cleared no more: the machine may be busy
				took := time.Since(began)
				return took < 500*time.Millisecond || succeeded.Load() == 0 && took < time.Minute
			}
			for id := int32(i + 1); goesOn(); id += callers {
				if flood(t, s, id) {
					succeeded.Add(1)
				}
			}
		})
	}
	all.Go(func() {
		for time.Since(began) < 500*time.Millisecond {
			sleep(t.Context(), randomTime(100*time.Millisecond), nil)
			s.pool.clear(errDown, rand.IntN(2) == 0).run()
			sleep(t.Context(), randomTime(10*time.Millisecond), nil)
			found(t, s, standalone())
		}
	})
	all.Wait()
	if succeeded.Load() == 0 {
		t.Error("no operation succeeded")
	}
}
