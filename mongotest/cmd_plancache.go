package mongotest

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/planfilter"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
	"github.com/holdfast-db/holdfast/mongotest/internal/store"
)

// https://www.mongodb.com/docs/manual/reference/command/planCacheClear/

// This server caches no plans, so there is nothing to clear.
func cmdPlanCacheClear(x *call) error {
	c, err := x.plannedCollection()
	if err == nil && c != nil {
		_, err = x.clearedShape()
	}
	return err
}

// https://www.mongodb.com/docs/manual/reference/command/planCacheListFilters/

func cmdPlanCacheListFilters(x *call) error {
	c, err := x.filteredCollection()
	if err != nil {
		return err
	}
	x.client.set.Lock()
	defer x.client.set.Unlock()
	var list planfilter.Filters
	if c != nil {
		list = x.client.member.planFilters[c.Def.UUID]
	}
	x.result.out = list.Append(x.result.out)
	return nil
}

// https://www.mongodb.com/docs/manual/reference/command/planCacheSetFilter/

func cmdPlanCacheSetFilter(x *call) error {
	c, err := x.filteredCollection()
	switch {
	case err != nil:
		return err
	case c == nil:
		return mongoerr.Errorf(mongoerr.BadValue, "no such collection")
	}
	indexes, err := planfilter.ReadIndexes(x.arg("indexes"))
	if err != nil {
		return err
	}
	q, err := x.shapedQuery()
	if err != nil {
		return err
	}
	x.client.set.Lock()
	defer x.client.set.Unlock()
	all := x.client.member.planFilters
	all[c.Def.UUID] = all[c.Def.UUID].Set(planfilter.Filter{Query: *q, Indexes: indexes})
	return nil
}

// https://www.mongodb.com/docs/manual/reference/command/planCacheClearFilters/

func cmdPlanCacheClearFilters(x *call) error {
	c, err := x.filteredCollection()
	if err != nil || c == nil {
		return err
	}
	q, err := x.clearedShape()
	if err != nil {
		return err
	}
	x.client.set.Lock()
	defer x.client.set.Unlock()
	all := x.client.member.planFilters
	if q == nil {
		delete(all, c.Def.UUID)
	} else {
		all[c.Def.UUID] = all[c.Def.UUID].Without(q)
	}
	return nil
}

// filteredCollection returns the collection whose index filters the command is about, nil if there is none.
func (x *call) filteredCollection() (*store.Collection, error) {
	if x.command.first.Type == bson.TypeString && len(x.command.first.Text()) == 0 {
		return nil, mongoerr.Errorf(mongoerr.InvalidNamespace, "Invalid namespace specified '%s'", x.command.db)
	}
	return x.plannedCollection()
}

// plannedCollection returns the collection whose plans the command is about, nil if there is none.
func (x *call) plannedCollection() (*store.Collection, error) {
	if err := x.collectionName(); err != nil {
		return nil, err
	}
	if err := x.reading(); err != nil {
		return nil, err
	}
	defer x.client.set.Unlock()
	c, err := x.lookupLocked(x.command.full)
	if c.IsView() {
		return nil, store.NotOnView(x.command.full)
	}
	return c, err
}

// clearedShape reads the query of a command that clears what belongs to it, nil if the command clears everything.
func (x *call) clearedShape() (*planfilter.Query, error) {
	sort, projection, collation := x.arg("sort"), x.arg("projection"), x.arg("collation")
	switch q := x.arg("query"); {
	case !q.Missing():
		return x.shapedQuery()
	case !sort.Missing() || !projection.Missing() || !collation.Missing():
		return nil, mongoerr.Errorf(mongoerr.BadValue, "sort, projection, or collation provided without query")
	}
	return nil, nil
}

// shapedQuery reads a query as a find of it would.
func (x *call) shapedQuery() (*planfilter.Query, error) {
	filter, sort, projection, own := x.arg("query"), x.arg("sort"), x.arg("projection"), x.arg("collation")
	switch {
	case filter.Missing():
		return nil, mongoerr.Errorf(mongoerr.BadValue, "required field query missing")
	case !filter.IsDocument():
		return nil, mongoerr.Errorf(mongoerr.BadValue, "required field query must be an object")
	}
	for _, name := range []string{"sort", "projection", "collation"} {
		if v := x.arg(name); !v.Missing() && !v.IsDocument() {
			return nil, mongoerr.Errorf(mongoerr.BadValue, "optional field %s must be an object", name)
		}
	}
	if own.IsDocument() && len(own.Data) <= len(query.EmptyDocument) {
		return nil, mongoerr.Errorf(mongoerr.BadValue, "optional field collation cannot be an empty object")
	}
	return x.compiledShape(filter, sort, projection, own)
}

// compiledShape refuses a query that a find would refuse.
func (x *call) compiledShape(filter, sort, projection, own query.Value) (*planfilter.Query, error) {
	var s search
	if !own.Missing() {
		if err := s.parseCollation(&wire.Element{Type: own.Type, Value: own.Data}); err != nil {
			return nil, err
		}
	}
	if !sort.Missing() {
		if err := s.parseSort(sort.Data); err != nil {
			return nil, err
		}
	}
	if err := query.CheckDocument(filter.Data); err != nil {
		return nil, err
	}
	if err := s.compileFind(x, filter.Data, projection); err != nil {
		return nil, err
	}
	return &planfilter.Query{Filter: filter.Data, Sort: sort.Data, Projection: projection.Data, Collation: s.collation.Shown()}, nil
}
