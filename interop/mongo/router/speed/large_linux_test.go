package speed

import (
	"encoding/binary"
	"fmt"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/holdfast-db/holdfast/interop/internal/canned"
)

// fetch fetches a large reply n times on each of some connections, and returns the time of one.
func (s *subject) fetch(t *testing.T, connections, n int) time.Duration {
	t.Helper()
	began := time.Now()
	var all sync.WaitGroup
	for _, c := range s.conns[:connections] {
		all.Go(func() { fetch(t, c, n) })
	}
	all.Wait()
	return time.Since(began) / time.Duration(n*connections)
}

func fetch(t *testing.T, c net.Conn, n int) {
	request, reply := canned.BatchRequest(canned.LargeBatch), make([]byte, 17<<20)
	for i := range n {
		binary.LittleEndian.PutUint32(request[4:], uint32(i+1))
		if _, err := c.Write(request); err != nil {
			t.Error(err)
			return
		}
		var err error
		if reply, err = readMessage(c, reply); err != nil {
			t.Error(err)
			return
		}
		if to := binary.LittleEndian.Uint32(reply[8:]); to != uint32(i+1) || len(reply) < 16<<20 {
			t.Errorf("the reply is to %d, with %d bytes; the find was %d", to, len(reply), i+1)
			return
		}
	}
}

// All processes share a processor, so that what they do for a reply is compared. On two it decides which of them run beside each other.
func TestFigureOfLargeReplies(t *testing.T) {
	const connections = 4
	onOneProcessor(t)
	var ratios []float64
	for copier, router := range pairs(t, manyPairs, startCanned(t).Plain, "copy", "router") {
		copier.fetch(t, connections, 2) // the server makes the reply, once for each connection
		router.fetch(t, connections, 2)
		c, r := copier.fetch(t, connections, inFull(10)), router.fetch(t, connections, inFull(10))
		ratios = append(ratios, float64(c)/float64(r))
		t.Logf("a reply of 16 MB: io.Copy %v, router %v", c, r)
	}
	fmt.Printf("figure router-large-replies-vs-copy %.2f\n", median(ratios))
}
