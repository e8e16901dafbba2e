package cluster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/largebuffer"
	"github.com/holdfast-db/holdfast/internal/mongo/topology"
	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/retry"
)

// offering is the hello of a standalone with compressors.
func offering(compressors ...string) bson.D {
	return append(standalone(), bson.E{Key: "compression", Value: compressors})
}

// withCompressors returns a connection of a client with compressors to a peer.
func withCompressors(t *testing.T, p *peer, compressors ...string) *Conn {
	t.Helper()
	s := bare(t, p, func(cfg *Config) { cfg.Handshake.Compressors = compressors })
	found(t, s, p.hello)
	c := checkOut(t, s)
	t.Cleanup(func() { s.CheckIn(c) })
	return c
}

// command returns a message with a command of that name.
func command(name string, more ...bson.E) []byte {
	body, err := bson.Marshal(append(bson.D{{Key: name, Value: int32(1)}}, more...))
	if err != nil {
		panic(err)
	}
	at, b := wire.BeginMsg(nil, 9, 0, 0)
	return wire.EndMessage(append(b, body...), at)
}

// echoing returns a peer that answers each command but the handshake with wrap applied to the reply.
func echoing(hello bson.D, wrap func(reply []byte, q *question) []byte) *peer {
	return &peer{hello: hello, script: func(q *question) bool {
		if q.handshake {
			return false
		}
		q.conn.Write(wrap(q.reply(bson.D{{Key: "ok", Value: 1}, {Key: "text", Value: strings.Repeat("holdfast ", 100)}}), q))
		return true
	}}
}

func plain(reply []byte, _ *question) []byte { return reply }

// with compresses a message.
func with(t *testing.T, message []byte, by wire.Compressor) []byte {
	t.Helper()
	out, err := new(wire.Codec).Compress(nil, message, by)
	if err != nil {
		t.Error(err)
	}
	return out
}

// lastCompressor returns the compressor of the last message that a peer received.
func (p *peer) lastCompressor() (by wire.Compressor, compressed bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	q := p.asked[len(p.asked)-1]
	if q.header.OpCode != wire.OpCompressed {
		return wire.NoCompressor, false
	}
	return wire.Compressor(q.message[wire.HeaderLength+8]), true
}

// Source of the rule: wire compression specification, "MongoDB Handshake Amendment".
func TestTheFirstCompressorOfTheClientThatTheServerHasIsUsed(t *testing.T) {
	for _, c := range []struct {
		name           string
		client, server []string
		want           wire.Compressor
	}{
		{"the client's order counts", []string{"zlib", "snappy"}, []string{"snappy", "zlib"}, wire.Zlib},
		{"the first that both have", []string{"zstd", "snappy"}, []string{"snappy", "zlib"}, wire.Snappy},
		{"zstd", []string{"zstd"}, []string{"zstd"}, wire.Zstd},
		{"nothing in common", []string{"zstd"}, []string{"snappy"}, wire.NoCompressor},
		{"a server without compression", []string{"zstd"}, nil, wire.NoCompressor},
		{"a client without compression", nil, []string{"zstd"}, wire.NoCompressor},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := echoing(offering(c.server...), plain)
				conn := withCompressors(t, p, c.client...)
				if _, err := conn.RoundTrip(t.Context(), command("ping"), 9); err != nil {
					t.Fatal(err)
				}
				if got, compressed := p.lastCompressor(); got != c.want || compressed != (c.want != wire.NoCompressor) {
					t.Errorf("the command is compressed by %d (%v), want %d", got, compressed, c.want)
				}
			})
		})
	}
}

// Source of the rule: wire compression specification, "Messages not allowed to be compressed".
func TestCommandsOfTheListAreNotCompressed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := echoing(offering("snappy"), plain)
		conn := withCompressors(t, p, "snappy")
		for _, name := range []string{
			"hello", "isMaster", "ismaster", "saslStart", "saslContinue", "getnonce", "authenticate", "createUser", "updateUser",
			"copydbSaslStart", "copydbgetnonce", "copydb",
		} {
			if _, err := conn.RoundTrip(t.Context(), command(name), 9); err != nil {
				t.Fatal(err)
			}
			if _, compressed := p.lastCompressor(); compressed {
				t.Errorf("%s is compressed", name)
			}
		}
		for _, name := range []string{"find", "insert", "createUsers", "hell", "a command with a name of more than 32 bytes"} {
			if err := conn.Send(t.Context(), command(name)); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			if _, compressed := p.lastCompressor(); !compressed {
				t.Errorf("%s is not compressed", name)
			}
			conn.in = messageBuffer{}
			if _, err := conn.in.next(conn.nc, 1<<20); err != nil { // the reply, which Send does not read
				t.Fatal(err)
			}
		}
	})
}

