package couchbasefault

import (
	"github.com/holdfast-db/holdfast/couchbasetest"
	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
	"github.com/holdfast-db/holdfast/internal/explore/site"
)

// answerOf returns a reply in words, and whether the client does not get it.
func answerOf(reply *couchbasetest.Reply) (words string, lost bool) {
	switch {
	case reply == nil:
		return "the connection ended while it was executed", true
	case reply.Status == memd.StatusSuccess:
		return "executed", reply.Lost
	}
	return reply.Status.String(), reply.Lost
}

// fates returns what the journal says about the messages.
func (s *Site) fates() map[site.Key]site.Fate {
	fates := make(map[site.Key]site.Fate)
	for _, e := range s.cluster.Journal() {
		f := site.Fate{Changed: e.Applied && !e.Lost}
		if e.Lost {
			f.Words = append(f.Words, "lost later")
		}
		fates[site.Key{Conn: e.ConnID, Request: int64(e.Opaque)}] = f
	}
	return fates
}
