package mongotest

import (
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

// Message is one message of a transcript.
type Message struct {
	Time       time.Time
	Member     int
	ConnID     int64
	Reply      bool // from the server to the client
	RequestID  int32
	ResponseTo int32 // of a reply: the request that it answers
	// Body is the command or the reply, document sequences being folded in as arrays; nil if no document was sent.
	Body bson.Raw
	// Fault is the fault that a reply suffered: "lost", "cut", "silent" or "garbage"; "" if it was sent as usual.
	Fault string
}

// String returns the message as one line of JSON, the body as relaxed extended JSON.
func (m Message) String() string {
	line := struct {
		Time       time.Time       `json:"time"`
		Direction  string          `json:"direction"`
		Member     int             `json:"member"`
		ConnID     int64           `json:"connId"`
		RequestID  int32           `json:"requestId"`
		ResponseTo int32           `json:"responseTo,omitempty"`
		Fault      string          `json:"fault,omitempty"`
		Body       json.RawMessage `json:"body,omitempty"`
	}{m.Time, "request", m.Member, m.ConnID, m.RequestID, m.ResponseTo, m.Fault, nil}
	if m.Reply {
		line.Direction = "reply"
	}
	if m.Body != nil {
		line.Body, _ = bson.MarshalExtJSON(m.Body, false, false)
	}
	text, err := json.Marshal(line)
	if err != nil { // the body is not JSON
		return err.Error()
	}
	return string(text)
}

// TranscriptLimit sets how many requests and replies the transcript keeps, the newest ones, for [Deployment.Transcript] and
// the text that a failed test logs. Without it a deployment keeps none, and a black pipe 1000.
func TranscriptLimit(n int) CommonOption {
	return commonOption(func(c *commonConfig) { c.transcript = n })
}

// Transcript returns the messages that it keeps, see [TranscriptLimit], the oldest first.
func (rs *Deployment) Transcript() []Message { return rs.transcript.messages() }

// transcript keeps the newest messages.
type transcript struct {
	limit int

	mu   sync.Mutex
	list []Message
}

// add appends a message. The body is copied.
func (t *transcript) add(m Message) {
	m.Time, m.Body = time.Now(), slices.Clone(m.Body)
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.list) >= 2*t.limit {
		t.list = append(t.list[:0:0], t.list[len(t.list)-t.limit:]...)
	}
	t.list = append(t.list, m)
}

func (t *transcript) messages() []Message {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.list[max(0, len(t.list)-t.limit):])
}

// String returns the messages as lines of JSON.
func (t *transcript) String() string {
	var b strings.Builder
	for _, m := range t.messages() {
		b.WriteString(m.String() + "\n")
	}
	return b.String()
}

// fault names the fault that a reply suffers on the wire, "" if there is none.
func (r *Reply) fault() string {
	switch {
	case r == nil:
		return ""
	case r.Lost && r.Silent:
		return "silent"
	case r.Lost && r.CutAfter > 0:
		return "cut"
	case r.Lost:
		return "lost"
	case r.Garbage != nil:
		return "garbage"
	}
	return ""
}

// received counts and records the current message.
func (x *exec) received() {
	x.countMessage()
	if x.conn.deployment.transcript.limit > 0 {
		x.conn.deployment.transcript.add(Message{
			Member: x.MemberIndex(), ConnID: x.conn.ID, RequestID: x.Command.RequestID, Body: wire.Fold(x.Command.Raw, x.Command.Sequences),
		})
	}
}

// transcribeReply records the reply that was written.
func (x *exec) transcribeReply(reply *Reply) {
	if x.conn.deployment.transcript.limit > 0 {
		h, _ := wire.ParseHeader(x.Result.Out)
		x.conn.deployment.transcript.add(Message{
			Member: x.MemberIndex(), ConnID: x.conn.ID, Reply: true, RequestID: h.RequestID, ResponseTo: h.ResponseTo, Body: body(x.Result.Out),
			Fault: reply.fault(),
		})
	}
}
