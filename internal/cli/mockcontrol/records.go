package mockcontrol

import (
	"encoding/json"
	"net/http"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/holdfast-db/holdfast/couchbasetest"
)

// counters returns what the nodes have counted.
func (c *control) counters(r *http.Request) (any, error) {
	if err := onlyParameters(r, "node"); err != nil {
		return nil, err
	}
	node, err := parameter(r, "node", -1)
	if err != nil {
		return nil, err
	}
	var nodes []int
	if node >= 0 {
		nodes = []int{node}
	}
	if err := c.checkNodes("node", nodes); err != nil {
		return nil, err
	}
	counted := c.cluster.Counters(nodes...)
	requests := make(map[string]int64, len(counted.Requests))
	for op, n := range counted.Requests {
		requests[op.String()] = n
	}
	return map[string]any{"requests": requests, "opened": counted.Opened, "current": counted.Current}, nil
}

// entry is an entry of the journal.
type entry struct {
	Seq         int64     `json:"seq"`
	Time        time.Time `json:"time"`
	Node        int       `json:"node"`
	Connection  int64     `json:"connection"`
	Opaque      uint32    `json:"opaque"`
	Opcode      string    `json:"opcode"`
	Bucket      string    `json:"bucket"`
	VBucket     uint16    `json:"vbucket"`
	Collection  uint32    `json:"collection"`
	Key         string    `json:"key"`
	Durable     bool      `json:"durable"`
	Applied     bool      `json:"applied"`
	Lost        bool      `json:"lost"`
	RequestLost bool      `json:"requestLost"`
	ReplyLost   bool      `json:"replyLost"`
	Status      uint16    `json:"status"`
	StatusText  string    `json:"statusText"`
	CAS         uint64    `json:"cas,string"`
	VBucketUUID uint64    `json:"vbucketUUID,string"`
	Seqno       uint64    `json:"seqno,string"`
}

// journal returns the entries of the journal: with "bucket" and "key" of one document, with "after" the newer ones only.
func (c *control) journal(r *http.Request) (any, error) {
	if err := onlyParameters(r, "bucket", "key", "after"); err != nil {
		return nil, err
	}
	after, err := parameter(r, "after", 0)
	if err != nil {
		return nil, err
	}
	q := r.URL.Query()
	list := make([]entry, 0)
	for _, e := range c.cluster.Journal() {
		if e.Seq <= int64(after) || q.Has("bucket") && q.Get("bucket") != e.Bucket || q.Has("key") && q.Get("key") != e.Key {
			continue
		}
		list = append(list, entry{
			e.Seq, e.Time, e.Node, e.ConnID, e.Opaque, e.Opcode.String(), e.Bucket, e.VBucket, e.Collection, e.Key, e.Durable,
			e.Applied, e.Lost, e.RequestLost, e.ReplyLost, uint16(e.Status), e.Status.String(), e.CAS, e.VBucketUUID, e.Seqno,
		})
	}
	return map[string]any{"entries": list}, nil
}

// httpRequests returns the requests to the HTTP services: with "service" those to one.
func (c *control) httpRequests(r *http.Request) (any, error) {
	if err := onlyParameters(r, "service"); err != nil {
		return nil, err
	}
	var s selection
	if name := r.URL.Query().Get("service"); name != "" {
		if _, known := services[name]; !known {
			return nil, badField("service", "it is %q; it must be management, views, query, search or analytics", name)
		}
		s.Services = []string{name}
	}
	when, err := s.when(c, s.Services...)
	if err != nil {
		return nil, err
	}
	list := make([]any, 0)
	for _, record := range c.cluster.HTTP().Requests(when) {
		list = append(list, httpRecord(&record))
	}
	return map[string]any{"requests": list}, nil
}

func httpRecord(r *couchbasetest.HTTPRecord) any {
	name := ""
	for text, service := range services {
		if service == r.Service {
			name = text
		}
	}
	return struct {
		Node      int       `json:"node"`
		Service   string    `json:"service"`
		Method    string    `json:"method"`
		Target    string    `json:"target"`
		Body      string    `json:"body,omitempty"`
		Statement string    `json:"statement,omitempty"`
		Time      time.Time `json:"time"`
		Done      bool      `json:"done"`
		Status    int       `json:"status"`
		Rows      int       `json:"rows"`
		Bytes     int64     `json:"bytes"`
		Left      bool      `json:"left"`
	}{int(r.Node), name, r.Method, r.Target, string(r.Body), r.Statement, r.At, r.Done, r.Status, r.Rows, r.Bytes, r.Left}
}

// document returns a document of a collection, and where its copies are.
func (c *control) document(r *http.Request) (any, error) {
	if err := onlyParameters(r, "bucket", "scope", "collection", "key"); err != nil {
		return nil, err
	}
	q := r.URL.Query()
	bucket, scope, collection, key := q.Get("bucket"), q.Get("scope"), q.Get("collection"), q.Get("key")
	switch {
	case !slices.ContainsFunc(c.cluster.State().Buckets, func(b couchbasetest.Bucket) bool { return b.Name == bucket }):
		return nil, badField("bucket", "there is no bucket %q", bucket)
	case key == "":
		return nil, badField("key", "it is empty, or not there")
	}
	if scope == "" {
		scope = "_default"
	}
	if collection == "" {
		collection = "_default"
	}
	d, exists := c.cluster.DocumentIn(bucket, scope, collection, key)
	return documentJSON(&d, exists, c.cluster.Owners(bucket, key)), nil
}

func documentJSON(d *couchbasetest.Document, exists bool, owners []int) any {
	answer := struct {
		Exists bool            `json:"exists"`
		Nodes  []int           `json:"nodes"` // first the owner, then the replicas; -1: none
		JSON   json.RawMessage `json:"json,omitempty"`
		Text   string          `json:"text,omitempty"`
		Bytes  []byte          `json:"bytes,omitempty"` // in base64, if the value is not text
		Xattrs json.RawMessage `json:"xattrs,omitempty"`
		Flags  uint32          `json:"flags"`
		Expiry *time.Time      `json:"expiry,omitempty"`
		CAS    uint64          `json:"cas,string"`
		Seqno  uint64          `json:"seqno,string"`
	}{Exists: exists, Nodes: owners, Xattrs: d.Xattrs, Flags: d.Flags, CAS: d.CAS, Seqno: d.Seqno}
	switch {
	case json.Valid(d.Value):
		answer.JSON = d.Value
	case utf8.Valid(d.Value):
		answer.Text = string(d.Value)
	default:
		answer.Bytes = d.Value
	}
	if !d.Expiry.IsZero() {
		answer.Expiry = &d.Expiry
	}
	return answer
}
