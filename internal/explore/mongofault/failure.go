package mongofault

import (
	"context"
	"time"

	"github.com/holdfast-db/holdfast/internal/explore"
	"github.com/holdfast-db/holdfast/internal/explore/site"
	"github.com/holdfast-db/holdfast/mongotest"
)

// Failure is one kind of failure that can happen to a message. The predefined ones are values: copy one to change it.
type Failure = site.Failure[Strike, mongotest.Middleware]

// Strike is a failure that is about to happen to a message.
type Strike struct {
	Deployment *mongotest.Deployment
	Message    explore.Message
	// Member is the member that the message has come to; if it has come to a mongos, the primary, and -1 while there is none.
	Member int
	// Mongos is the mongos that the message has come to, -1 if it has come to a member.
	Mongos int
	// Outage is for how long a member that is killed or cut off stays so, unless the failures end before.
	Outage time.Duration
	// Silence is for how long nothing comes on a connection that has gone silent, before it is closed.
	Silence time.Duration

	site      *Site
	happening site.Happening
}

// Later calls a function after a time, or when the failures end, if that is before.
func (s *Strike) Later(after time.Duration, f func()) { s.site.Later(after, f) }

// Wait waits for a time, or until the failures end, if that is before.
func (s *Strike) Wait(d time.Duration) { s.site.Wait(d) }

// Healed returns a channel that is closed when the failures end.
func (s *Strike) Healed() <-chan struct{} { return s.site.Healed() }

// toMember does something to the member. If there is none, because a mongos has no primary, the failure does not happen.
func (s *Strike) toMember(do func()) {
	if s.happening.Missed = s.Member < 0; !s.happening.Missed {
		do()
	}
}

// kill ends the member, and restarts it after the outage.
func (s *Strike) kill() {
	s.toMember(func() {
		s.Deployment.Kill(s.Member)
		s.Later(s.Outage, func() {
			s.awaitSuccessor()
			s.Deployment.Restart(s.Member)
		})
	})
}

// awaitSuccessor waits until the others have a primary, if they can: restarted before, the dead one would keep a write that it alone has.
func (s *Strike) awaitSuccessor() {
	if s.Deployment.Members() < 3 {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*s.site.pace.election)
	defer cancel()
	_, _ = s.Deployment.WaitPrimary(ctx) // it ends without one if another member is dead, too
}

// isolate cuts the member off, for as long as an outage.
func (s *Strike) isolate() {
	s.toMember(func() {
		s.Deployment.Isolate(s.Member)
		s.Later(s.Outage, s.Deployment.Heal)
	})
}

// fault returns a failure that does a fault to the message.
func fault(name, title string, concerns func(explore.Message) bool, of func(*Strike) mongotest.Fault) Failure {
	return Failure{Name: name, Title: title, Concerns: concerns, Apply: func(s *Strike) mongotest.Middleware { return mongotest.Always(of(s)) }}
}
