package prove

import (
	"context"
	"errors"
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/mongo/mongotest"
)

// book has the final data of a cell.
type book struct {
	applied map[OpID]int // how often each operation was applied
	journal []mongotest.Entry
	known   bool // the servers have a journal
}

// audit reads all documents with a new client and compares three numbers of applied operations: the operations' own
// fields, the counter beside them, and the servers' journal. If they differ, the experiment itself has a defect.
func (c *cell) audit(ctx context.Context) (book, error) {
	b := book{applied: make(map[OpID]int)}
	client, err := c.connect(false)
	if err != nil {
		return b, err
	}
	documents, err := client.Read(ctx)
	if err = errors.Join(err, client.Close(ctx)); err != nil {
		return b, err
	}
	for _, d := range documents {
		if err := b.enter(d); err != nil {
			return b, err
		}
	}
	b.journal, b.known = c.site.journal()
	if !b.known || c.settings.mutant.AuditNotCompared {
		return b, nil
	}
	return b, b.compare()
}

// enter adds the operations of one document.
func (b *book) enter(document bson.Raw) error {
	id := document.Lookup("_id").StringValue()
	counter, _ := document.Lookup(fieldCounter).AsInt64OK()
	ops, _ := document.Lookup(fieldOps).DocumentOK()
	var elements []bson.RawElement
	if ops != nil {
		var err error
		if elements, err = ops.Elements(); err != nil {
			return fmt.Errorf("document %s: %w", id, err)
		}
	}
	sum := int64(0)
	for _, e := range elements {
		op, ok := parseOpID(e.Key())
		times, isNumber := e.Value().AsInt64OK()
		if !ok || !isNumber || times < 1 || b.applied[op] != 0 {
			return fmt.Errorf("document %s: the field %s.%s is not an operation's", id, fieldOps, e.Key())
		}
		b.applied[op] = int(times)
		sum += times
	}
	if sum != counter {
		return fmt.Errorf("document %s: the counter is %d and the operations' fields add up to %d", id, counter, sum)
	}
	return nil
}

// compare returns an error if the documents and the journal differ.
func (b *book) compare() error {
	journal := make(map[string]int)
	for i := range b.journal {
		if e := &b.journal[i]; e.Key != "" && e.Applied && !e.RolledBack {
			journal[e.Key]++
		}
	}
	for op, times := range b.applied {
		if journal[op.String()] != times {
			return fmt.Errorf("operation %s: applied %d times by its field and %d times by the server's journal", op, times, journal[op.String()])
		}
		delete(journal, op.String())
	}
	for key, times := range journal {
		return fmt.Errorf("operation %s: it has no field, and was applied %d times by the server's journal", key, times)
	}
	return nil
}

// messages returns the journal's entries by message.
func (b *book) messages() map[messageID]mongotest.Entry {
	m := make(map[messageID]mongotest.Entry, len(b.journal))
	for _, e := range b.journal {
		m[messageID{e.ConnID, e.RequestID}] = e
	}
	return m
}
