package query

import (
	"bytes"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
)

// Update is a compiled update: operators, a whole document that replaces the old one, or a pipeline.
type Update struct {
	root        *target
	renames     []rename
	positional  bool // some path has "$"
	deep        bool // it may make a document of too many levels
	replacement []byte
	pipeline    Pipeline
	collation   Collation // of its operators, nil if they compare strings by their bytes
}

// collatable is an operator that compares values.
type collatable interface {
	collated(c Collation) operator
}

// Env is what an update's application depends on besides the document.
type Env struct {
	Now    time.Time // for $currentDate
	Stamp  time.Time // for the empty timestamps of a whole document; zero leaves them
	Insert bool      // the document is being inserted by an upsert
	Match  *Matching // of the filter with the document: what "$" stands for, and the variables of a pipeline

	original []byte
	fields   map[*byte]map[string]Value // of documents that many renames look into, nil for a few
	path     path                       // to the value that is being changed
	forced   bool                       // counts as a change even if it changes nothing
}

// work is that of the filter's evaluation.
func (e *Env) work() *Work {
	if e.Match == nil {
		return nil
	}
	return e.Match.Work
}

// field returns the last component of the path to the value that is being changed.
func (e *Env) field() string { return e.path[len(e.path)-1] }

// ParseUpdate compiles the value of an update's "u", with array filters, Missing for none, and hooks. It keeps parts of
// it.
func ParseUpdate(v, filters Value, h Hooks) (*Update, error) {
	switch {
	case v.IsArray():
		return parsePipeline(v, filters, h)
	case !v.IsDocument():
		return nil, mongoerr.Errorf(mongoerr.FailedToParse, "Update argument must be either an object or an array")
	}
	it := wire.Elements(v.Data)
	if !it.Next() || len(it.Key) == 0 || it.Key[0] != '$' {
		return Replace(v.Data), it.Err
	}
	return parseOperators(v, filters, h.Collation)
}

func parsePipeline(v, filters Value, h Hooks) (*Update, error) {
	switch {
	case !filters.Missing() && len(Elements(filters.Data)) > 0:
		return nil, mongoerr.Errorf(mongoerr.FailedToParse, "arrayFilters may not be specified for pipeline-style updates")
	case h.Pipeline == nil:
		return nil, unsupported("an update with", "an aggregation pipeline")
	}
	p, err := h.Pipeline(v, h.Collation)
	return Transform(p), err
}

// Transform returns the update that a pipeline is.
func Transform(p Pipeline) *Update { return &Update{pipeline: p, deep: true} }

// Replace returns the update that replaces a document by another, with the old one's _id if it has none.
func Replace(doc []byte) *Update { return &Update{replacement: doc, deep: true} }

// IsPipeline reports whether the update is an array of stages.
func (u *Update) IsPipeline() bool { return u.pipeline != nil }

// IsReplacement reports whether the update is a whole document.
func (u *Update) IsReplacement() bool { return u.replacement != nil }

func parseOperators(v, list Value, c Collation) (*Update, error) {
	filters, err := parseArrayFilters(list, c)
	if err != nil {
		return nil, err
	}
	u := &Update{root: &target{}, collation: c}
	it := wire.Elements(v.Data)
	for it.Next() {
		name := string(it.Key)
		parse, ok := operators[name]
		switch {
		case !ok:
			return nil, mongoerr.Errorf(mongoerr.FailedToParse, "Unknown modifier: %s. Expected a valid update modifier or pipeline-style update "+
				"specified as an array", name)
		case it.Type != bson.TypeEmbeddedDocument:
			return nil, mongoerr.Errorf(mongoerr.FailedToParse, "Modifiers operate on fields but we found type %s instead. For example: "+
				"{$mod: {<field>: ...}} not {%s: %s}", TypeName(it.Type), name, Of(it.Element))
		}
		fields := wire.Elements(it.Value)
		for fields.Next() {
			if err := u.addField(parse, string(fields.Key), Of(fields.Element), filters); err != nil {
				return nil, err
			}
		}
	}
	if it.Err != nil {
		return nil, it.Err
	}
	return u, filters.unused(list, v)
}

