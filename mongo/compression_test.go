package mongo_test

import (
	"context"
	"encoding/binary"
	"net"
	"strings"
	"sync"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/mongotest"
)

// counting is a dialer that counts the compressed messages in both directions, by the id of their compressor. Only whole
// messages are read and written: that is so on a network in memory with small messages.
type counting struct {
	options.ContextDialer
	mu             sync.Mutex
	sent, received map[byte]int
}

func (c *counting) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := c.ContextDialer.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	return &countedConn{conn, c}, nil
}

type countedConn struct {
	net.Conn
	counting *counting
}

func (c *countedConn) Write(b []byte) (int, error) {
	c.counting.count(c.counting.sent, b)
	return c.Conn.Write(b)
}

func (c *countedConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.counting.count(c.counting.received, b[:n])
	return n, err
}

func (c *counting) count(in map[byte]int, message []byte) {
	const opCode, compressor, compressed = 12, 24, 2012
	if len(message) > compressor && binary.LittleEndian.Uint32(message[opCode:]) == compressed {
		c.mu.Lock()
		defer c.mu.Unlock()
		in[message[compressor]]++
	}
}

func TestCompressorsAreNegotiated(t *testing.T) {
	for _, c := range []struct {
		name   string
		option string
		server []string
		want   byte // 0: none
	}{
		{"snappy", "compressors=snappy", []string{"snappy", "zstd", "zlib"}, 1},
		{"zlib with a level", "compressors=zlib&zlibCompressionLevel=9", []string{"snappy", "zstd", "zlib"}, 2},
		{"zstd with a level", "compressors=zstd&zstdCompressionLevel=19", []string{"snappy", "zstd", "zlib"}, 3},
		{"the first of the client that the server has", "compressors=zstd,zlib,snappy", []string{"snappy", "zlib"}, 2},
		{"an unknown compressor is left out", "compressors=snoopy,zlib", []string{"snappy", "zlib"}, 2},
		{"only an unknown compressor", "compressors=snoopy", []string{"snappy", "zlib"}, 0},
		{"an empty name", "compressors=", []string{"snappy", "zlib"}, 0},
		{"nothing in common", "compressors=zstd", []string{"zlib"}, 0},
		{"none is the default", "", []string{"zlib"}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			dialer := &counting{sent: map[byte]int{}, received: map[byte]int{}}
			in(t, func(o *options.ClientOptions) {
				dialer.ContextDialer = o.Dialer
				o.ApplyURI(o.GetURI() + "&" + c.option).SetDialer(dialer)
			}, func(w *world) {
				w.must(w.insertText(1, strings.Repeat("holdfast ", 1000)))
				var got bson.M
				w.must(w.coll.FindOne(w.ctx, d{{Key: "_id", Value: 1}}).Decode(&got))
				if got["text"] != strings.Repeat("holdfast ", 1000) {
					t.Errorf("the document is %v", got)
				}
				for _, hello := range w.hellos() {
					if strings.Contains(hello, "snoopy") {
						t.Errorf("the hello offers an unknown compressor: %s", hello)
					}
				}
			}, mongotest.Compressors(c.server...), mongotest.TranscriptLimit(1000))
			for compressor := byte(1); compressor <= 3; compressor++ {
				sent, received := dialer.sent[compressor], dialer.received[compressor]
				if compressor == c.want && (sent < 2 || received < 2) || compressor != c.want && sent+received > 0 {
					t.Errorf("compressor %d: %d messages were sent, %d received; %d is negotiated", compressor, sent, received, c.want)
				}
			}
		})
	}
}

func (w *world) insertText(id int, text string) error {
	_, err := w.coll.InsertOne(w.ctx, doc("_id", id, "text", text))
	return err
}

// hellos returns the hellos that the deployment received, as JSON.
func (w *world) hellos() []string {
	var out []string
	for _, m := range w.set.Transcript() {
		if elements, err := m.Body.Elements(); err == nil && !m.Reply && len(elements) > 0 {
			if name := elements[0].Key(); name == "isMaster" || name == "hello" {
				out = append(out, m.Body.String())
			}
		}
	}
	if len(out) == 0 {
		w.Fatal("no hello was received")
	}
	return out
}
