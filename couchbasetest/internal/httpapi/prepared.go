package httpapi

import (
	"bytes"
	"compress/gzip"
	"crypto/sha1"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
)

// prepared is a prepared statement as a node knows it.
type prepared struct {
	name      string
	statement string
	context   string // query_context
	plan      string // encoded
}

// maxPrepared is how many prepared statements a node knows; the oldest is forgotten then. It is the default of the server.
const maxPrepared = 16384

// preparedKey is how a node finds a prepared statement.
type preparedKey struct{ context, name string }

// prepareds is the prepared statements that each node knows.
type prepareds struct {
	mu    sync.Mutex
	nodes map[NodeID]*nodePrepareds
}

type nodePrepareds struct {
	known map[preparedKey]*prepared
	order []preparedKey // of arrival; it may have names that were evicted
}

// add makes nodes know a statement. A name that a node knows already has the new statement then.
func (p *prepareds) add(nodes []NodeID, one *prepared) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.nodes == nil {
		p.nodes = map[NodeID]*nodePrepareds{}
	}
	for _, id := range nodes {
		node := p.nodes[id]
		if node == nil {
			node = &nodePrepareds{known: map[preparedKey]*prepared{}}
			p.nodes[id] = node
		}
		node.add(one)
	}
}

func (n *nodePrepareds) add(one *prepared) {
	key := preparedKey{one.context, one.name}
	if n.known[key] == nil {
		n.order = append(n.order, key)
	}
	n.known[key] = one
	for len(n.order) > maxPrepared {
		delete(n.known, n.order[0])
		n.order = n.order[1:]
	}
}

// get returns what a node knows by a name, or nil.
func (p *prepareds) get(node NodeID, context, name string) *prepared {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n := p.nodes[node]; n != nil {
		return n.known[preparedKey{context, name}]
	}
	return nil
}

// all returns what a node knows, ordered by name.
func (p *prepareds) all(node NodeID) []*prepared {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.nodes[node] == nil {
		return nil
	}
	return slices.SortedFunc(maps.Values(p.nodes[node].known), func(a, b *prepared) int {
		return strings.Compare(a.name+"\x00"+a.context, b.name+"\x00"+b.context)
	})
}

// evict makes nodes forget a statement, or all if name is "". It returns how many were forgotten.
func (p *prepareds) evict(nodes []NodeID, name string) (n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for id, node := range p.nodes {
		if len(nodes) > 0 && !slices.Contains(nodes, id) {
			continue
		}
		before := len(node.known)
		maps.DeleteFunc(node.known, func(key preparedKey, _ *prepared) bool { return name == "" || key.name == name })
		node.order = slices.DeleteFunc(node.order, func(key preparedKey) bool { return node.known[key] == nil })
		n += before - len(node.known)
	}
	return n
}

// EvictPrepared makes nodes forget the prepared statement of a name; no name is all of them, no nodes are all nodes. It
// returns how many were forgotten.
func (s *Services) EvictPrepared(name string, nodes ...NodeID) int {
	return s.prepared.evict(nodes, name)
}

// Prepared returns the names of the prepared statements that a node knows, ordered.
func (s *Services) Prepared(node NodeID) []string {
	names := []string{}
	for _, one := range s.prepared.all(node) {
		names = append(names, one.name)
	}
	return names
}

// find returns the prepared statement that a request names. A statement whose encoded plan came with the request becomes
// known to the node.
func (p *prepareds) find(r *Request, name string) (*prepared, *Problem) {
	context, plan := r.Field("query_context"), r.Field("encoded_plan")
	known := p.get(r.Node, context, name)
	switch {
	case known != nil && plan != "" && plan != known.plan:
		return nil, &Problem{Code: 4090, Message: "Encoded plan parameter does not match encoded plan of " + name}
	case known != nil:
		return known, nil
	case plan == "":
		where := context
		if where == "" {
			where = "unset"
		}
		return nil, &Problem{Code: 4040, Message: fmt.Sprintf("No such prepared statement: %s, context: %s", name, where)}
	}
	decoded, problem := decodePlan(plan)
	if problem == nil && decoded.name != name {
		problem = &Problem{Code: 4080, Message: fmt.Sprintf("Prepared name in encoded plan parameter is not %s", name)}
	}
	if problem != nil {
		return nil, problem
	}
	p.add([]NodeID{r.Node}, decoded)
	return decoded, nil
}

