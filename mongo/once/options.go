package once

import (
	"errors"
	"fmt"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/retry"
)

const (
	defaultField    = "_once"
	defaultFinished = 32
	maxFinished     = 10000
)

// Options configure a Collection. The zero value has the defaults.
type Options struct {
	// Field is the document's field for tokens and finished ids. Default: "_once". All programs that update a collection must use the same.
	Field string
	// Finished is how many finished updates a document remembers, from 1 to 10,000; 0 means 32. See the limits of the guarantee.
	Finished int
	// UniqueKeys are fields, besides _id, that have a unique index: one that is not partial, with the collation of the collection. A delete of
	// one document, or an idempotent update of one that does not change the field, may name its document by such a field.
	UniqueKeys []string
	// Registry encodes the arguments of the methods, because the client's own is not known here. Nil: the default of package bson. Tokens are
	// always encoded by that default.
	Registry *bson.Registry
	// Strategy decides about retries of each step. Nil: one retry, at once or, if the server is overloaded, after a
	// random delay.
	Strategy retry.Strategy
	// Observer receives the events of all steps. Nil: none.
	Observer retry.Observer
}

func (o *Options) check() error {
	switch {
	case o.Finished < 0 || o.Finished > maxFinished:
		return fmt.Errorf("once: Options.Finished is %d; it must be from 0 to %d", o.Finished, maxFinished)
	case o.Field == "_id" || strings.ContainsAny(o.Field, ".$\x00"):
		return fmt.Errorf("once: Options.Field is %q; it must be the name of a top-level field other than _id, without '.', '$' and the zero byte", o.Field)
	}
	for _, key := range o.UniqueKeys {
		if key == "" || strings.ContainsAny(key, "$\x00") {
			return fmt.Errorf("once: Options.UniqueKeys has %q, which is not the path of a field", key)
		}
	}
	return nil
}

// errNoSource is the error of New without a collection.
var errNoSource = errors.New("once: the collection is nil")
