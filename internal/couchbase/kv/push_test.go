package kv

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/klauspost/compress/snappy"

	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
)

// told is what OnMap was called with.
type told struct {
	version memd.MapVersion
	body    string
	full    bool
}

// pushing returns a connection with the maps that it was told, and its server's end.
func pushing(t *testing.T) (c *Conn, maps func() []told, node *peer) {
	t.Helper()
	s := new(server)
	s.answer = func(p *peer, r memd.Packet) {
		node = p
		p.send(reply(r))
	}
	var all []told
	cfg := s.start(t)
	cfg.OnMap = func(_ *Conn, version memd.MapVersion, body []byte) {
		all = append(all, told{version, string(body), body != nil})
	}
	c = s.connect(t, cfg)
	begin(c, get("first")).wantReply(t, "first")
	return c, func() []told { synctest.Wait(); return all }, node
}

func TestAPushedMapIsTold(t *testing.T) {
	version := memd.MapVersion{Epoch: 2, Revision: 7}
	old := push(version, theMap)
	old.Extras = old.Extras[12:]
	compressed := push(version, "")
	compressed.DataType, compressed.Value = memd.DataSnappy, snappy.Encode(nil, []byte(theMap))
	other := push(version, theMap)
	other.Opcode = 0x02
	for _, c := range []struct {
		name   string
		packet memd.Packet
		want   []told
	}{
		{"a full map", push(version, theMap), []told{{version, theMap, true}}},
		{"a compressed map", compressed, []told{{version, theMap, true}}},
		{"only the version", push(version, ""), []told{{version, "", false}}},
		{"the version of an old server", old, []told{{memd.MapVersion{Revision: 7}, theMap, true}}},
		{"another request of the server is ignored", other, nil},
	} {
		for _, when := range []string{"while the connection is idle", "between two requests", "before a reply"} {
			t.Run(c.name+", "+when, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					conn, maps, node := pushing(t)
					switch when {
					case "while the connection is idle":
						pass(time.Second)
						node.send(c.packet)
						pass(time.Millisecond)
					case "between two requests":
						node.send(c.packet)
						begin(conn, get("next")).wantReply(t, "next")
					case "before a reply":
						k := begin(conn, get("next"))
						node.send(c.packet)
						k.wantReply(t, "next")
						begin(conn, get("another")).wantReply(t, "another")
					}
					got := maps()
					if len(got) != len(c.want) || len(got) > 0 && got[0] != c.want[0] {
						t.Errorf("told %+v, want %+v", got, c.want)
					}
					begin(conn, get("after")).wantReply(t, "after")
				})
			})
		}
	}
}

// A map that comes right after the handshake is told although no request is made.
func TestAMapAfterTheHandshakeIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		version := memd.MapVersion{Epoch: 1, Revision: 3}
		maps := 0
		s := new(server)
		cfg := s.start(t)
		cfg.OnMap = func(_ *Conn, v memd.MapVersion, _ []byte) {
			if maps++; v != version {
				t.Errorf("the version is %v", v)
			}
		}
		s.after = []memd.Packet{push(version, "")}
		s.connect(t, cfg)
		synctest.Wait()
		if maps != 1 {
			t.Errorf("%d maps were told", maps)
		}
	})
}

func TestAnIdleConnectionNoticesItsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := new(server)
		cfg := s.start(t)
		var ended []error
		cfg.OnClose = func(_ *Conn, err error) { ended = append(ended, err) }
		var node *peer
		s.answer = func(p *peer, r memd.Packet) { node = p; p.send(reply(r)) }
		c := s.connect(t, cfg)
		begin(c, get("1")).wantReply(t, "1")
		pass(time.Second)
		node.nc.Close()
		synctest.Wait()
		c.Close(nil)
		if len(ended) != 1 || !errors.Is(c.Err(), ErrClosed) {
			t.Errorf("OnClose was called with %v, and the connection's error is %v", ended, c.Err())
		}
	})
}

func TestTheLastUse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := new(server).connect(t, nil)
		for range 3 {
			pass(time.Minute)
			used := time.Now()
			begin(c, get("1")).wantReply(t, "1")
			if got := c.LastUsed(); !got.Equal(used) {
				t.Errorf("the last use is at %v; it is %v", got, used)
			}
			pass(time.Minute)
			if got := c.LastUsed().Sub(used); got < 0 || got > 3*time.Millisecond {
				t.Errorf("the last use is %v after the real one", got)
			}
		}
	})
}
