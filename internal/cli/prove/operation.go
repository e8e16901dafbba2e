package prove

import (
	"strconv"
	"strings"
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

// Step is a kind of command of an operation. A plain increment is one FirstStep. MongoDB's two-step form and Couchbase's CAS loop have
// a second one.
type Step int

// The steps.
const (
	FirstStep Step = iota + 1
	SecondStep
)

// part identifies a step of an operation.
type part struct {
	op   OpID
	step Step
}
