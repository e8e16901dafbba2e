package prove

import (
	"context"
	"fmt"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// mongoDocument returns the _id of an operation's document. The writers share the documents.
func mongoDocument(id OpID, writers int) string {
	return fmt.Sprintf("counter-%03d", id.Index/max(1, MaxPerDocument/writers))
}

// The fields of a document. Couchbase's documents have them too.
const (
	fieldCounter = "n"
	fieldOps     = "ops"
	fieldPending = "pending"
)

// update runs a step with the writer's client.
func (d *doing) update(ctx context.Context, step Step, u Update) error {
	return d.try(step, func() error { return d.client.(Client).Update(ctx, u) })
}

func (d *doing) increment(ctx context.Context) error {
	return d.update(ctx, FirstStep, increment(d.id, d.document))
}

func (d *doing) announce(ctx context.Context) error {
	return d.update(ctx, FirstStep, announce(d.id, d.document))
}

func (d *doing) settle(ctx context.Context) error {
	return d.update(ctx, SecondStep, settle(d.id, d.document))
}

// increment returns the operation as one update, which must not be applied twice.
func increment(id OpID, document string) Update {
	return Update{
		Filter: bson.D{{Key: "_id", Value: document}},
		Change: bson.D{{Key: "$inc", Value: bothFields(id)}},
		Upsert: true,
	}
}

// announce returns the first step of the two-step form. It may be applied any number of times.
func announce(id OpID, document string) Update {
	return Update{
		Filter: bson.D{{Key: "_id", Value: document}},
		Change: bson.D{{Key: "$addToSet", Value: bson.D{{Key: fieldPending, Value: id.String()}}}},
		Upsert: true,
	}
}

// settle returns the second step. After it was applied it matches nothing.
func settle(id OpID, document string) Update {
	return Update{
		Filter: bson.D{{Key: "_id", Value: document}, {Key: fieldPending, Value: id.String()}},
		Change: bson.D{
			{Key: "$pull", Value: bson.D{{Key: fieldPending, Value: id.String()}}},
			{Key: "$inc", Value: bothFields(id)},
		},
	}
}

// sweepPending applies the second step of every token that a document has.
func sweepPending(ctx context.Context, c Client) error {
	documents, err := c.Read(ctx)
	for _, d := range documents {
		if tokens, ok := d.Lookup(fieldPending).ArrayOK(); ok && err == nil {
			err = settleAll(ctx, c, d.Lookup("_id").StringValue(), tokens)
		}
	}
	return err
}

func settleAll(ctx context.Context, c Client, document string, tokens bson.RawArray) error {
	values, err := tokens.Values()
	for _, v := range values {
		if id, ok := parseOpID(v.StringValue()); ok && err == nil {
			err = c.Update(ctx, settle(id, document))
		}
	}
	return err
}

func bothFields(id OpID) bson.D {
	return bson.D{{Key: fieldCounter, Value: int32(1)}, {Key: fieldOps + "." + id.String(), Value: int32(1)}}
}

// The fields of package mongo/once in a document.
const (
	oncePending   = "_once.pending"
	oncePendingID = "_once.pending.id"
)

// partOf returns the operation and the step of a statement in an update command.
func partOf(statement bson.Raw) (p part, ok bool) {
	p.step = FirstStep
	if token, ok := statement.Lookup("u", "$addToSet", fieldPending).StringValueOK(); ok {
		p.op, ok = parseOpID(token)
		return p, ok
	}
	if _, token, ok := statement.Lookup("u", "$push", oncePending, "update").BinaryOK(); ok {
		p.op, ok = incremented(bson.Raw(token).Lookup("update"))
		return p, ok
	}
	filter, _ := statement.Lookup("q").DocumentOK()
	if !filter.Lookup(fieldPending).IsZero() || !filter.Lookup(oncePendingID).IsZero() {
		p.step = SecondStep
	}
	p.op, ok = incremented(statement.Lookup("u"))
	return p, ok
}

// incremented returns the operation whose field an update increments.
func incremented(update bson.RawValue) (id OpID, ok bool) {
	document, _ := update.DocumentOK()
	inc, _ := document.Lookup("$inc").DocumentOK()
	elements, err := inc.Elements()
	if err != nil {
		return id, false
	}
	for _, e := range elements {
		if name, own := strings.CutPrefix(e.Key(), fieldOps+"."); own {
			return parseOpID(name)
		}
	}
	return id, false
}

// partOfCommand is partOf for a whole update command.
func partOfCommand(command bson.Raw) (p part, ok bool) {
	updates, ok := command.Lookup("updates").ArrayOK()
	if !ok {
		return p, false
	}
	values, err := updates.Values()
	if err != nil || len(values) != 1 {
		return p, false
	}
	statement, ok := values[0].DocumentOK()
	if !ok {
		return p, false
	}
	return partOf(statement)
}

// journalKey returns the journal's key of a statement: the operation that the statement applies, or "".
func journalKey(command string, statement bson.Raw) string {
	if command != "update" || statement == nil {
		return ""
	}
	id, ok := incremented(statement.Lookup("u"))
	if !ok {
		return ""
	}
	return id.String()
}
