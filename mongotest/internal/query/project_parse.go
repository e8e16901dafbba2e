package query

import (
	"errors"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
)

// ParseProjection compiles a projection, with the filter of the find, for ".$", nil for none, and hooks; nil without
// error if it is empty.
func ParseProjection(doc []byte, f *Filter, h Hooks) (*Projection, error) {
	if it := wire.Elements(doc); !it.Next() {
		return nil, it.Err
	}
	if f != nil {
		h.Collation = f.collation
	}
	p := projectionParser{hooks: h, filter: f, Projection: Projection{root: &field{}, keepID: true}}
	if err := p.fields("", doc); err != nil {
		return nil, err
	}
	for _, name := range Metas(Document(doc)) {
		if err := f.MetaFlaw(name); err != nil {
			return nil, err
		}
	}
	p.exclude = p.kind == exclusion
	if p.kind == undecided {
		p.exclude = !p.includesID && (p.hasSlice || !p.hasElemMatch)
	}
	return &p.Projection, nil
}

// lastOfEach returns a document with the last of several fields of a name instead of the first, as the real server reads
// projections.
func lastOfEach(doc []byte) []byte {
	var fields []wire.Element
	at := make(map[string]int)
	it := wire.Elements(doc)
	for it.Next() {
		i, again := at[string(it.Key)]
		if !again {
			i = len(fields)
			at[string(it.Key)] = i
			fields = append(fields, it.Element)
		}
		fields[i] = it.Element
	}
	if len(fields) == 0 || it.Err != nil {
		return doc
	}
	start, dst := wire.BeginDocument(make([]byte, 0, len(doc)))
	for _, f := range fields {
		dst = wire.AppendElement(dst, f)
	}
	return wire.EndDocument(dst, start)
}

// projectionKind says whether named fields are kept or left out.
type projectionKind uint8

const (
	undecided projectionKind = iota
	inclusion
	exclusion
)

type projectionParser struct {
	Projection
	hooks        Hooks
	filter       *Filter
	kind         projectionKind
	namesID      bool // the whole _id
	includesID   bool
	hasElemMatch bool
	hasSlice     bool
	prefix       string // of the names in the document that is being read
}

func (p *projectionParser) fields(prefix string, doc []byte) error {
	it := wire.Elements(lastOfEach(doc))
	for it.Next() {
		p.prefix = prefix
		if len(it.Key) == 0 {
			_, err := FieldPath("")
			return err
		}
		if err := p.field(prefix+string(it.Key), Of(it.Element)); err != nil {
			return err
		}
	}
	return it.Err
}

// asWritten is a path as the document that is being read has it.
func (p *projectionParser) asWritten(name string) string { return strings.TrimPrefix(name, p.prefix) }

func (p *projectionParser) field(name string, v Value) error {
	if base, ok := strings.CutSuffix(name, ".$"); ok {
		return p.positionalField(base, v)
	}
	if strings.Contains(name, ".$.") {
		return mongoerr.Errorf(31394, "As of 4.4, it's illegal to specify positional operator in the middle of a path."+
			"Positional projection may only be used at the end, for example: a.b.$. If the query previously used a form like "+
			"a.b.$.d, remove the parts following the '$' and the results will be equivalent.")
	}
	switch {
	case v.IsDocument():
		return p.object(name, v)
	case v.IsNumber() || v.Type == bson.TypeBoolean:
		return p.plain(name, Truth(v))
	}
	return p.literal(name, v)
}

// plain takes {name: 1} or {name: 0}.
func (p *projectionParser) plain(name string, include bool) error {
	if name == "_id" {
		if p.root.find([]byte(name)) != nil {
			return mongoerr.Errorf(31250, "Path collision at %s", name)
		}
		p.keepID, p.includesID, p.namesID = include, include, true
		return nil
	}
	if _, err := p.leaf(name, named); err != nil {
		return err
	}
	return p.decide(name, include)
}

