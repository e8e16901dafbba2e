package couchbasefault

import (
	"slices"

	"github.com/holdfast-db/holdfast/couchbasetest"
)

// kill ends the process of the node, and restarts it after the outage.
func (s *Strike) kill() {
	s.Cluster.Kill(s.Node)
	s.Later(s.Outage, func() { s.Cluster.Restart(s.Node) })
}

// pause stops the process of the node, and returns after the outage, when it gets on.
func (s *Strike) pause() {
	s.Cluster.Pause(s.Node)
	s.Later(s.Outage, func() { s.Cluster.Resume(s.Node) })
	s.Wait(s.Outage)
}

func (s *Strike) blackHole() {
	s.Cluster.BlackHole(s.Node)
	s.Later(s.Outage, func() { s.Cluster.Heal(s.Node) })
}

func (s *Strike) isolate() {
	s.Cluster.Isolate(s.Node)
	s.Later(s.Outage, func() { s.Cluster.Heal(s.Node) })
}

// failOver takes the node out of the cluster, and adds it back after the outage. It does not happen if no replica could take over.
func (s *Strike) failOver() {
	if s.happening.Missed = s.alone() || s.Cluster.Failover(s.Node) != nil; s.happening.Missed {
		return
	}
	s.site.unbalanced.Store(true)
	s.Later(s.Outage, func() {
		s.site.addBack(s.Node)
		s.site.rebalance()
	})
}

// alone reports whether no other node has the document of the message.
func (s *Strike) alone() bool {
	if !s.Message.Document {
		return false
	}
	for _, node := range s.owners() {
		if node >= 0 && node != s.Node {
			return false
		}
	}
	return true
}

// move begins a rebalance that replaces this node by a new one, and goes on until the document has moved. The rest moves after the
// outage.
func (s *Strike) move() {
	s.happening.Missed = true
	if !s.owns() {
		return
	}
	if _, err := s.Cluster.AddNode(); err != nil {
		return
	}
	rebalance, err := s.Cluster.StartRebalance(s.Node)
	if err != nil {
		return
	}
	s.site.unbalanced.Store(true)
	s.Later(s.Outage, rebalance.Finish)
	for s.owns() && rebalance.Move() {
	}
	s.happening.Missed = s.owns()
}

// owns reports whether the node has the active copy of the document.
func (s *Strike) owns() bool {
	owners := s.owners()
	return len(owners) > 0 && owners[0] == s.Node
}

// owners returns the nodes with the document, none if its bucket has been dropped.
func (s *Strike) owners() []int {
	if !slices.ContainsFunc(s.Cluster.State().Buckets, func(b couchbasetest.Bucket) bool { return b.Name == s.Bucket }) {
		return nil
	}
	return s.Cluster.Owners(s.Bucket, s.Key)
}
