package growth

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

// server plays all members of all topologies on one port. It understands what the measurements send and stores nothing.
type server struct {
	mu      sync.Mutex
	streams map[topology]*stream
	out     io.Writer
}

// stream is the stream of hellos of a topology's near member.
type stream struct {
	order chan int       // how many hellos it is to have
	known sync.WaitGroup // the members of which the client does not know anything yet
}

// serve writes its address to out, and serves until in ends. A line "hellos MEMBERS SET N" makes the near member of a topology
// stream N hellos, once the client knows all members. When it has processed them and asks for more, serve writes a line.
func serve(in io.Reader, out io.Writer) error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	s := &server{streams: make(map[topology]*stream), out: out}
	if _, err := fmt.Fprintln(out, l.Addr()); err != nil {
		return err
	}
	go s.accept(l)
	for lines := bufio.NewScanner(in); lines.Scan(); {
		var t topology
		var n int
		if _, err := fmt.Sscanf(lines.Text(), "hellos %d %t %d", &t.members, &t.set, &n); err != nil {
			return err
		}
		s.stream(t).known.Wait()
		s.stream(t).order <- n
	}
	return nil
}

func (s *server) stream(t topology) *stream {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.streams[t] == nil {
		s.streams[t] = &stream{order: make(chan int)}
		s.streams[t].known.Add(t.members)
	}
	return s.streams[t]
}

func (s *server) accept(l net.Listener) {
	for {
		nc, err := l.Accept()
		if err != nil {
			return
		}
		go func() {
			defer func() { _ = nc.Close() }()
			in := bufio.NewReader(nc)
			m, err := readMember(in)
			for c := (&conn{server: s, member: m, in: in, out: nc}); err == nil; {
				err = c.answer()
			}
		}()
	}
}

// conn is one connection of the server.
type conn struct {
	server  *server
	member  member
	in      io.Reader
	out     io.Writer
	request []byte
	counter int64 // of the last hello's topologyVersion
	cursor  cursor
}

// answer reads one request and answers it.
func (c *conn) answer() error {
	var head [wire.HeaderLength]byte
	if _, err := io.ReadFull(c.in, head[:]); err != nil {
		return err
	}
	length := int(binary.LittleEndian.Uint32(head[:]))
	if length > cap(c.request) {
		c.request = make([]byte, length)
	}
	c.request = c.request[:length]
	copy(c.request, head[:])
	if _, err := io.ReadFull(c.in, c.request[len(head):]); err != nil {
		return err
	}
	id := int32(binary.LittleEndian.Uint32(head[4:]))
	if int32(binary.LittleEndian.Uint32(head[12:])) == wire.OpQuery {
		return c.send(wire.AppendReply(nil, 1, id, c.handshake()))
	}
	body := c.body()
	if name := body.Index(0).Key(); name == "hello" || name == "isMaster" || name == "ismaster" {
		if body.Lookup("topologyVersion").Type != 0 {
			return c.streamHellos(id)
		}
		return c.send(message(id, 0, 0, c.handshake()))
	}
	return c.send(c.reply(id, body))
}

func (c *conn) send(b []byte) error {
	_, err := c.out.Write(b)
	return err
}

// bodyStart is where the first section of an OP_MSG has its document.
const bodyStart = wire.HeaderLength + 4 + 1 // flags, kind

func (c *conn) body() bson.Raw {
	return bson.Raw(c.request[bodyStart : bodyStart+binary.LittleEndian.Uint32(c.request[bodyStart:])])
}

// message returns an OP_MSG.
func message(answers, id int32, flags wire.MsgFlags, body []byte) []byte {
	at, b := wire.BeginMsg(nil, id, answers, flags)
	return wire.EndMessage(append(b, body...), at)
}

// handshake returns a hello, after the time that a member far away takes.
func (c *conn) handshake() []byte {
	if !c.member.near() {
		<-time.After(farAway)
	}
	return c.member.hello(c.counter)
}

// streamHellos waits for an order, and streams so many hellos. The next awaitable hello says that they were processed; the first
// one, that the client knows the member.
func (c *conn) streamHellos(id int32) error {
	if c.counter > 0 {
		if _, err := fmt.Fprintln(c.server.out, "processed"); err != nil {
			return err
		}
	} else if c.member.topology.members > 1 {
		c.server.stream(c.member.topology).known.Done()
	}
	if !c.member.near() {
		select {} // its stream has no hello
	}
	n := <-c.server.stream(c.member.topology).order
	out := bufio.NewWriterSize(c.out, 64<<10)
	for i := range n {
		flags := wire.MoreToCome
		if i == n-1 {
			flags = 0
		}
		c.counter++
		if _, err := out.Write(message(id, id+1, flags, c.member.hello(c.counter))); err != nil {
			return err
		}
		id++
	}
	return out.Flush()
}