// decide notes whether the projection keeps or leaves out what it names: it cannot do both.
func (p *projectionParser) decide(name string, include bool) error {
	switch {
	case p.kind == exclusion && include:
		return mongoerr.Errorf(31253, "Cannot do inclusion on field %s in exclusion projection", p.asWritten(name))
	case p.kind == inclusion && !include:
		return mongoerr.Errorf(31254, "Cannot do exclusion on field %s in inclusion projection", p.asWritten(name))
	case include:
		p.kind = inclusion
	default:
		p.kind = exclusion
	}
	return nil
}

// leaf adds the end of a path.
func (p *projectionParser) leaf(name string, kind leafKind) (*field, error) {
	parts, err := FieldPath(name)
	if err != nil {
		return nil, err
	}
	at := p.root
	if p.namesID && parts[0] == "_id" && len(parts) > 1 {
		return nil, mongoerr.Errorf(31249, "Path collision at %s remaining portion %s", name, dotted(parts[1:]))
	}
	for _, part := range parts {
		if at.leaf != inner {
			return nil, mongoerr.Errorf(31249, "Path collision at %s remaining portion %s", name, dotted(parts[1:]))
		}
		next := at.find([]byte(part))
		if next == nil {
			next = &field{name: part}
			at.add(next)
		}
		at = next
	}
	if at.leaf != inner || len(at.children) > 0 {
		return nil, mongoerr.Errorf(31250, "Path collision at %s", name)
	}
	at.leaf = kind
	return at, nil
}

// object takes {name: {...}}: an operator, or a projection of the fields below.
func (p *projectionParser) object(name string, v Value) error {
	it := wire.Elements(v.Data)
	if !it.Next() {
		return mongoerr.Errorf(51270, "Invalid empty sub-projection: %s", name)
	}
	key, arg := string(it.Key), Of(it.Element)
	switch operator, more := strings.HasPrefix(key, "$") && !IsPathNameWithDollar(key), it.Next(); {
	case operator && more:
		_, err := FieldPath(key)
		return err
	case !operator:
		return p.fields(name+".", v.Data)
	}
	switch key {
	case "$slice":
		return p.slice(name, v, arg)
	case "$elemMatch":
		return p.elemMatch(name, arg)
	case "$meta":
		return p.meta(name, arg)
	}
	return unknownExpression(key, p.operator(name, key, v))
}

// meta takes {name: {$meta: ...}}, which no kind of projection refuses.
func (p *projectionParser) meta(name string, v Value) error {
	meta, err := MetaName(v)
	if err == nil {
		err = p.filter.MetaFlaw(meta)
	}
	if err != nil {
		return err
	}
	f, err := p.leaf(name, computed)
	if err == nil {
		f.expr = func(doc []byte, _ any) (Value, error) { return Meta(doc, meta), nil }
	}
	return err
}

// operator takes {name: {$operator: ...}} that is an expression.
func (p *projectionParser) operator(name, key string, v Value) error {
	if p.kind != exclusion {
		return p.computed(name, v)
	}
	if _, err := p.expression(name, v); refusedBy(err, key) {
		return err
	}
	return mongoerr.Errorf(31252, "Cannot use expression other than $meta in exclusion projection")
}

// unknownExpression turns the hook's refusal of the operator key into the one that a projection has for it.
func unknownExpression(key string, err error) error {
	if refusedBy(err, key) {
		return mongoerr.Errorf(31325, "Unknown expression %s", key)
	}
	return err
}

func refusedBy(err error, key string) bool {
	var refused *mongoerr.Error
	return errors.As(err, &refused) && refused.Code == 168 && strings.Contains(refused.Message, "'"+key+"'")
}

// literal takes {name: value} where the value is neither a number nor a document.
func (p *projectionParser) literal(name string, v Value) error {
	was := p.kind
	if err := p.computed(name, v); err != nil {
		return err
	}
	if was == exclusion {
		return mongoerr.Errorf(31310, "Cannot use an expression %s in an exclusion projection", shellElement(p.asWritten(name), v))
	}
	return nil
}

func (p *projectionParser) computed(name string, v Value) error {
	e, err := p.expression(name, v)
	if err != nil {
		return err
	}
	p.kind = inclusion
	f, err := p.leaf(name, computed)
	if err == nil {
		f.expr = e
	}
	return err
}

