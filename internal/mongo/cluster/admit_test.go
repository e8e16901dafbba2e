package cluster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

// A reply needs permission if it is large, or becomes that when it is decompressed. Without permission its connection is closed.
func TestALargeReplyNeedsPermission(t *testing.T) {
	for _, c := range []struct {
		text  int
		by    wire.Compressor
		asked []int // the sizes, without what is around the text
	}{
		{LargeReply / 2, wire.NoCompressor, nil},
		{LargeReply, wire.NoCompressor, []int{LargeReply}},
		{LargeReply / 2, wire.Zlib, nil},
		{100 * LargeReply, wire.Zlib, []int{100 * LargeReply}},
	} {
		for _, refused := range []bool{false, true} {
			t.Run(fmt.Sprint(c.text, c.by, refused), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					p := &peer{hello: offering("zlib"), script: func(q *question) bool {
						if !q.handshake {
							reply := q.reply(bson.D{{Key: "ok", Value: 1}, {Key: "text", Value: strings.Repeat("x", c.text)}})
							q.conn.Write(with(t, reply, c.by))
						}
						return !q.handshake
					}}
					s := bare(t, p, func(cfg *Config) { cfg.Handshake.Compressors = []string{"zlib"} })
					found(t, s, p.hello)
					conn := checkOut(t, s)
					var asked []int
					conn.Admit = func(_ context.Context, length int) error {
						asked = append(asked, length/1000*1000)
						if refused {
							return ErrNoRoom
						}
						return nil
					}
					reply, err := conn.RoundTrip(t.Context(), command("ping"), 9)
					var want []int
					for _, n := range c.asked {
						want = append(want, n/1000*1000)
					}
					if !slices.Equal(asked, want) {
						t.Errorf("it asks for %v, want %v", asked, want)
					}
					ends := refused && want != nil
					if errors.Is(err, ErrNoRoom) != ends || (err == nil) != (len(reply) > c.text) || conn.Reusable() == ends {
						t.Errorf("%d bytes, %v; the connection can be used again: %v", len(reply), err, conn.Reusable())
					}
					conn.Admit = nil // the next user of the connection takes any reply
					if _, err := conn.RoundTrip(t.Context(), command("ping"), 9); err != nil && !ends {
						t.Errorf("the next round trip: %v", err)
					}
					s.CheckIn(conn)
				})
			})
		}
	}
}

// Nobody reads a large reply whose operation has ended: its connection is closed.
func TestALargeReplyThatIsOwedIsNotRead(t *testing.T) {
	for _, begun := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			p := &peer{hello: standalone()}
			c, s := connected(t, p)
			p.set(func(p *peer) {
				p.script = func(q *question) bool {
					go func() {
						reply := q.reply(bson.D{{Key: "ok", Value: 1}, {Key: "text", Value: strings.Repeat("x", 4*LargeReply)}})
						if begun {
							q.conn.Write(reply[:2*LargeReply])
							reply = reply[2*LargeReply:]
						}
						sleep(t.Context(), time.Second, nil)
						q.conn.Write(reply)
					}()
					return true
				}
			})
			c.Admit = func(context.Context, int) error { return nil }
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
			defer cancel()
			if err := ping(ctx, c); !errors.Is(err, context.DeadlineExceeded) {
				t.Fatal(err)
			}
			s.CheckIn(c)
			pass(t, 1100*time.Millisecond)
			counters(t, s, 0, 0, 0)
		})
	}
}
