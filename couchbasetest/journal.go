package couchbasetest

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/holdfast-db/holdfast/couchbasetest/internal/store"
	"github.com/holdfast-db/holdfast/internal/base/testserver"
)

// Entry is the journal's record of one request that could change a document.
type Entry struct {
	Seq        int64 // position in the journal, from 1
	Time       time.Time
	Node       int
	ConnID     int64
	Opaque     uint32
	Opcode     Opcode
	Bucket     string
	VBucket    uint16
	Collection uint32
	Key        string
	Value      []byte // as it was sent: perhaps compressed. It must not be changed.
	Durable    bool

	Applied     bool   // the document was changed; of a durable write, after enough copies had it
	Order       int64  // place among the changes of all documents, from 1; of a durable write, that of its commit; 0: none was made
	CAS         uint64 // that it got
	VBucketUUID uint64 // with Seqno, its place in the history
	Seqno       uint64
	Lost        bool // it was applied, and a failover or the end of a process undid that
	RequestLost bool // a fault kept it from being executed
	ReplyLost   bool // the reply was not sent, or not whole
	Status      Status
}

// String returns the entry on one line.
func (e *Entry) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "#%d %s n%d conn %d opaque %x %v %s/%x/%q vb %d", e.Seq, e.Time.Format("15:04:05.000000"), e.Node, e.ConnID, e.Opaque, e.Opcode,
		e.Bucket, e.Collection, e.Key, e.VBucket)
	for _, f := range []struct {
		set  bool
		name string
	}{{e.Durable, "durable"}, {e.Applied, "applied"}, {e.Lost, "lost"}, {e.RequestLost, "request-lost"}, {e.ReplyLost, "reply-lost"}} {
		if f.set {
			b.WriteString(" " + f.name)
		}
	}
	if e.Status != 0 {
		fmt.Fprintf(&b, " status %v", e.Status)
	}
	return b.String()
}

// journal keeps the newest entries. Its mutex also guards the fields of the entries in it.
type journal struct {
	mu      sync.Mutex
	limit   int
	seq     int64
	changes int64
	entries []*Entry
}

// note begins the entry of a request that can change a document.
func (x *exec) note() {
	if x.command == nil || !x.command.write {
		return
	}
	e := &Entry{
		Time: x.start, Node: x.node.index, ConnID: x.conn.id, Opaque: x.p.Opaque, Opcode: x.p.Opcode, VBucket: x.p.VBucket,
		Value: append([]byte(nil), x.p.Value...), Durable: x.frames.durable, RequestLost: true,
	}
	if b := x.conn.bucket; b != nil {
		e.Bucket = b.Name
	}
	e.Collection, e.Key = x.documentKey()
	x.entry = e
	j := &x.cluster.journal
	j.mu.Lock()
	defer j.mu.Unlock()
	j.seq++
	e.Seq = j.seq
	j.entries = append(j.entries, e)
	if len(j.entries) > j.limit+j.limit/4+64 {
		j.entries = append(make([]*Entry, 0, j.limit+j.limit/4+128), j.entries[len(j.entries)-j.limit:]...)
	}
}

// mark changes entries that are already in the journal.
func (j *journal) mark(change func()) {
	j.mu.Lock()
	defer j.mu.Unlock()
	change()
}

// noteApplied records the place of the request's write in the history of its vbucket.
func (x *exec) noteApplied(cas, seqno uint64) {
	j := &x.cluster.journal
	j.mark(func() {
		x.entry.CAS, x.entry.VBucketUUID, x.entry.Seqno = cas, x.copy.UUID, seqno
		if !x.frames.durable {
			j.applied(x.entry)
		}
	})
}

// applied records that a document was changed. A durable write that a failover makes uncertain, and that is committed again, keeps its
// place. The journal's mutex is held.
func (j *journal) applied(e *Entry) {
	if !e.Applied {
		j.changes++
		e.Applied, e.Order = true, j.changes
	}
}

