package couchbasetest

import (
	"fmt"
	"net"
	"slices"
	"testing"
	"time"

	"github.com/holdfast-db/holdfast/couchbasetest"
	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
)

// TestStartWriteAndStop measures what a test pays for its cluster: start three nodes on TCP, log in to each and write a document
// to it on a raw connection, stop them.
func TestStartWriteAndStop(t *testing.T) {
	times := make([]time.Duration, 0, 20)
	for range cap(times) {
		began := time.Now()
		c, err := couchbasetest.Run(couchbasetest.Nodes(3))
		must(t, "Run", err, nil)
		for node := range 3 {
			writeTo(t, c, node)
		}
		must(t, "Close", c.Close(), nil)
		times = append(times, time.Since(began))
	}
	slices.Sort(times)
	median := times[len(times)/2]
	fmt.Printf("figure cb-mock-start-ms %.2f\n", median.Seconds()*1000)
	if limit := 30 * time.Millisecond; times[0] > limit && !raceEnabled { // three times the figure's bar: the machine may be busy
		t.Errorf("the fastest took %v, want at most %v", times[0], limit)
	}
}

// writeTo writes a document that a node owns, and reads the acknowledgement.
func writeTo(t *testing.T, c *couchbasetest.Cluster, node int) {
	t.Helper()
	key := ""
	for i := 0; key == ""; i++ {
		if k := fmt.Sprint("k", i); c.Owners("default", k)[0] == node {
			key = k
		}
	}
	conn, err := net.Dial("tcp", c.Address(node, "kv"))
	must(t, "Dial", err, nil)
	defer conn.Close()
	var batch []byte
	for _, p := range []memd.Packet{
		{Opcode: memd.OpSASLAuth, Key: []byte("PLAIN"), Value: []byte("\x00" + c.Username() + "\x00" + c.Password())},
		{Opcode: memd.OpSelectBucket, Key: []byte("default")},
		{Opcode: memd.OpSet, VBucket: memd.VBucket([]byte(key), 128), Key: []byte(key), Extras: memd.AppendStore(nil, 0, 0), Value: []byte("1")},
	} {
		p.Magic = memd.MagicRequest
		batch, err = p.Append(batch)
		must(t, "Append", err, nil)
	}
	_, err = conn.Write(batch)
	must(t, "Write", err, nil)
	for range 3 {
		b, err := memd.Read(conn, nil)
		must(t, "Read", err, nil)
		p, err := memd.Parse(b)
		must(t, "Parse", err, nil)
		if p.Status != memd.StatusSuccess {
			t.Fatalf("%v was answered with %v", p.Opcode, p.Status)
		}
	}
}