func (u *Update) addField(parse parser, field string, v Value, filters arrayFilters) error {
	if err := u.checkPath(field); err != nil {
		return err
	}
	op, err := parse(field, v)
	if err != nil {
		return err
	}
	if by, ok := op.(collatable); ok && u.collation != nil {
		op = by.collated(u.collation)
	}
	u.deep = u.deep || len(field)+len(v.Data) > MaxStoredNesting // a level takes more than a byte
	if r, ok := op.(rename); ok {
		if err := u.checkPath(r.to); err != nil {
			return err
		}
		u.deep = true
		u.renames = append(u.renames, r)
		if err := u.root.addPath(splitPath(r.from), renamed{}, filters); err != nil {
			return err
		}
		field = r.to
	}
	return u.root.addPath(splitPath(field), op, filters)
}

// checkPath refuses paths that no update may have.
func (u *Update) checkPath(field string) error {
	if field == "" {
		return mongoerr.Errorf(mongoerr.EmptyFieldName, "An empty update path is not valid.")
	}
	positional := 0
	for i, name := range splitPath(field) {
		all, _ := isAllElements(name)
		switch {
		case name == "":
			return mongoerr.Errorf(mongoerr.EmptyFieldName, "The update path '%s' contains an empty field name, which is not allowed.", field)
		case name == "$" && i == 0:
			return mongoerr.Errorf(mongoerr.BadValue, "Cannot have positional (i.e. '$') element in the first position in path '%s'", field)
		case name == "$":
			u.positional = true
			positional++
		case all && i == 0:
			return mongoerr.Errorf(mongoerr.BadValue, "Cannot have array filter identifier (i.e. '$[<id>]') element in the first position in path "+
				"'%s'", field)
		}
	}
	if positional > 1 {
		return mongoerr.Errorf(mongoerr.BadValue, "Too many positional (i.e. '$') elements found in path '%s'", field)
	}
	return nil
}

// Apply returns the document after the update, which shares nothing with doc that may change; the document itself, if
// the update changes nothing.
func (u *Update) Apply(doc []byte, env Env) ([]byte, error) {
	next, err := u.apply(doc, &env)
	switch {
	case err != nil:
		return nil, err
	case !env.forced && bytes.Equal(next, doc):
		return doc, nil
	}
	return next, u.check(doc, next)
}

func (u *Update) apply(doc []byte, env *Env) ([]byte, error) {
	switch {
	case u.replacement != nil:
		env.forced = replaces(u.replacement, doc)
		return withID(Lookup(doc, "_id"), Stamped(u.replacement, env.Stamp)), nil
	case u.pipeline != nil:
		var vars any
		if env.Match != nil {
			vars = env.Match.Vars
		}
		next, err := u.pipeline(doc, vars)
		if err != nil {
			return nil, err
		}
		env.forced = Lookup(next, "_id").Missing() && replaces(next, doc)
		return withID(Lookup(doc, "_id"), next), nil
	}
	env.original = doc
	if len(u.renames) > many {
		env.fields = make(map[*byte]map[string]Value)
	}
	for _, r := range u.renames {
		if err := r.check(env); err != nil {
			return nil, err
		}
	}
	root, err := u.resolve(env)
	if err != nil {
		return nil, err
	}
	return root.document(make([]byte, 0, len(doc)+128), doc, env)
}

// replaces reports whether a document counts as another one than doc: the same without its _id does, unless neither has any other field.
func replaces(next, doc []byte) bool {
	if bytes.Equal(next, doc) {
		return false
	}
	it := wire.Elements(doc)
	return len(next) > len(EmptyDocument) || !it.Next() || string(it.Key) != "_id" || it.Next()
}

// resolve returns the tree of operators for a document that the filter matched.
func (u *Update) resolve(env *Env) (*target, error) {
	if !u.positional {
		return u.root, nil
	}
	n, ok := env.Match.Element()
	if !ok {
		return u.root, nil // it fails where it gets to the "$"
	}
	return u.root.resolved(wire.ArrayKey(n), nil)
}

// withID returns doc with the given _id as its first field, unless it has one of its own or id is Missing.
func withID(id Value, doc []byte) []byte {
	own := Lookup(doc, "_id")
	if own.Missing() {
		own = id
	}
	return FrontID(own, doc)
}

// FrontID returns a copy of doc whose first field is _id with the given value, or just a copy if it is Missing.
func FrontID(id Value, doc []byte) []byte {
	at, dst := wire.BeginDocument(make([]byte, 0, len(doc)+len(id.Data)+5))
	if !id.Missing() {
		dst = wire.AppendValue(dst, "_id", id.Type, id.Data)
	}
	it := wire.Elements(doc)
	for it.Next() {
		if string(it.Key) != "_id" {
			dst = wire.AppendElement(dst, it.Element)
		}
	}
	return wire.EndDocument(dst, at)
}
