package explain

import (
	"fmt"
	"hash/crc32"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
	"github.com/holdfast-db/holdfast/mongotest/internal/store"
)

const trueType = bson.TypeBoolean

// Verbosity is how much explain tells.
type Verbosity uint8

// The verbosities.
const (
	Planner Verbosity = iota
	Stats
	AllPlans
)

// Plan is the plan of a query that has been run.
type Plan struct {
	query     *Query
	condition *condition // nil where the plan was found without one
	root      stage
	all       []*trial
	subplan   bool
	returned  int32
}

// New finds the plan of a query and runs it.
func New(q *Query) (*Plan, error) {
	p, err := newPlanner(q)
	if err != nil {
		return nil, err
	}
	plan := &Plan{query: q, condition: p.condition}
	p.choose(plan)
	for p.failed == nil {
		st, _ := work(plan.root)
		if st == ended {
			break
		}
		if st == advanced {
			plan.returned++
		}
	}
	return plan, p.failed
}

func newPlanner(q *Query) (*planner, error) {
	p := &planner{Query: q, condition: parseFilter(q.Filter, q.Match)}
	if len(q.Sort) > 0 {
		if err := p.readSort(); err != nil {
			return nil, err
		}
	}
	for i, ix := range q.Indexes {
		x := q.newIndex(i)
		if ix.OfID {
			p.ofID = x
		}
		if q.Permits == nil || q.Permits(ix) {
			p.indexes = append(p.indexes, x)
		}
	}
	return p, nil
}

func (p *planner) readSort() (err error) {
	for it := wire.Elements(p.Sort); it.Next(); {
		f := sortField{string(it.Key), 1}
		if query.Of(it.Element).AsFloat64() < 0 {
			f.sign = -1
		}
		p.sort = append(p.sort, f)
	}
	if len(p.sort) > 0 {
		p.compare, err = p.Compare(p.Sort)
	}
	return err
}

// choose settles the plan.
func (p *planner) choose(plan *Plan) {
	if p.Search != nil {
		plan.root = p.ending(p.searched())
		return
	}
	if p.simple(plan) {
		return
	}
	var all []*trial
	if plan.root = p.distinct(); plan.root == nil {
		all = p.compete(p.candidates(p.condition))
		plan.root = all[0].stage
	}
	if len(all) > 1 {
		plan.all = all
		plan.root = &chosen{plan.root, all[0].results}
	}
	if p.byParts() {
		plan.subplan, plan.root = true, &subplan{withInput{input: plan.root}}
	}
	plan.root = p.ending(plan.root)
}

// simple settles plans that need no choice.
func (p *planner) simple(plan *Plan) bool {
	id, only := byID(p.condition)
	switch {
	case !p.Exists && (p.Kind == Update || p.Kind == Delete):
		plan.root, plan.condition = &nothing{reason: "nonExistentNamespace"}, nil
	case !p.Exists:
		plan.root = p.ending(&nothing{reason: "nonExistentNamespace"})
		if p.Kind == Count {
			plan.condition = nil
		}
	case p.Kind == Count && everything(p.condition) && p.Index == nil && p.Natural == 0:
		plan.root, plan.condition = newFastCount(p.Query), nil
	case p.condition.op == "$alwaysFalse":
		plan.root = p.ending(&nothing{reason: "predicateEvalsToFalse"})
	case only && p.looksUp(id):
		plan.root = p.lookup(id)
		if p.Kind == Update || p.Kind == Delete {
			plan.condition = nil
		}
	case p.Express && p.Kind == Find && p.looksUpOne():
		plan.root = p.lookupOne()
	default:
		return false
	}
	return true
}

// looksUp reports whether the _id is looked up without a plan.
func (p *planner) looksUp(id query.Value) bool {
	plain := p.Index == nil && p.Natural == 0 && p.Skip == 0 && !p.ReturnKey && !p.RecordID
	return plain && (!p.Collated || !id.IsString() && !id.IsDocument()) && p.ofID != nil
}

