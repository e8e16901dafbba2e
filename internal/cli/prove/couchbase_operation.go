package prove

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/holdfast-db/holdfast/couchbase"
	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
)

// maxPerCouchbaseDocument is the largest number of operations on one document.
const maxPerCouchbaseDocument = 50

// couchbaseDocument returns the key of an operation's document. Each writer has its own: a durable write refuses all others of its
// document until it is replicated.
func couchbaseDocument(id OpID, _ int) string {
	return fmt.Sprintf("counter-w%d-%03d", id.Writer, id.Index/maxPerCouchbaseDocument)
}

// version is the version of the document to which an operation is written.
type version struct {
	cas couchbase.Cas
	// semantics says whether the document must exist.
	semantics couchbase.StoreSemantics
}

var (
	anyVersion = version{semantics: couchbase.StoreSemanticsUpsert}
	noDocument = version{semantics: couchbase.StoreSemanticsInsert}
)

// write increments the counter and the operation's own field with one sub-document command, which must not be applied twice.
func (d *doing) write(ctx context.Context, v version) error {
	level := couchbase.DurabilityLevelNone
	if d.durable {
		level = couchbase.DurabilityLevelMajority
	}
	create := &couchbase.CounterSpecOptions{CreatePath: true}
	specs := []couchbase.MutateInSpec{
		couchbase.IncrementSpec(fieldCounter, 1, create), couchbase.IncrementSpec(fieldOps+"."+d.id.String(), 1, create),
	}
	return d.try(FirstStep, func() error {
		_, err := d.client.(*couchbaseClient).docs.MutateIn(d.document, specs, &couchbase.MutateInOptions{ //nolint:contextcheck // the options have it
			Context: ctx, Cas: v.cas, StoreSemantic: v.semantics, DurabilityLevel: level,
		})
		return err
	})
}

// look reads whether the document has the operation's field, and the document's version.
func (d *doing) look(ctx context.Context) (there bool, v version, err error) {
	specs := []couchbase.LookupInSpec{couchbase.ExistsSpec(fieldOps+"."+d.id.String(), nil)}
	err = d.try(SecondStep, func() error {
		found, err := d.client.(*couchbaseClient).docs.LookupIn(d.document, specs, &couchbase.LookupInOptions{Context: ctx}) //nolint:contextcheck // the options have it
		switch {
		case errors.Is(err, couchbase.ErrDocumentNotFound):
			v = noDocument
			return nil
		case err != nil:
			return err
		}
		v = version{cas: found.Cas()}
		return found.ContentAt(0, &there)
	})
	return there, v, err
}

// partOfMutation returns the operation of a sub-document command.
func partOfMutation(value []byte) (p part, ok bool) {
	for len(value) > 0 {
		spec, others, err := memd.CutMutation(value)
		if err != nil {
			return p, false
		}
		if name, own := strings.CutPrefix(string(spec.Path), fieldOps+"."); own {
			p.step = FirstStep
			p.op, ok = parseOpID(name)
			return p, ok
		}
		value = others
	}
	return p, false
}
