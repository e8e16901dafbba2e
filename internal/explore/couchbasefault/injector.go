package couchbasefault

import (
	"fmt"
	"slices"
	"strings"

	"github.com/holdfast-db/holdfast/couchbasetest"
	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
	"github.com/holdfast-db/holdfast/internal/explore"
	"github.com/holdfast-db/holdfast/internal/explore/site"
)

// intercept records a message of the program, and does the next strike of the case if it is for this message.
func (s *Site) intercept(r *couchbasetest.Request, next couchbasetest.Handler) *couchbasetest.Reply {
	a := s.Arrived(s.describe(r), fmt.Sprintf("node %d", r.Node), site.Key{Conn: r.ConnID, Request: int64(r.Opaque)})
	if a == nil {
		return next(r)
	}
	if a.Failure == "" {
		return site.Pass(a, r, next, answerOf)
	}
	return s.strike(a, r, next)
}

// strike does the failure of a message.
func (s *Site) strike(a *site.Arrival, r *couchbasetest.Request, next couchbasetest.Handler) (reply *couchbasetest.Reply) {
	strike := &Strike{
		Cluster: s.cluster, Message: a.Message, Node: r.Node, Bucket: r.Bucket, Key: r.Key, Outage: s.pace.outage, Silence: s.pace.silence, site: s,
	}
	defer s.Panicked(a, func() { reply = &couchbasetest.Reply{Lost: true} })
	return site.Strike(a, r, next, s.failures[a.Failure].Apply(strike), answerOf, &strike.happening)
}

// describe returns what a message does.
func (s *Site) describe(r *couchbasetest.Request) explore.Message {
	m := explore.Message{
		Command: nameOf(r.Opcode), Target: r.Bucket, Write: slices.Contains(writes, r.Opcode), Durable: r.Durable, Document: r.Bucket != "" && r.Opcode.InCollection(),
	}
	if m.Document {
		m.Target = s.keyspace(r) + "/" + r.Key
	}
	return m
}

// keyspace returns the names of bucket, scope and collection with dots between them, or only the bucket's for its default collection.
func (s *Site) keyspace(r *couchbasetest.Request) string {
	if r.Collection == 0 {
		return r.Bucket
	}
	scope, collection, ok := s.cluster.CollectionName(r.Bucket, r.Collection)
	if !ok {
		return fmt.Sprintf("%s.%#x", r.Bucket, r.Collection)
	}
	return r.Bucket + "." + scope + "." + collection
}

// nameOf returns the name of a command in messages, such as "get" or "subdoc_multi_mutation".
func nameOf(op couchbasetest.Opcode) string {
	return strings.ReplaceAll(strings.ToLower(op.String()), " ", "-")
}

// writes are the commands that change documents.
var writes = []couchbasetest.Opcode{
	memd.OpSet, memd.OpAdd, memd.OpReplace, memd.OpDelete, memd.OpIncrement, memd.OpDecrement, memd.OpAppend, memd.OpPrepend, memd.OpTouch,
	memd.OpGetAndTouch, memd.OpSubdocMultiMutation,
}