func (p *planner) lookup(id query.Value) stage {
	var found *store.Record
	for _, r := range p.Records {
		if query.Compare(query.Lookup(r.Doc, "_id"), id) == 0 {
			found = r
		}
	}
	simple := p.Kind == Distinct || p.Kind == Find && (p.Projection == nil || projectionKind(p.Projection) == "PROJECTION_SIMPLE") ||
		(p.Kind == Update || p.Kind == Delete) && !p.Upsert && p.Projection == nil
	if !p.Express || !simple {
		return p.ending(p.projected(&lookup{record: found}, false))
	}
	return &direct{kind: p.Kind, index: p.ofID, projection: p.Projection, record: found, returns: p.Returns}
}

// looksUpOne reports whether at most one document is looked up in an index, by the value of its first field.
func (p *planner) looksUpOne() bool { return p.oneIndex() != nil }

// oneIndex returns the index for that, nil for none.
func (p *planner) oneIndex() *index {
	c := p.condition
	if c.op != "$eq" || c.value.IsArray() || c.value.IsNullish() || p.Index != nil || p.Natural != 0 || p.Skip > 0 || p.ReturnKey || p.RecordID ||
		len(p.sort) > 0 || p.Projection != nil && projectionKind(p.Projection) != "PROJECTION_SIMPLE" {
		return nil
	}
	var found *index
	for _, x := range p.indexes {
		f := &x.fields[0]
		if !x.serves(c) || f.path != c.path || !f.comparable(c.value) || x.multikey {
			continue
		}
		if p.Limit != 1 && (len(x.fields) > 1 || !x.Unique) {
			continue
		}
		if found == nil || len(x.fields) < len(found.fields) {
			found = x
		}
	}
	return found
}

func (p *planner) lookupOne() stage {
	d := &direct{kind: Find, index: p.oneIndex(), projection: p.Projection}
	for _, e := range d.index.keys(p.Records) {
		if d.record == nil && query.Compare(e.key[0], p.condition.value) == 0 {
			d.record = e.record
		}
	}
	return d
}

// distinct returns the plan of a distinct that reads each value once, nil if there is none.
func (p *planner) distinct() stage {
	if p.Kind != Distinct || p.Index != nil || p.Natural != 0 {
		return nil
	}
	for _, x := range p.indexes {
		at := slices.IndexFunc(x.fields, func(f indexField) bool { return f.path == p.Key && f.collated })
		if at < 0 || !x.serves(p.condition) || !x.complete() && everything(p.condition) ||
			x.multikey && (p.Grouped || !everything(p.condition)) {
			continue
		}
		c := p.scan(x, p.condition, nil)
		if everything(p.condition) && at == 0 {
			c = p.wholeIndex(x, nil)
		}
		if c == nil || c.document != nil || c.key != nil {
			continue
		}
		by := document(func(dst []byte) []byte {
			if p.Key != "_id" {
				dst = wire.AppendInt32(dst, "_id", 0)
			}
			return wire.AppendInt32(dst, p.Key, 1)
		})
		s := newIndexScan(*c.scan, nil, p.Query, p.shownNS())
		s.single = false // the key behind the last one is looked at
		return &projecting{withInput{input: &distinctScan{s, at}}, "PROJECTION_COVERED", by}
	}
	return nil
}

// ending puts around a search what the command does with its results.
func (p *planner) ending(s stage) stage {
	switch p.Kind {
	case Count:
		return &counting{withInput: withInput{input: s}, skip: p.Skip, most: p.Limit}
	case Update, Delete:
		var w stage = &writing{withInput: withInput{input: s}, Query: p.Query}
		if p.Projection != nil {
			w = &projecting{withInput{input: w}, "PROJECTION_DEFAULT", p.Projection}
		}
		return w
	case Find, Distinct:
	}
	return s
}

func emptyBounds(bounds [][]interval) bool {
	return slices.ContainsFunc(bounds, func(list []interval) bool { return len(list) == 0 })
}

// Returned is how many documents the plan found.
func (p *Plan) Returned() int32 { return p.returned }

// shape is a hash of what the plans of queries that differ only in values have in common.
func (p *Plan) shape(more string) string {
	text := append([]byte(more), p.query.Sort...)
	text = append(text, p.query.Projection...)
	return fmt.Sprintf("%08X", crc32.ChecksumIEEE(shapeOf(text, p.condition)))
}

func shapeOf(dst []byte, c *condition) []byte {
	dst = append(dst, c.op+c.path...)
	for _, each := range c.children {
		dst = shapeOf(append(dst, '('), each)
	}
	return append(dst, ')')
}
