package mongotest

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/call"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// CheckDocuments fails the test, and lets it go on, if the primary has other documents in a namespace than these: anything
// that package bson encodes. The order of documents and of fields does not matter, and numbers are equal if their values
// are. The differences are shown in extended JSON, "-" for a wanted document and "+" for one that is there.
func (rs *Deployment) CheckDocuments(t Tester, ns string, want ...any) {
	t.Helper()
	got, err := rs.Find(ns, nil)
	if err != nil {
		t.Errorf("reading %s: %v", ns, err)
		return
	}
	wanted, err := encoded("CheckDocuments", want)
	if err != nil {
		t.Errorf("%v", err)
		return
	}
	if diff := difference(wanted, got); diff != "" {
		t.Errorf("the documents of %s differ (- wanted, + there):\n%s", ns, diff)
	}
}

// CheckCount fails the test, and lets it go on, if the primary has another number of documents in a namespace.
func (rs *Deployment) CheckCount(t Tester, ns string, want int) {
	t.Helper()
	switch got, err := rs.Count(ns, nil); {
	case err != nil:
		t.Errorf("counting %s: %v", ns, err)
	case got != want:
		t.Errorf("%s has %d documents, want %d", ns, got, want)
	}
}

// CheckIndex fails the test, and lets it go on, if the primary has no index with these keys, in their order, and these
// options, besides which it may have others.
func (rs *Deployment) CheckIndex(t Tester, ns string, keys any, options ...bson.E) {
	t.Helper()
	want, err := bson.Marshal(append(bson.D{{Key: "key", Value: keys}}, options...))
	if err != nil {
		t.Errorf("encoding the index: %v", err)
		return
	}
	reply, err := rs.atPrimary(ns, "listIndexes")
	if err != nil {
		t.Errorf("listing the indexes of %s: %v", ns, err)
		return
	}
	indexes := query.Elements(reply.Lookup("cursor", "firstBatch").Value)
	if !slices.ContainsFunc(indexes, func(v query.Value) bool { return contains(v.Data, want) }) {
		var b strings.Builder
		for _, v := range indexes {
			fmt.Fprintf(&b, "  %s\n", extJSON(v.Data))
		}
		t.Errorf("%s has no index %s, only:\n%s", ns, extJSON(want), b.String())
	}
}

// CheckCommands fails the test, and lets it go on, if the servers have received another number of messages with a command,
// which is named as in [Deployment.Use]. The name of no command fails it too, unless a client has sent it.
func (rs *Deployment) CheckCommands(t Tester, command string, want int) {
	t.Helper()
	all := rs.Counters().Commands
	got, known := int64(0), command == AnyCommand || isCommand(command)
	for name, n := range all {
		if stands(command, name) {
			got, known = got+n, true
		}
	}
	switch {
	case !known:
		t.Errorf("mongotest: CheckCommands: there is no command %q, and none was received; all: %v", command, all)
	case got != int64(want):
		t.Errorf("the command %s was received %d times, want %d; all: %v", command, got, want, all)
	}
}

// isCommand reports whether there is a command of a name, whatever the case.
func isCommand(name string) bool {
	for _, s := range call.Specs {
		if strings.EqualFold(s.Name, name) {
			return true
		}
	}
	return false
}

// contains reports whether a document has all fields of another.
func contains(doc, fields []byte) bool {
	for it := wire.Elements(fields); it.Next(); {
		if v := query.Lookup(doc, string(it.Key)); v.Missing() || !query.Equal(v, query.Of(it.Element)) {
			return false
		}
	}
	return true
}

// difference tells in what two lists of documents differ, "" if they do not.
func difference(want, got []bson.Raw) string {
	want, got = withoutCommon(want, got), withoutCommon(got, want)
	type line struct {
		id   query.Value
		text string
	}
	var lines []line
	for _, doc := range want {
		lines = append(lines, line{query.Lookup(doc, "_id"), "- " + extJSON(doc)})
	}
	for _, doc := range got {
		lines = append(lines, line{query.Lookup(doc, "_id"), "+ " + extJSON(doc)})
	}
	slices.SortStableFunc(lines, func(a, b line) int { return query.Compare(a.id, b.id) })
	var b strings.Builder
	for _, l := range lines {
		b.WriteString(l.text + "\n")
	}
	return b.String()
}

// withoutCommon returns the documents of a list that have no equal in another, each of which has one equal at most.
func withoutCommon(list, other []bson.Raw) []bson.Raw {
	rest := make([]query.Value, len(other))
	for i, doc := range other {
		rest[i] = canonical(doc)
	}
	return slices.DeleteFunc(slices.Clone(list), func(doc bson.Raw) bool {
		v := canonical(doc)
		i := slices.IndexFunc(rest, func(r query.Value) bool { return query.Equal(v, r) })
		if i >= 0 {
			rest = slices.Delete(rest, i, i+1)
		}
		return i >= 0
	})
}

// canonical returns a document with its fields sorted by name, to any depth.
func canonical(doc []byte) query.Value {
	return query.Document(sorted(doc))
}

// sorted does the same to an array, whose keys are as many as its elements: arrays that were equal stay so, and no others are.
func sorted(doc []byte) []byte {
	var elements []wire.Element
	for it := wire.Elements(doc); it.Next(); {
		e := it.Element
		if e.Type == bson.TypeEmbeddedDocument || e.Type == bson.TypeArray {
			e.Value = sorted(e.Value)
		}
		elements = append(elements, e)
	}
	slices.SortStableFunc(elements, func(a, b wire.Element) int { return bytes.Compare(a.Key, b.Key) })
	at, dst := wire.BeginDocument(nil)
	for _, e := range elements {
		dst = wire.AppendElement(dst, e)
	}
	return wire.EndDocument(dst, at)
}

// extJSON writes a document as relaxed extended JSON on one line.
func extJSON(doc []byte) string {
	text, err := bson.MarshalExtJSON(bson.Raw(doc), false, false)
	if err != nil {
		return fmt.Sprintf("%x", doc)
	}
	return string(text)
}