// "Clients MUST be able to parse both compressed and uncompressed responses to both compressed and uncompressed requests."
func TestAReplyMayBeCompressedByAnyCompressor(t *testing.T) {
	for _, by := range []wire.Compressor{wire.NoCompressor, wire.Snappy, wire.Zlib, wire.Zstd} {
		for _, name := range []string{"ping", "hello"} {
			synctest.Test(t, func(t *testing.T) {
				p := echoing(offering("snappy"), func(reply []byte, _ *question) []byte { return with(t, reply, by) })
				conn := withCompressors(t, p, "snappy")
				for range 2 {
					reply, err := conn.RoundTrip(t.Context(), command(name), 9)
					if err != nil {
						t.Fatalf("%s, compressor %d: %v", name, by, err)
					}
					m, err := wire.ParseMsg(reply)
					if err != nil || len(bson.Raw(m.Body).Lookup("text").StringValue()) != 900 {
						t.Errorf("%s, compressor %d: %v, %v", name, by, bson.Raw(m.Body), err)
					}
				}
			})
		}
	}
}

func TestACompressedReplyThatIsRefused(t *testing.T) {
	large := func(by wire.Compressor) func([]byte, *question) []byte {
		return func(_ []byte, q *question) []byte {
			return with(t, q.reply(bson.D{{Key: "text", Value: strings.Repeat("a", 1<<20)}}), by)
		}
	}
	lying := func(by wire.Compressor) func([]byte, *question) []byte {
		return func(reply []byte, q *question) []byte {
			b := large(by)(reply, q)
			b[wire.HeaderLength+4], b[wire.HeaderLength+5], b[wire.HeaderLength+6] = 50, 0, 0 // its stated size
			return b
		}
	}
	for _, c := range []struct {
		name   string
		client []string
		reply  func([]byte, *question) []byte
	}{
		{"the client offered no compressor", nil, func(reply []byte, _ *question) []byte { return with(t, reply, wire.Snappy) }},
		{"snappy, longer than the server's limit", []string{"snappy"}, large(wire.Snappy)},
		{"zlib, longer than the server's limit", []string{"snappy"}, large(wire.Zlib)},
		{"zstd, longer than the server's limit", []string{"snappy"}, large(wire.Zstd)},
		{"snappy, longer than it states", []string{"snappy"}, lying(wire.Snappy)},
		{"zlib, longer than it states", []string{"snappy"}, lying(wire.Zlib)},
		{"zstd, longer than it states", []string{"snappy"}, lying(wire.Zstd)},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				hello := append(offering("snappy"), bson.E{Key: "maxMessageSizeBytes", Value: 100_000})
				conn := withCompressors(t, echoing(hello, c.reply), c.client...)
				_, err := conn.RoundTrip(t.Context(), command("ping"), 9)
				var broken *IOError
				if !errors.As(err, &broken) || broken.Stage != retry.StageInFlight || !errors.Is(err, wire.ErrMalformed) {
					t.Errorf("error: %v", err)
				}
				if conn.Reusable() {
					t.Error("the connection is used again")
				}
			})
		})
	}
}

func TestTheLastMessageOfACompressedReplyHasNoFlag(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := echoing(offering("zlib"), func(_ []byte, q *question) []byte {
			first := streamed(t, 100, q.header.RequestID, true, bson.D{})
			return append(with(t, first, wire.Zlib), with(t, streamed(t, 101, 100, false, bson.D{}), wire.Zlib)...)
		})
		conn := withCompressors(t, p, "zlib")
		if _, err := conn.RoundTrip(t.Context(), command("ping"), 9); err != nil || !conn.Continues() {
			t.Fatalf("%v; continues: %v", err, conn.Continues())
		}
		if _, err := conn.Next(t.Context()); err != nil || conn.Continues() {
			t.Errorf("%v; continues: %v", err, conn.Continues())
		}
	})
}

func TestTheLevelsAreUsed(t *testing.T) {
	var b strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&b, "%x ", i*i)
	}
	text := bson.E{Key: "text", Value: b.String()}
	size := func(t *testing.T, name string, edit func(*Config)) int {
		var n int
		synctest.Test(t, func(t *testing.T) {
			p := echoing(offering(name), plain)
			s := bare(t, p, func(cfg *Config) {
				cfg.Handshake.Compressors = []string{name}
				edit(cfg)
			})
			found(t, s, p.hello)
			c := checkOut(t, s)
			defer s.CheckIn(c)
			if _, err := c.RoundTrip(t.Context(), command("insert", text), 9); err != nil {
				t.Fatal(err)
			}
			n = int(p.asked[len(p.asked)-1].header.Length)
		})
		return n
	}
	zlib := func(level *int) int { return size(t, "zlib", func(cfg *Config) { cfg.ZlibLevel = level }) }
	none, fast, best, standard := 0, 1, 9, -1
	if zlib(&none) <= 40_000 || zlib(&fast) <= zlib(&best) || zlib(nil) != zlib(&standard) || zlib(nil) > zlib(&fast) {
		t.Errorf("zlib: %d bytes without compression, %d fast, %d best, %d default", zlib(&none), zlib(&fast), zlib(&best), zlib(nil))
	}
	zstd := func(level *int) int { return size(t, "zstd", func(cfg *Config) { cfg.ZstdLevel = level }) }
	highest := 22
	if zstd(&fast) == zstd(&highest) || zstd(nil) != zstd(&standard) || zstd(nil) != zstd(&none) {
		t.Errorf("zstd: %d bytes fast, %d highest, %d default", zstd(&fast), zstd(&highest), zstd(nil))
	}
}

