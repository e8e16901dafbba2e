package mockcontrol

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/holdfast-db/holdfast/couchbasetest"
)

// kvFault is the body of a fault of key-value requests.
type kvFault struct {
	Opcodes []json.RawMessage `json:"opcodes,omitempty"` // names or numbers; none: all that applications ask for
	Key     *string           `json:"key,omitempty"`
	Bucket  string            `json:"bucket,omitempty"`
	Nodes   []int             `json:"nodes,omitempty"`
	limits

	Delay         string          `json:"delay,omitempty"`
	LoseRequest   bool            `json:"loseRequest,omitempty"`
	Status        json.RawMessage `json:"status,omitempty"`
	Value         string          `json:"value,omitempty"`
	ReplyDelay    string          `json:"replyDelay,omitempty"`
	StatusAfter   json.RawMessage `json:"statusAfter,omitempty"`
	LoseReply     bool            `json:"loseReply,omitempty"`
	CutReplyAfter int             `json:"cutReplyAfter,omitempty"`
	Silent        bool            `json:"silent,omitempty"`
}

// addFault makes key-value requests fail.
func (c *control) addFault(r *http.Request) (any, error) {
	var body kvFault
	if err := read(r, &body); err != nil {
		return nil, err
	}
	opcodes, err := body.opcodes()
	if err != nil {
		return nil, err
	}
	fault, err := body.fault()
	if err != nil {
		return nil, err
	}
	if err = c.checkNodes("nodes", body.Nodes); err != nil {
		return nil, err
	}
	d, err := body.checkLimits()
	if err != nil {
		return nil, err
	}
	return c.rules.add("faults/kv", &body, func(one *rule) func() {
		q := newQuota(body.Times, d)
		m := couchbasetest.While(func(req *couchbasetest.Request) bool {
			applies := body.selects(req) && q.take()
			if applies {
				one.happened.Add(1)
			}
			return applies
		}, fault)
		var ends []func()
		for _, op := range opcodes {
			ends = append(ends, c.cluster.Use(op, m))
		}
		return func() {
			for _, end := range ends {
				end()
			}
		}
	})
}

// selects reports whether the fault is for a request with one of its opcodes.
func (b *kvFault) selects(r *couchbasetest.Request) bool {
	return (b.Key == nil || *b.Key == r.Key) && (b.Bucket == "" || b.Bucket == r.Bucket) && (len(b.Nodes) == 0 || slices.Contains(b.Nodes, r.Node))
}

// fault returns the fault as couchbasetest has it.
func (b *kvFault) fault() (f couchbasetest.Fault, err error) {
	f = couchbasetest.Fault{
		LoseRequest: b.LoseRequest, Value: []byte(b.Value), LoseReply: b.LoseReply, CutReplyAfter: b.CutReplyAfter, Silent: b.Silent,
	}
	if err = durations(fieldDuration{"delay", b.Delay, &f.Delay}, fieldDuration{"replyDelay", b.ReplyDelay, &f.ReplyDelay}); err != nil {
		return f, err
	}
	if f.Status, err = status("status", b.Status); err != nil {
		return f, err
	}
	if f.StatusAfter, err = status("statusAfter", b.StatusAfter); err != nil {
		return f, err
	}
	switch {
	case b.CutReplyAfter < 0:
		err = badField("cutReplyAfter", "%d is negative", b.CutReplyAfter)
	case b.CutReplyAfter > 0 && !b.LoseReply:
		err = badField("cutReplyAfter", "it needs loseReply")
	case b.Silent && !b.LoseReply && !b.LoseRequest:
		err = badField("silent", "it needs loseRequest or loseReply")
	case b.Value != "" && f.Status == 0:
		err = badField("value", "it needs status")
	case f.Status != 0 && (b.LoseRequest || b.LoseReply || f.StatusAfter != 0 || b.ReplyDelay != ""):
		err = badField("status", "the request is not executed then: it excludes loseRequest, loseReply, statusAfter and replyDelay")
	case b.LoseRequest && (b.LoseReply || f.StatusAfter != 0 || b.ReplyDelay != ""):
		err = badField("loseRequest", "the request is not executed then: it excludes loseReply, statusAfter and replyDelay")
	case f.Delay == 0 && f.ReplyDelay == 0 && f.Status == 0 && f.StatusAfter == 0 && !b.LoseRequest && !b.LoseReply:
		err = badField("status", "the fault does nothing; it needs delay, replyDelay, status, statusAfter, loseRequest or loseReply")
	}
	return f, err
}

// status reads a status: a number that is not 0.
func status(field string, raw json.RawMessage) (couchbasetest.Status, error) {
	if raw == nil {
		return 0, nil
	}
	n, err := number(field, raw, 16)
	if err == nil && n == 0 {
		err = badField(field, "it is 0, which is success")
	}
	return couchbasetest.Status(n), err
}

// opcodes returns the opcodes of the fault.
func (b *kvFault) opcodes() ([]couchbasetest.Opcode, error) {
	if len(b.Opcodes) == 0 {
		return []couchbasetest.Opcode{couchbasetest.AnyOpcode}, nil
	}
	var list []couchbasetest.Opcode
	for _, raw := range b.Opcodes {
		op, err := opcode(raw)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(list, op) {
			list = append(list, op)
		}
	}
	return list, nil
}

// opcode reads the name or the number of a command.
func opcode(raw json.RawMessage) (couchbasetest.Opcode, error) {
	name := strings.Trim(string(raw), `"`)
	for op := range 256 {
		if strings.EqualFold(couchbasetest.Opcode(op).String(), name) {
			return couchbasetest.Opcode(op), nil
		}
	}
	n, err := number("opcodes", raw, 8)
	if err != nil {
		return 0, badField("opcodes", "there is no command %s; a command is a name such as GET or SUBDOC_MULTI_MUTATION, or a number such as %s", raw, `"0xd1"`)
	}
	if couchbasetest.Opcode(n) == couchbasetest.AnyOpcode {
		return 0, badField("opcodes", "0xff is not a command; without opcodes the fault is for all commands of applications")
	}
	return couchbasetest.Opcode(n), nil
}
