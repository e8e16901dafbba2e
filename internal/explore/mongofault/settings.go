// Package mongofault is what an exploration of a MongoDB program needs: the failures, and the servers of one run, which do the failures
// of its case.
//
// Begin with site.go. Then settings.go, failure.go, list.go, injector.go, story.go.
package mongofault

import (
	"time"

	"github.com/holdfast-db/holdfast/internal/explore"
	"github.com/holdfast-db/holdfast/internal/explore/site"
	"github.com/holdfast-db/holdfast/mongotest"
)

// Settings are the servers of each run, and the failures.
type Settings struct {
	// Members is the number of members of the replica set; 0 means a standalone. Mongos, if it is not 0, makes a sharded cluster of it.
	Members, Mongos int
	// InMemory is whether the servers run in memory and not on sockets. An election, an outage and a silence take as long then as with real
	// servers, because the fake clock of testing/synctest waits in no time.
	InMemory bool
	// Quick makes these times short also in memory: for the real clock, and a client whose heartbeat and timeouts are short too.
	Quick bool
	// Server are further options of the servers.
	Server   []mongotest.Option
	Failures site.Failures[Strike, mongotest.Middleware]
}

// Check returns an error if the settings cannot be explored.
func (s *Settings) Check() error {
	return s.Failures.Check(s.Members > 1)
}

// Kinds are the failures that these servers can have, for the plan.
func (s *Settings) Kinds() []explore.Failure { return s.Failures.Kinds(s.Members > 1) }

// pace is how long things take.
type pace struct {
	election time.Duration // without a primary, until there is another
	outage   time.Duration // that a member is dead or cut off
	settle   time.Duration // after all failures have ended: until each client has asked each member again, every ten seconds
	silence  time.Duration // until a connection on which nothing comes is closed, as TCP does in the end
}

// pace returns short times for the real clock, and those of real servers for the fake one.
func (s *Settings) pace() pace {
	switch {
	case s.InMemory && s.Quick: // such a client notices an outage before it ends
		return pace{election: 200 * time.Millisecond, outage: 3 * time.Second, silence: time.Second}
	case s.InMemory:
		return pace{election: 10 * time.Second, outage: time.Minute, settle: 11 * time.Second, silence: 5 * time.Minute}
	}
	return pace{election: 200 * time.Millisecond, outage: time.Second, silence: time.Second}
}

func (s *Settings) run() (*mongotest.Deployment, error) {
	opts := []mongotest.Option{mongotest.ElectionTimeout(s.pace().election)}
	if s.InMemory {
		opts = append(opts, mongotest.InMemory())
	}
	opts = append(opts, s.Server...)
	switch {
	case s.Mongos > 0:
		return mongotest.RunSharded(max(1, s.Members), s.Mongos, opts...)
	case s.Members == 0:
		return mongotest.RunStandalone(opts[1:]...)
	}
	return mongotest.RunReplicaSet(s.Members, opts...)
}