// A codec is used by one connection at a time.
func TestManyConnectionsCompressAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := echoing(offering("zstd"), func(reply []byte, _ *question) []byte { return with(t, reply, wire.Zstd) })
		s := bare(t, p, func(cfg *Config) { cfg.Handshake.Compressors = []string{"zstd"} })
		found(t, s, p.hello)
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				c, err := s.CheckOut(context.Background(), nil)
				if err != nil {
					t.Error(err)
					return
				}
				defer s.CheckIn(c)
				for range 20 {
					if _, err := c.RoundTrip(context.Background(), command("ping"), 9); err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
		all.Wait()
	})
}

func TestLargeBuffersOfCompressionAreDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := echoing(offering("snappy"), func(_ []byte, q *question) []byte {
			return with(t, q.reply(bson.D{{Key: "text", Value: strings.Repeat("a", 2*largebuffer.Least)}}), wire.Snappy)
		})
		s := bare(t, p, func(cfg *Config) { cfg.Handshake.Compressors = []string{"snappy"} })
		found(t, s, p.hello)
		c := checkOut(t, s)
		random := bson.E{Key: "bytes", Value: bytes.Repeat([]byte("abcdefg"), largebuffer.Least/4)}
		if _, err := c.RoundTrip(t.Context(), command("insert", random), 9); err != nil {
			t.Fatal(err)
		}
		if cap(c.compression.in) <= largebuffer.Least || cap(c.compression.out) <= largebuffer.Least {
			t.Fatalf("the buffers have %d and %d bytes", cap(c.compression.in), cap(c.compression.out))
		}
		s.CheckIn(c)
		if c.compression.in != nil || c.compression.out != nil {
			t.Error("a large buffer was kept")
		}
	})
}

// The codec and the buffers are used again: a small message costs no allocation, except zlib's reader of bytes.
func TestACompressedRoundTripAllocatesLittle(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	for name, most := range map[string]float64{"snappy": 0, "zstd": 0, "zlib": 4} {
		by, _ := wire.CompressorNamed(name)
		c, nc := answering(t, 200)
		c.Description = &topology.Server{Address: addrA}
		c.compression = compression{codecs: newCodecs(&Config{Handshake: Handshake{Compressors: []string{name}}}), with: by}
		nc.answer = with(t, nc.answer, by)
		message := command("ping")
		if n := testing.AllocsPerRun(200, func() {
			if _, err := c.RoundTrip(context.Background(), message, 7); err != nil {
				t.Fatal(err)
			}
		}); n > most {
			t.Errorf("%s: %v allocations, want at most %v", name, n, most)
		}
	}
}

// hasty is a context that ends when it was looked at ten times.
type hasty struct {
	context.Context
	looks int
}

func (h *hasty) Err() error {
	if h.looks++; h.looks > 10 {
		return context.DeadlineExceeded
	}
	return nil
}

// The reply has come, and would become 4 MB. Its operation does not wait for that, nobody else could read it any more, and what
// was decompressed is not used for another one.
func TestAnOperationEndsWhileItsReplyIsDecompressed(t *testing.T) {
	for _, by := range []wire.Compressor{wire.Snappy, wire.Zlib, wire.Zstd} {
		synctest.Test(t, func(t *testing.T) {
			p := echoing(offering("snappy"), func(_ []byte, q *question) []byte {
				return with(t, q.reply(bson.D{{Key: "text", Value: strings.Repeat("a", 4<<20)}}), by)
			})
			s := bare(t, p, func(cfg *Config) { cfg.Handshake.Compressors = []string{"snappy"} })
			found(t, s, p.hello)
			c := checkOut(t, s)
			_, err := c.RoundTrip(&hasty{Context: context.Background()}, command("ping"), 9)
			wantIOError(t, err, retry.StageInFlight, context.DeadlineExceeded)
			if c.owed != 0 || c.Reusable() {
				t.Errorf("compressor %d: the reply to %d is owed; reusable: %v", by, c.owed, c.Reusable())
			}
			s.CheckIn(c)
			counters(t, s, 0, 0, 0)
		})
	}
}
