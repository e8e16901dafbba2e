package prove

import (
	"fmt"
	"strconv"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// MaxPerDocument is the largest number of operations on one document. Each operation adds a field to it.
const MaxPerDocument = 500

// OpID identifies an operation: its writer, and its number among the operations of that writer.
type OpID struct{ Writer, Index int }

// String returns the name of the operation's field, which is also its token in the two-step form.
func (id OpID) String() string { return "w" + strconv.Itoa(id.Writer) + "_" + strconv.Itoa(id.Index) }

func parseOpID(s string) (id OpID, ok bool) {
	writer, index, ok := strings.Cut(strings.TrimPrefix(s, "w"), "_")
	if !ok || !strings.HasPrefix(s, "w") {
		return id, false
	}
	var errWriter, errIndex error
	id.Writer, errWriter = strconv.Atoi(writer)
	id.Index, errIndex = strconv.Atoi(index)
	return id, errWriter == nil && errIndex == nil
}

// ordinal returns the operation's number among those of all writers.
func (id OpID) ordinal(writers int) int { return id.Index*writers + id.Writer }

// document returns the _id of the operation's document. The writers share the documents.
func (id OpID) document(writers int) string {
	return fmt.Sprintf("counter-%03d", id.Index/max(1, MaxPerDocument/writers))
}

// Step is a command of an operation. Only the two-step form has a second step.
type Step int

// The steps. A plain increment is one FirstStep.
const (
	FirstStep Step = iota + 1
	SecondStep
)

const (
	fieldCounter = "n"
	fieldOps     = "ops"
	fieldPending = "pending"
)

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

func bothFields(id OpID) bson.D {
	return bson.D{{Key: fieldCounter, Value: int32(1)}, {Key: fieldOps + "." + id.String(), Value: int32(1)}}
}

// part identifies a step of an operation.
type part struct {
	op   OpID
	step Step
}

// partOf returns the operation and the step of a statement in an update command.
func partOf(statement bson.Raw) (p part, ok bool) {
	if token, ok := statement.Lookup("u", "$addToSet", fieldPending).StringValueOK(); ok {
		p.op, ok = parseOpID(token)
		p.step = FirstStep
		return p, ok
	}
	inc, ok := statement.Lookup("u", "$inc").DocumentOK()
	if !ok {
		return p, false
	}
	elements, err := inc.Elements()
	if err != nil {
		return p, false
	}
	p.step = FirstStep
	if _, pending := statement.Lookup("q", fieldPending).StringValueOK(); pending {
		p.step = SecondStep
	}
	for _, e := range elements {
		if name, own := strings.CutPrefix(e.Key(), fieldOps+"."); own {
			p.op, ok = parseOpID(name)
			return p, ok
		}
	}
	return p, false
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
	if _, announcing := statement.Lookup("u", "$addToSet").DocumentOK(); announcing {
		return ""
	}
	p, ok := partOf(statement)
	if !ok {
		return ""
	}
	return p.op.String()
}