// finish records what became of a request.
func (j *journal) finish(e *Entry, reply *Reply, err error) {
	if e == nil {
		return
	}
	j.mark(func() {
		e.ReplyLost = reply == nil || reply.Lost || err != nil && !reply.Close
		if reply != nil {
			e.Status = reply.Status
		}
	})
}

// keep records what a vbucket has of its changes after a failover or the end of a process: those that the copy, which is nil if there is
// none, does not have are lost. A change that a dead node had lost is there again if a replica that has it takes over.
func (j *journal) keep(bucket string, vb uint16, v *store.VBucket) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, e := range j.entries {
		if e.Bucket == bucket && e.VBucket == vb && e.Applied {
			e.Lost = v == nil || !v.Has(e.VBucketUUID, e.Seqno)
		}
	}
}

// prepared returns the entry of a durable write that waits for its copies, nil if the journal has it no longer.
func (j *journal) prepared(bucket string, vb uint16, p *store.Prepare) *Entry {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, e := range slices.Backward(j.entries) {
		if e.Bucket == bucket && e.VBucket == vb && e.Durable && e.CAS == p.Document.CAS && e.Key == p.Key.Name && e.Collection == p.Key.Collection {
			return e
		}
	}
	return nil
}

// Journal returns copies of the journal's entries, the oldest first: one for each request that could change a document.
func (c *Cluster) Journal() []Entry {
	j := &c.journal
	j.mu.Lock()
	defer j.mu.Unlock()
	from := max(0, len(j.entries)-j.limit)
	list := make([]Entry, 0, len(j.entries)-from)
	for _, e := range j.entries[from:] {
		list = append(list, *e)
	}
	return list
}

// Applied returns how often requests with an opcode changed the document of a key, those that were lost again included.
func (c *Cluster) Applied(op Opcode, key string) int {
	n := 0
	for _, e := range c.Journal() {
		if e.Applied && e.Opcode == op && e.Key == key {
			n++
		}
	}
	return n
}

// Counters are what the nodes have counted since the cluster began to run.
type Counters struct {
	// Requests are those received, by opcode.
	Requests map[Opcode]int64
	// Opened are the connections that were accepted, and Current those that are open.
	Opened, Current int64
}

// Counters returns what the given nodes have counted, all together if none is given. Opened is always of all nodes.
func (c *Cluster) Counters(nodes ...int) Counters {
	c.mu.Lock()
	defer c.mu.Unlock()
	total := Counters{Requests: make(map[Opcode]int64), Opened: c.conns}
	list := c.nodes
	if len(nodes) > 0 {
		list = nil
		for _, i := range nodes {
			list = append(list, c.nodeLocked("Counters", i))
		}
	}
	for _, n := range list {
		for op := range n.received {
			if count := n.received[op].Load(); count > 0 {
				total.Requests[Opcode(op)] += count
			}
		}
		total.Current += int64(len(n.conns))
	}
	return total
}

// Dump returns, as text, the journal's newest 2,000 entries with one line for each, the nodes' states and counters, and the version
// of each map.
func (c *Cluster) Dump() string {
	var b strings.Builder
	testserver.DumpEntries(&b, c.Journal())
	c.mu.Lock()
	nodes := len(c.nodes)
	c.mu.Unlock()
	for i := range nodes {
		n := c.Counters(i)
		fmt.Fprintf(&b, "node %d received %v; %d connections are open\n", i, n.Requests, n.Current)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, n := range c.nodes {
		fmt.Fprintf(&b, "node %d %s: member %t, up %t, paused %t, black hole %t, isolated %t\n", n.index, n.addressOf("kv"), n.member, n.up, n.paused,
			n.blackHoled, n.isolated)
	}
	for name, bucket := range c.buckets {
		fmt.Fprintf(&b, "bucket %s: map %v, nodes %v\n", name, bucket.version, bucket.members)
	}
	return b.String()
}
