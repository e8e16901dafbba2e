package simulation

import (
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/holdfast-db/holdfast/couchbasetest"
	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
)

// change is a change of a document: by a request, or by a loss, which undoes the changes before it.
type change struct {
	token   string
	effect  effect
	content string // after it
	cas     uint64
	seq     int64 // of the journal's entry
	order   int64 // of the change
	lost    bool  // a later loss undoes it
	loss    *loss // nil: it is a request's
}

// timeline is the changes of a document in their order. The state n is that after the first n changes.
type timeline struct {
	start   string
	changes []change
	last    string // what the cluster has at the end
}

// content returns the content in a state.
func (t *timeline) content(state int) string {
	if state == 0 {
		return t.start
	}
	return t.changes[state-1].content
}

// places returns the indexes of the changes by a token.
func (t *timeline) places(w *write) (list []int) {
	for i, c := range t.changes {
		if c.loss == nil && c.token == w.token && c.effect == w.effect {
			list = append(list, i)
		}
	}
	return list
}

// truth is what the servers did and hold at the end of a life.
type truth struct {
	documents map[string]*timeline
	queries   map[string]int
	// arrivals are the numbers of requests that reached a node, by document and token.
	arrivals map[key]int
}

// key names one change of one document.
type key struct {
	doc, token string
	effect     effect
}

// readTruth reads the truth of a cluster that is whole and quiet.
func readTruth(c *cast) *truth {
	t := &truth{documents: make(map[string]*timeline), queries: c.history.queries, arrivals: make(map[key]int)}
	changes := make(map[string][]change)
	for _, e := range c.server.Journal() {
		ch, ok := changeOf(&e, c.injector.amounts)
		if e.Seq <= c.from || !ok {
			continue
		}
		if !e.RequestLost {
			t.arrivals[key{e.Key, ch.token, ch.effect}]++
		}
		if e.Applied {
			changes[e.Key] = append(changes[e.Key], ch)
		}
	}
	for i := range c.Epochs() * c.Hot() {
		t.documents[fmt.Sprint("r", i)] = &timeline{start: ""}
		t.documents[fmt.Sprint("c", i)] = &timeline{start: strconv.Itoa(counterBase)}
	}
	for doc, list := range changes {
		if t.documents[doc] == nil {
			t.documents[doc] = &timeline{start: missing}
		}
		t.documents[doc].build(list, c.history.losses)
	}
	for doc, line := range t.documents {
		line.last = c.last(doc)
	}
	return t
}

// tokens finds the tokens in a value.
var tokens = regexp.MustCompile(`\d+\.m?\d+\.\d+`)

// effects are those of the opcodes that change a content. To store a register is to push a token.
var effects = map[couchbasetest.Opcode]effect{
	memd.OpIncrement: add, memd.OpDecrement: subtract, memd.OpDelete: remove, memd.OpSubdocMultiMutation: push, memd.OpSet: put, memd.OpAdd: put,
	memd.OpReplace: put, memd.OpAppend: appendText, memd.OpPrepend: prependText,
}

// changeOf reads an entry of the journal. It reports false if the request changes no content.
func changeOf(e *couchbasetest.Entry, amounts map[requestID]uint64) (change, bool) {
	c := change{cas: e.CAS, seq: e.Seq, order: e.Order, lost: e.Lost}
	var ok bool
	if c.effect, ok = effects[e.Opcode]; !ok {
		return c, false
	}
	switch c.effect {
	case add, subtract:
		c.token = strconv.FormatUint(amounts[requestID{e.Node, e.ConnID, e.Opaque, e.Key}], 10)
	case remove:
		c.token = removal
	case push:
		c.token = lastToken(e.Value)
	case put, appendText, prependText, queryChanged:
		value := e.Value
		if inflated, err := memd.Inflate(value); err == nil {
			value = inflated
		}
		c.token = lastToken(value)
		if strings.HasPrefix(e.Key, "r") {
			c.effect, c.content = push, contentOf(e.Key, value)
		}
	}
	return c, true
}

func lastToken(value []byte) string {
	all := tokens.FindAllString(string(value), -1)
	if len(all) == 0 {
		return ""
	}
	return all[len(all)-1]
}

// contentOf is the content of a document with a value.
func contentOf(doc string, value []byte) string {
	if !strings.HasPrefix(doc, "r") {
		return string(value)
	}
	var r register
	if err := json.Unmarshal(value, &r); err != nil || r.N != len(r.Log) {
		return fmt.Sprintf("%v: %q", err, value)
	}
	return r.content()
}

// last returns the content of a document at the end.
func (c *cast) last(doc string) string {
	var d couchbasetest.Document
	var there bool
	if inNamedCollection(doc) {
		d, there = c.server.DocumentIn(bucketName, scopeName, collectionName, doc)
	} else {
		d, there = c.server.Document(bucketName, doc)
	}
	if !there {
		return missing
	}
	return contentOf(doc, d.Value)
}

// build orders the changes, and puts the losses between them: each after the last change that it undid, and after the loss before it.
func (t *timeline) build(changes []change, losses []loss) {
	slices.SortFunc(changes, func(a, b change) int { return cmp.Compare(a.order, b.order) })
	var live []change // those that no loss has undone so far
	content := func() string {
		if len(live) == 0 {
			return t.start
		}
		return live[len(live)-1].content
	}
	at := 0
	advance := func(to int) {
		for ; at < to; at++ {
			changes[at].apply(content())
			live = append(live, changes[at])
			t.changes = append(t.changes, changes[at])
		}
	}
	for i := range losses {
		last := -1
		for n, c := range changes {
			if lossOf(c, losses) == &losses[i] {
				last = n
			}
		}
		if last < 0 {
			continue
		}
		advance(last + 1)
		live = slices.DeleteFunc(live, func(c change) bool { return lossOf(c, losses) == &losses[i] })
		t.changes = append(t.changes, change{content: content(), loss: &losses[i]})
	}
	advance(len(changes))
}

// lossOf returns the loss that undid a change for ever, nil if none did.
func lossOf(c change, losses []loss) *loss {
	if !c.lost {
		return nil
	}
	for i := range slices.Backward(losses) {
		if slices.Contains(losses[i].lost, c.seq) {
			return &losses[i]
		}
	}
	return nil
}

// apply finds the content after the change from that before it.
func (c *change) apply(before string) {
	switch c.effect {
	case push:
		if c.content == "" {
			c.content = strings.TrimPrefix(before+" "+c.token, " ")
		}
	case add, subtract:
		n, _ := strconv.ParseUint(before, 10, 64)
		amount, _ := strconv.ParseUint(c.token, 10, 64)
		if c.effect == subtract {
			amount = -amount
		}
		c.content = strconv.FormatUint(n+amount, 10)
	case put:
		c.content = c.token
	case appendText:
		c.content = before + "|" + c.token
	case prependText:
		c.content = c.token + "|" + before
	case remove:
		c.content = missing
	case queryChanged:
	}
}
