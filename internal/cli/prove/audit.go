package prove

import (
	"context"
	"fmt"
)

// book has the final data of a cell.
type book struct {
	applied map[OpID]int // how often each operation is applied
	lost    map[OpID]int // how often each operation was applied on a node that was lost with it, by the journal
	journal []entry
	known   bool // the servers have a journal
}

func newBook() book {
	return book{applied: make(map[OpID]int), lost: make(map[OpID]int)}
}

// audit runs the strategy's sweep. Then it reads all documents with a new client and compares three numbers of applied operations: the operations' own
// fields, the counter beside them, and the servers' journal. If they differ, the experiment itself has a defect.
func (c *cell) audit(ctx context.Context, records []record) (book, error) {
	b := newBook()
	if err := c.sweep(ctx); err != nil {
		return b, err
	}
	var tallies []tally
	var err error
	if tallies, b.journal, b.known, err = readSettled(ctx, c.site, c.documents(records)); err != nil {
		return b, err
	}
	for _, t := range tallies {
		if err := b.enter(t); err != nil {
			return b, err
		}
	}
	if !b.known {
		return b, nil
	}
	return b, b.compare()
}

// readSettled reads documents and the journal at a time when nothing is applied: a message that a black hole has held back may arrive
// after the healing, between the reading of the two. It reads again until it has seen no such message.
func readSettled(ctx context.Context, s site, names []string) (tallies []tally, journal []entry, known bool, err error) {
	before, _ := s.journal()
	for {
		if tallies, err = s.read(ctx, names); err != nil {
			return nil, nil, false, err
		}
		if journal, known = s.journal(); !known || applied(journal) == applied(before) {
			return tallies, journal, known, nil
		}
		before = journal
	}
}

// applied counts the messages that were applied.
func applied(journal []entry) (n int) {
	for i := range journal {
		if journal[i].applied {
			n++
		}
	}
	return n
}

// documents returns the names of the documents of all operations, each once.
func (c *cell) documents(records []record) (names []string) {
	seen := make(map[string]bool)
	for _, r := range records {
		if name := c.document(r.id); !seen[name] {
			seen[name] = true
			names = append(names, name)
		}
	}
	return names
}

// enter adds the operations of one document.
func (b *book) enter(t tally) error {
	sum := int64(0)
	for name, times := range t.ops {
		op, ok := parseOpID(name)
		if !ok || times < 1 || b.applied[op] != 0 {
			return fmt.Errorf("document %s: the field %s.%s is not an operation's", t.name, fieldOps, name)
		}
		b.applied[op] = int(times)
		sum += times
	}
	if sum != t.counter {
		return fmt.Errorf("document %s: the counter is %d and the operations' fields add up to %d", t.name, t.counter, sum)
	}
	return nil
}

// compare returns an error if the documents and the journal differ.
func (b *book) compare() error {
	journal := make(map[string]int)
	for i := range b.journal {
		switch e := &b.journal[i]; {
		case e.key == "" || !e.applied:
		case e.lost:
			if op, ok := parseOpID(e.key); ok {
				b.lost[op]++
			}
		default:
			journal[e.key]++
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
func (b *book) messages() map[messageID]entry {
	m := make(map[messageID]entry, len(b.journal))
	for _, e := range b.journal {
		m[e.id] = e
	}
	return m
}
