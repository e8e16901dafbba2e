package couchbasefault

import (
	"time"

	"github.com/holdfast-db/holdfast/couchbasetest"
	"github.com/holdfast-db/holdfast/internal/explore"
	"github.com/holdfast-db/holdfast/internal/explore/site"
)

// Failure is one kind of failure that can happen to a message. The predefined ones are values: copy one to change it.
type Failure = site.Failure[Strike, couchbasetest.Middleware]

// Strike is a failure that is about to happen to a message.
type Strike struct {
	Cluster *couchbasetest.Cluster
	Message explore.Message
	// Node is the node that the message has come to.
	Node int
	// Bucket and Key are those of the message.
	Bucket, Key string
	// Outage is for how long a node that is killed, cut off or failed over stays so, unless the failures end before.
	Outage time.Duration
	// Silence is for how long nothing comes on a connection that has gone silent, before it is closed.
	Silence time.Duration

	site      *Site
	happening site.Happening
}

// Later calls a function after a time, or when the failures end, if that is before.
func (s *Strike) Later(after time.Duration, f func()) { s.site.Later(after, f) }

// Wait waits for a time, or until the failures end, if that is before. Middleware calls Aside of the request before.
func (s *Strike) Wait(d time.Duration) { s.site.Wait(d) }

// Healed returns a channel that is closed when the failures end.
func (s *Strike) Healed() <-chan struct{} { return s.site.Healed() }

// fault returns a failure that does a fault to the message.
func fault(name, title string, concerns func(explore.Message) bool, of func(*Strike) couchbasetest.Fault) Failure {
	return Failure{Name: name, Title: title, Concerns: concerns, Apply: func(s *Strike) couchbasetest.Middleware { return couchbasetest.Always(of(s)) }}
}

func isWrite(m explore.Message) bool    { return m.Write }
func isDurable(m explore.Message) bool  { return m.Durable }
func isDocument(m explore.Message) bool { return m.Document }