func (p *projectionParser) expression(name string, v Value) (Expr, error) {
	text := v.Text()
	switch {
	case v.Type != bson.TypeEmbeddedDocument && v.Type != bson.TypeArray && (len(text) == 0 || text[0] != '$'):
		return func([]byte, any) (Value, error) { return v, nil }, nil
	case p.hooks.Expr == nil:
		return nil, unsupported("the projection of a computed value", name)
	}
	return p.hooks.Expr(v, p.hooks.Collation)
}

// slice takes {name: {$slice: ...}}: that of a find or, failing that, the expression of the same name.
func (p *projectionParser) slice(name string, whole, v Value) error {
	s, err := parseSlice(v)
	if err == nil {
		var f *field
		if f, err = p.leaf(name, sliced); err == nil {
			f.slice, p.hasSlice = s, true
			return nil
		}
	}
	otherwise := p.operator(name, "$slice", whole)
	var first, second *mongoerr.Error
	if !errors.As(err, &first) || !errors.As(otherwise, &second) || second.Code == mongoerr.NotImplemented || second.Constant {
		return otherwise
	}
	return mongoerr.Errorf(second.Code, "Invalid $slice syntax. The given syntax %s did not match the find() syntax because :: Location%d: "+
		"%s :: The given syntax did not match the expression $slice syntax. :: caused by :: %s", whole, first.Code, first.Message,
		second.Message)
}

// parseSlice takes a count or [skip, limit].
func parseSlice(v Value) (*arraySlice, error) {
	if v.IsNumber() {
		n := v.Clamped32()
		if n < 0 {
			return &arraySlice{skip: n, limit: -n}, nil
		}
		return &arraySlice{limit: n}, nil
	}
	if !v.IsArray() {
		return nil, mongoerr.Errorf(31273, "$slice only supports numbers and [skip, limit] arrays")
	}
	list := v.elements()
	if len(list) != 2 || !list[0].IsNumber() || !list[1].IsNumber() || list[1].Clamped32() <= 0 {
		return nil, mongoerr.Errorf(31272, "$slice array argument should be of form [skip, limit]")
	}
	return &arraySlice{skip: list[0].Clamped32(), limit: list[1].Clamped32()}, nil
}

func (p *projectionParser) elemMatch(name string, v Value) error {
	switch {
	case !v.IsDocument():
		return mongoerr.Errorf(31274, "elemMatch: Invalid argument, object required, but got %s", TypeName(v.Type))
	case p.positional != nil:
		return mongoerr.Errorf(31255, "Cannot specify positional operator and $elemMatch.")
	case strings.Contains(name, "."):
		return mongoerr.Errorf(31275, "Cannot use $elemMatch projection on a nested field.")
	}
	q := filterParser{shown: true, collation: p.hooks.Collation}
	c, err := q.elemMatch(v)
	if err != nil {
		return err
	}
	f, err := p.leaf(name, matched)
	if err == nil {
		f.elemMatch, p.hasElemMatch = c.(*elemMatch), true
	}
	return err
}

// positionalField takes {"name.$": 1}.
func (p *projectionParser) positionalField(name string, v Value) error {
	switch {
	case name == "":
		return mongoerr.Errorf(5392900, "Projection on field .$ is invalid")
	case v.IsDocument():
		return mongoerr.Errorf(31271, "positional projection cannot be used with an expression or sub object")
	case !v.IsNumber() && v.Type != bson.TypeBoolean:
		return mongoerr.Errorf(31308, "positional projection cannot be used with a literal")
	case !Truth(v):
		return mongoerr.Errorf(31395, "positional projection cannot be used with exclusion")
	case p.positional != nil:
		return mongoerr.Errorf(31276, "Cannot specify more than one positional projection per query.")
	case p.hasElemMatch:
		return mongoerr.Errorf(31256, "Cannot specify positional operator and $elemMatch.")
	case p.filter == nil:
		return unsupported("the projection", name+".$")
	}
	if err := p.filter.checkPositional(); err != nil {
		return err
	}
	if _, err := p.leaf(name, named); err != nil {
		return err
	}
	if err := p.decide(name+".$", true); err != nil {
		return err
	}
	p.positional, p.path = p.filter, splitPath(name)
	return nil
}