// planText is what stands in an encoded plan.
type planText struct {
	Name    string `json:"name"`
	Text    string `json:"text"`
	Context string `json:"queryContext"`
}

// maxPlan is the size of the largest plan that is decoded.
const maxPlan = 1 << 20

func encodePlan(one *prepared) string {
	text, err := marshal(planText{one.name, one.statement, one.context})
	if err != nil {
		return "" // three texts are always JSON
	}
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = z.Write(text) // to memory
	_ = z.Close()
	return base64.StdEncoding.EncodeToString(b.Bytes())
}

func decodePlan(plan string) (*prepared, *Problem) {
	malformed := &Problem{Code: 4070, Message: "Unable to decode prepared statement"}
	packed, err := base64.StdEncoding.DecodeString(plan)
	if err != nil {
		return nil, malformed
	}
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, malformed
	}
	text, err := io.ReadAll(io.LimitReader(z, maxPlan))
	if err != nil {
		return nil, malformed
	}
	var p planText
	if json.Unmarshal(text, &p) != nil || p.Text == "" {
		return nil, malformed
	}
	if p.Name == "" {
		return nil, &Problem{Code: 4060, Message: "Unable to find name in prepared statement"}
	}
	return &prepared{name: p.Name, statement: p.Text, context: p.Context, plan: plan}, nil
}

// newPrepared prepares a statement. Without a name it gets one that is made from the statement and its context.
func newPrepared(name, statement, context string) *prepared {
	if name == "" {
		sum := sha1.Sum([]byte(context + "\x00" + statement))
		id := sum[:16]
		id[6], id[8] = id[6]&0x0f|0x50, id[8]&0x3f|0x80
		name = fmt.Sprintf("%x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:])
	}
	one := &prepared{name: name, statement: statement, context: context}
	one.plan = encodePlan(one)
	return one
}

// prepareStatement makes the nodes know the statement of a request.
func (x *exchange) prepareStatement() *prepared {
	one := newPrepared(x.req.command.name, x.req.Statement, x.req.Field("query_context"))
	nodes := []NodeID{x.node}
	if x.s.cluster.Identity().SharedPreparedStatements {
		for _, node := range x.s.cluster.Nodes() {
			nodes = append(nodes, node.ID)
		}
	}
	x.s.prepared.add(nodes, one)
	return one
}

// preparedRow is the row that PREPARE answers.
func preparedRow(one *prepared, text string) map[string]any {
	return map[string]any{
		"encoded_plan": one.plan, "name": one.name, "namespace": "default", "queryContext": one.context, "text": text,
		"featureControls": 76, "indexApiVersion": 4, "indexScanKeyspaces": map[string]any{},
		"signature": map[string]string{"*": "*"}, "operator": map[string]string{"#operator": "Authorize"},
	}
}

// preparedEntry is a prepared statement as the query service lists it.
type preparedEntry struct {
	Name      string `json:"name"`
	Statement string `json:"statement"`
	Context   string `json:"queryContext,omitempty"`
	Plan      string `json:"encoded_plan"`
}

func listPrepared(x *exchange) {
	entries := []preparedEntry{}
	for _, one := range x.s.prepared.all(x.node) {
		entries = append(entries, preparedEntry{one.name, one.statement, one.context, one.plan})
	}
	x.json(http.StatusOK, entries)
}

func evictPrepared(x *exchange) {
	if x.s.prepared.evict([]NodeID{x.node}, x.r.PathValue("name")) == 0 {
		x.text(http.StatusNotFound, "No such prepared statement.")
		return
	}
	x.json(http.StatusOK, true)
}
