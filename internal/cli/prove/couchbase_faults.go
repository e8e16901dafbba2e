package prove

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/holdfast-db/holdfast/couchbasetest"
	"github.com/holdfast-db/holdfast/internal/base/pause"
	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
)

var errNoOwner = errors.New("the document's vbucket has no node")

// strike injects a fault of the node that has a document, or of the document.
func (s *couchbaseSite) strike(f *planned, document string) (repair func() error, err error) {
	node := s.Owners(bucketName, document)[0]
	if node < 0 {
		return nil, errNoOwner
	}
	switch f.kind { //nolint:exhaustive // these are the faults of the cluster
	case Rebalanced:
		return s.rebalance(node, document)
	case FailedOver:
		return s.failOver(node, f.moment)
	case BlackHoled:
		s.BlackHole(node)
		s.passes(s.settings.Timing.BlackHole, func() { s.Heal(node) })
		return nil, nil
	case DocumentLocked:
		return nil, s.lock(document)
	}
	return nil, fmt.Errorf("%s is not a fault of the cluster", f.kind)
}

// rebalance adds a new node that is to replace one, and moves vbuckets until that of the document has moved. The repair moves the others,
// and the old node leaves soon after that, as in a real rebalance.
func (s *couchbaseSite) rebalance(node int, document string) (repair func() error, err error) {
	added, err := s.AddNode()
	if err != nil {
		return nil, err
	}
	r, err := s.StartRebalance(node)
	if err != nil {
		return nil, err
	}
	s.awaitClients(added)
	stays := 4 * s.settings.Timing.Pause // requests that are on their way to the node are answered, on a slow machine too
	return s.moveAway(r, node, document, stays), nil
}

// moveAway moves vbuckets of a node until that of the document has moved. The repair moves the others; the node stays for a while after that.
func (s *couchbaseSite) moveAway(r *couchbasetest.Rebalance, node int, document string, stays time.Duration) (repair func() error) {
	for s.Owners(bucketName, document)[0] == node && r.Move() {
	}
	return func() error {
		for r.Move() {
		}
		_ = pause.For(context.Background(), stays)
		r.Finish()
		return nil
	}
}

// awaitClients waits until the clients have connected to a node: the moves of a real rebalance take longer than that.
func (s *couchbaseSite) awaitClients(node int) {
	began, clients := time.Now(), s.settings.Size.Writers+1 // with the experiment's own
	for int(s.Counters(node).Requests[memd.OpSelectBucket]) < clients && time.Since(began) < s.settings.Timing.KeyValue/2 {
		_ = pause.For(context.Background(), s.settings.Latency)
	}
	_ = pause.For(context.Background(), 2*s.settings.Latency) // the answers of the handshakes
}

// failOver takes a node out at once. What its replicas do not have is lost. The repair brings it back.
func (s *couchbaseSite) failOver(node int, when moment) (repair func() error, err error) {
	if when == afterReplication {
		_ = pause.For(context.Background(), 2*s.settings.ReplicationDelay)
	}
	if err := s.Failover(node); err != nil {
		return nil, err
	}
	s.Kill(node)
	return func() error {
		s.Restart(node)
		return errors.Join(s.AddBack(node), s.Rebalance())
	}, nil
}

// lock locks a document with the experiment's own client. A document that does not exist yet cannot be locked.
func (s *couchbaseSite) lock(document string) error {
	found, err := s.control.docs.GetAndLock(document, time.Second, nil)
	if err != nil {
		return err
	}
	s.passes(s.settings.Timing.Lock, func() {
		_ = s.control.docs.Unlock(document, found.Cas(), nil) // otherwise the lock ends a second after its begin
	})
	return nil
}

// passes ends a fault after a time. Until then awaitWritable waits.
func (s *couchbaseSite) passes(after time.Duration, end func()) {
	passing := make(chan struct{})
	s.mu.Lock()
	s.passing = passing
	s.mu.Unlock()
	time.AfterFunc(after, func() {
		defer close(passing)
		end()
	})
}
