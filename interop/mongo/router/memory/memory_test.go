// Package memory measures how much memory the program holdfast router takes at most when clients send more than it can hold, or take nothing of
// what it sends.
package memory

import (
	"encoding/binary"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/interop/internal/holdfastprocess"
	"github.com/holdfast-db/holdfast/mongotest"
)

var clients = flag.Int("clients", 40, "clients of each kind")

const (
	size     = 16_000_000 // of a large document
	mostPeak = 512        // MiB
)

// program is a router that runs.
type program struct {
	address string
	pid     int
}

var (
	listens = regexp.MustCompile(`Waiting for clients at mongodb://([^/]+)/`)
	ready   = regexp.MustCompile(` Ready: `)
)

func startRouter(t *testing.T, upstream string) *program {
	t.Helper()
	p := holdfastprocess.Build(t, "../../../..").Start(t, "router", "--upstream", upstream, "--listen", "127.0.0.1:0", "--quiesce", "1ms")
	address := p.Await(listens)[1]
	p.Await(ready)
	return &program{address, p.PID()}
}

// peak returns the MiB of memory that the program has had at most.
func (p *program) peak(t *testing.T) int {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.pid))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if rest, found := strings.CutPrefix(line, "VmHWM:"); found {
			kib, err := strconv.Atoi(strings.Fields(rest)[0])
			if err != nil {
				t.Fatal(err)
			}
			return kib >> 10
		}
	}
	t.Fatal("the system does not say how much memory the program has had")
	return 0
}

func message(t *testing.T, command bson.D) []byte {
	t.Helper()
	body, err := bson.Marshal(append(command, bson.E{Key: "$db", Value: "app"}))
	if err != nil {
		t.Fatal(err)
	}
	at, b := wire.BeginMsg(nil, 1, 0, 0)
	return wire.EndMessage(append(b, body...), at)
}

func find(t *testing.T, collection string) []byte {
	return message(t, bson.D{{Key: "find", Value: collection}, {Key: "limit", Value: 1}})
}

// ask sends a message and returns the code in the reply, 0 for none.
func ask(conn net.Conn, message []byte) (int64, error) {
	if _, err := conn.Write(message); err != nil {
		return 0, err
	}
	head := make([]byte, wire.HeaderLength)
	if _, err := io.ReadFull(conn, head); err != nil {
		return 0, err
	}
	rest := make([]byte, binary.LittleEndian.Uint32(head)-wire.HeaderLength)
	if _, err := io.ReadFull(conn, rest); err != nil {
		return 0, err
	}
	m, err := wire.ParseMsg(append(head, rest...))
	code, _ := bson.Raw(m.Body).Lookup("code").AsInt64OK()
	return code, err
}

func (p *program) dial(t *testing.T) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", p.address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if err := conn.(*net.TCPConn).SetWriteBuffer(64 << 10); err != nil { // a thousand large ones use up what the system has for all sockets
		t.Fatal(err)
	}
	return conn
}

// Clients that send 16 MB at the same time wait for one another, or are refused. Clients that ask for 16 MB and take nothing are disconnected. Beside
// them a client that asks for little is served, and afterwards nothing is left of them.
func TestFigureOfTheMemory(t *testing.T) {
	set := mongotest.RunReplicaSetT(t, 1, mongotest.JournalLimit(100))
	set.Use("insert", func(r *mongotest.Request, next mongotest.Handler) *mongotest.Reply {
		if r.Body.Lookup("insert").StringValue() == "large" {
			return mongotest.NewReply(bson.D{{Key: "ok", Value: 1}, {Key: "n", Value: 1}})
		}
		return next(r)
	})
	p := startRouter(t, set.URI()+"&maxPoolSize=20")
	insert := func(collection string, size int) []byte {
		documents := bson.A{bson.D{{Key: "text", Value: strings.Repeat("x", size)}}}
		return message(t, bson.D{{Key: "insert", Value: collection}, {Key: "documents", Value: documents}})
	}
	honest := p.dial(t)
	for collection, size := range map[string]int{"little": 10, "much": size} {
		if code, err := ask(honest, insert(collection, size)); code != 0 || err != nil {
			t.Fatal(code, err)
		}
	}
	var longest time.Duration
	beside := func(run func()) {
		ended := make(chan struct{})
		go func() { defer close(ended); run() }()
		for running := true; running; {
			began := time.Now()
			if code, err := ask(honest, find(t, "little")); code != 0 || err != nil {
				t.Errorf("a client beside them: %d, %v", code, err)
			}
			longest = max(longest, time.Since(began))
			select {
			case <-ended:
				running = false
			case <-time.After(100 * time.Millisecond):
			}
		}
	}
	large := insert("large", size)
	var done, refused atomic.Int64
	beside(func() {
		var all sync.WaitGroup
		for range *clients {
			conn := p.dial(t)
			all.Go(func() {
				defer conn.Close()
				switch code, err := ask(conn, large); {
				case err != nil:
					t.Error(err)
				case code == 462:
					refused.Add(1)
				case code == 0:
					done.Add(1)
				default:
					t.Errorf("an insert is answered with the code %d", code)
				}
			})
		}
		all.Wait()
	})
	t.Logf("%d inserts of 16 MB are done, %d refused; peak %d MiB", done.Load(), refused.Load(), p.peak(t))
	ask16, reader := find(t, "much"), p.dial(t)
	beside(func() {
		for range *clients {
			if _, err := p.dial(t).Write(ask16); err != nil {
				t.Error(err)
			}
		}
		for code := int64(-1); code != 0; {
			var err error
			if code, err = ask(reader, ask16); err != nil {
				t.Error(err)
				return
			}
		}
	})
	peak := p.peak(t)
	t.Logf("a small find beside them took %v at most", longest)
	fmt.Printf("figure router-memory-peak-mib %d\n", peak)
	if peak > mostPeak || done.Load()+refused.Load() != int64(*clients) {
		t.Errorf("the peak is %d MiB; %d inserts are done and %d refused of %d", peak, done.Load(), refused.Load(), *clients)
	}
}
