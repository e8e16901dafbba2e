package mongo

import (
	"strings"
	"testing"
)

// CRUD specification, "Total Message Size", and the limit of one op: a document as large as maxBsonObjectSize, and the fields
// around it.
func TestWhichOpsAClientBulkWriteSendsTogether(t *testing.T) {
	const document, room = 1000, 100_000
	bytes := room + bulkOverhead + bulkBase
	namespaces := []namespace{
		{database: "db", collection: "a"},
		{database: "db", collection: strings.Repeat("b", 500)},
		{database: "db", collection: "a", pinned: true, uuid: strings.Repeat("u", 16)},
	}
	info := [...]int{len(namespaces[0].info()), len(namespaces[1].info())}
	const uuidBytes = 1 + len("collectionUUID") + 1 + 4 + 1 + 16 // a binary element
	type op struct{ namespace, size int }
	for _, c := range []struct {
		name   string
		ops    []op
		extras int // bytes, and as many that addCommandFields adds
		count  int
		want   int // ops in the first command
		text   string
	}{
		{"an op of the largest size", []op{{0, document + messageMargin}}, 0, 10, 1, ""},
		{"an op that is larger by a byte", []op{{0, document + messageMargin + 1}}, 0, 10, 0, "over the server's maxBsonObjectSize of 1000"},
		{"an op that is too large ends the command before it", []op{{0, 10}, {0, document + messageMargin + 1}}, 0, 10, 1, ""},
		{"as many ops as are allowed", []op{{0, 10}, {0, 10}, {0, 10}}, 0, 3, 3, ""},
		{"one op more than are allowed", []op{{0, 10}, {0, 10}, {0, 10}, {0, 10}}, 0, 3, 3, ""},
		{"a message that is full", []op{{0, 17_000}, {0, 17_000}, {0, 17_000}, {0, 17_000}, {0, 17_000}, {0, 15_000 - info[0]}}, 0, 10, 6, ""},
		{"a message that is too full by a byte", []op{{0, 17_000}, {0, 17_000}, {0, 17_000}, {0, 17_000}, {0, 17_000}, {0, 15_001 - info[0]}}, 0, 10, 5, ""},
		{"a message that is too full by the optional fields", []op{{0, 17_000}, {0, 17_000}, {0, 17_000}, {0, 17_000}, {0, 17_000}, {0, 15_000 - info[0]}}, 1, 10, 5, ""},
		{"a message that is full with the optional fields", []op{{0, 17_000}, {0, 17_000}, {0, 17_000}, {0, 17_000}, {0, 17_000}, {0, 14_998 - info[0]}}, 1, 10, 6, ""},
		{"a message that is too full by a byte of the fields", []op{{0, 17_000}, {0, 17_000}, {0, 17_000}, {0, 17_000}, {0, 17_000}, {0, 14_999 - info[0]}}, 1, 10, 5, ""},
		{"a namespace counts once", []op{{0, 17_000}, {1, 17_000}, {0, 17_000}, {1, 17_000}, {0, 17_000}, {1, 15_000 - info[0] - info[1]}}, 0, 10, 6, ""},
		{"a UUID counts", []op{{0, 17_000}, {2, 17_000}, {0, 17_000}, {2, 17_000}, {0, 17_000}, {2, 15_000 - 2*info[0] - uuidBytes}}, 0, 10, 6, ""},
		{"an op that does not fit by a byte of its UUID", []op{{0, 17_000}, {2, 17_000}, {0, 17_000}, {2, 17_000}, {0, 17_000}, {2, 15_001 - 2*info[0] - uuidBytes}}, 0, 10, 5, ""},
		{"an op that does not fit by its namespace", []op{{1, document + 1}}, room - document - 2, 10, 0, "more than the server's maxMessageSizeBytes"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := &clientBulk{namespaces: namespaces, extras: make([]byte, c.extras), ending: ending{added: make([]byte, c.extras)}}
			end := 0
			for _, op := range c.ops {
				end += op.size
				b.ops = append(b.ops, clientOp{verb: "insert", namespace: op.namespace, end: end})
			}
			l := limits{count: c.count, bytes: bytes, document: document}
			if got := b.next(0, l); got != c.want {
				t.Errorf("%d ops, want %d", got, c.want)
			}
			if c.want > 0 {
				return
			}
			b.failTooLarge(0, l)
			if e := b.writeErrors[0]; e.Code != codeBSONObjectTooLarge || !strings.Contains(e.Message, c.text) {
				t.Errorf("the error is %v", e)
			}
		})
	}
}
