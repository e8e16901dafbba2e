package command

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/call"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/planfilter"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
	"github.com/holdfast-db/holdfast/mongotest/internal/store"
)

// https://www.mongodb.com/docs/manual/reference/command/planCacheClear/

// This server caches no plans, so there is nothing to clear.
func cmdPlanCacheClear(x *call.Call) error {
	c, err := plannedCollection(x)
	if err == nil && c != nil {
		_, err = clearedShape(x)
	}
	return err
}

// https://www.mongodb.com/docs/manual/reference/command/planCacheListFilters/

func cmdPlanCacheListFilters(x *call.Call) error {
	c, err := filteredCollection(x)
	if err != nil {
		return err
	}
	x.Result.Out = call.WithLock(x, func(x call.Locked) []byte {
		var list planfilter.Filters
		if c != nil {
			list = x.Client.Member.PlanFilters[c.Def.UUID]
		}
		return list.Append(x.Result.Out)
	})
	return nil
}

// https://www.mongodb.com/docs/manual/reference/command/planCacheSetFilter/

func cmdPlanCacheSetFilter(x *call.Call) error {
	c, err := filteredCollection(x)
	switch {
	case err != nil:
		return err
	case c == nil:
		return mongoerr.Errorf(mongoerr.BadValue, "no such collection")
	}
	indexes, err := planfilter.ReadIndexes(x.Arg("indexes"))
	if err != nil {
		return err
	}
	q, err := shapedQuery(x)
	if err != nil {
		return err
	}
	return call.WithLock(x, func(x call.Locked) error {
		all := x.Client.Member.PlanFilters
		all[c.Def.UUID] = all[c.Def.UUID].Set(planfilter.Filter{Query: *q, Indexes: indexes})
		return nil
	})
}

// https://www.mongodb.com/docs/manual/reference/command/planCacheClearFilters/

func cmdPlanCacheClearFilters(x *call.Call) error {
	c, err := filteredCollection(x)
	if err != nil || c == nil {
		return err
	}
	q, err := clearedShape(x)
	if err != nil {
		return err
	}
	return call.WithLock(x, func(x call.Locked) error {
		all := x.Client.Member.PlanFilters
		if q == nil {
			delete(all, c.Def.UUID)
		} else {
			all[c.Def.UUID] = all[c.Def.UUID].Without(q)
		}
		return nil
	})
}

// filteredCollection returns the collection whose index filters the command is about, nil if there is none.
func filteredCollection(x *call.Call) (*store.Collection, error) {
	if x.Command.First.Type == bson.TypeString && len(x.Command.First.Text()) == 0 {
		return nil, mongoerr.Errorf(mongoerr.InvalidNamespace, "Invalid namespace specified '%s'", x.Command.DB)
	}
	return plannedCollection(x)
}

// plannedCollection returns the collection whose plans the command is about, nil if there is none.
func plannedCollection(x *call.Call) (*store.Collection, error) {
	if err := x.CollectionName(); err != nil {
		return nil, err
	}
	return call.ReadValue(x, func(x call.Locked) (*store.Collection, error) {
		c, err := x.Lookup(x.Command.Full)
		if c.IsView() {
			return nil, store.NotOnView(x.Command.Full)
		}
		return c, err
	})
}

// clearedShape reads the query of a command that clears what belongs to it, nil if the command clears everything.
func clearedShape(x *call.Call) (*planfilter.Query, error) {
	sort, projection, collation := x.Arg("sort"), x.Arg("projection"), x.Arg("collation")
	switch q := x.Arg("query"); {
	case !q.Missing():
		return shapedQuery(x)
	case !sort.Missing() || !projection.Missing() || !collation.Missing():
		return nil, mongoerr.Errorf(mongoerr.BadValue, "sort, projection, or collation provided without query")
	}
	return nil, nil
}

// shapedQuery reads a query as a find of it would.
func shapedQuery(x *call.Call) (*planfilter.Query, error) {
	filter, sort, projection, own := x.Arg("query"), x.Arg("sort"), x.Arg("projection"), x.Arg("collation")
	switch {
	case filter.Missing():
		return nil, mongoerr.Errorf(mongoerr.BadValue, "required field query missing")
	case !filter.IsDocument():
		return nil, mongoerr.Errorf(mongoerr.BadValue, "required field query must be an object")
	}
	for _, name := range []string{"sort", "projection", "collation"} {
		if v := x.Arg(name); !v.Missing() && !v.IsDocument() {
			return nil, mongoerr.Errorf(mongoerr.BadValue, "optional field %s must be an object", name)
		}
	}
	if own.IsDocument() && len(own.Data) <= len(query.EmptyDocument) {
		return nil, mongoerr.Errorf(mongoerr.BadValue, "optional field collation cannot be an empty object")
	}
	return compiledShape(x, filter, sort, projection, own)
}

// compiledShape refuses a query that a find would refuse.
func compiledShape(x *call.Call, filter, sort, projection, own query.Value) (*planfilter.Query, error) {
	var s search
	if !own.Missing() {
		if err := s.ParseCollation(&wire.Element{Type: own.Type, Value: own.Data}); err != nil {
			return nil, err
		}
	}
	if !sort.Missing() {
		if err := s.ParseSort(sort.Data); err != nil {
			return nil, err
		}
	}
	if err := query.CheckDocument(filter.Data); err != nil {
		return nil, err
	}
	if err := s.compileFind(x, filter.Data, projection); err != nil {
		return nil, err
	}
	return &planfilter.Query{Filter: filter.Data, Sort: sort.Data, Projection: projection.Data, Collation: s.Collation.Shown()}, nil
}
