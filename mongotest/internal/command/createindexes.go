package command

import (
	"fmt"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/call"
	"github.com/holdfast-db/holdfast/mongotest/internal/collation"
	"github.com/holdfast-db/holdfast/mongotest/internal/journal"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
	"github.com/holdfast-db/holdfast/mongotest/internal/store"
)

// https://www.mongodb.com/docs/manual/reference/command/createIndexes/

// indexCreation is a parsed createIndexes, and what came of it.
type indexCreation struct {
	specs   [][]byte
	lenient bool
	wanted  []*store.Index // the specifications, with the collation of the collection where they have none
	quorum  string         // as the reply tells it
	before  int
	after   int
	created bool // the collection was
	there   bool // an index was already
}

func cmdCreateIndexes(x *call.Call) error {
	if err := x.CollectionName(); err != nil {
		return err
	}
	if err := call.CheckSystemName(x.Command.DB, x.Command.Coll); err != nil {
		return err
	}
	c, err := parseIndexCreation(x)
	if err != nil {
		return err
	}
	note := x.Note(0, nil)
	err = x.Writing(func(x call.Locked) error {
		err := createIndexes(x, c, note)
		if err != nil {
			note.ErrorCode = mongoerr.CodeOf(err)
		}
		return err
	})
	if err != nil {
		return err
	}
	appendIndexCreation(x, c)
	return nil
}

func parseIndexCreation(x *call.Call) (*indexCreation, error) {
	c := &indexCreation{}
	var specs []query.Value
	for i := range x.Command.Args {
		e := &x.Command.Args[i]
		switch string(e.Key) {
		case "indexes":
			specs = query.Elements(e.Value)
		case "commitQuorum":
			if err := commitQuorum(x, c, e); err != nil {
				return nil, err
			}
		case "ignoreUnknownIndexOptions":
			c.lenient = e.True()
		}
	}
	for _, v := range specs {
		if err := query.CheckDocument(v.Data); err != nil {
			return nil, err
		}
		spec := slices.Clone(v.Data)
		ix, err := store.ParseIndex(spec, nil, c.lenient)
		if err != nil {
			return nil, err
		}
		if err := x.Command.API.CheckIndex(v.Data); err != nil {
			return nil, err
		}
		c.specs, c.wanted = append(c.specs, spec), append(c.wanted, ix)
	}
	if len(c.wanted) == 0 {
		return nil, mongoerr.Errorf(mongoerr.BadValue, "Must specify at least one index to create")
	}
	return c, nil
}

// commitQuorum checks how many members must be ready to commit the index. Here they always are, for building takes no time.
func commitQuorum(x *call.Call, c *indexCreation, e *wire.Element) error {
	v := query.Of(*e)
	n := v.Clamped()
	switch {
	case e.Type == bson.TypeNull:
		return nil
	case e.Type != bson.TypeString && !v.IsNumber():
		return mongoerr.Errorf(mongoerr.TypeMismatch, "BSON field 'createIndexes.commitQuorum' is the wrong type '%s', expected types '[decimal, "+
			"int, double, string, long]'", query.TypeName(e.Type))
	case v.IsNumber() && (n < 0 || n > 50):
		return mongoerr.Errorf(mongoerr.FailedToParse, "commitQuorum has to be a non-negative number and not greater than 50")
	case x.Client.Set.Standalone:
		return mongoerr.Errorf(mongoerr.BadValue, "Standalones can't specify commitQuorum")
	case v.IsNumber() && n > int64(len(x.Client.Cluster.Members)):
		return mongoerr.Errorf(mongoerr.UnsatisfiableCommitQuorum, "Commit quorum cannot be satisfied with the current replica set configuration")
	case e.Type == bson.TypeString && string(v.Text()) != "majority" && string(v.Text()) != "votingMembers":
		return mongoerr.Errorf(mongoerr.UnknownReplWriteConcern, "No write concern mode named '%s' found in replica set configuration", v.Text())
	}
	c.quorum = string(v.Text())
	return nil
}

func createIndexes(x call.Locked, c *indexCreation, note *journal.Entry) error {
	coll, err := x.Collection(x.Command.Full)
	if err != nil {
		return err
	}
	def := store.NewDefinition()
	if coll != nil {
		def = coll.Def
	}
	if err := c.inherit(def.Options.Collation); err != nil {
		return err
	}
	for _, ix := range c.wanted {
		if ts := def.Options.Timeseries; ts != nil {
			if err := ts.CheckIndex(ix); err != nil {
				return err
			}
		}
	}
	list, err := withWanted(x.Call, c, coll, def)
	if err == nil {
		err = checkBuildable(x.Call, coll, list[len(def.Indexes):])
	}
	if err != nil {
		return err
	}
	c.before, c.after, c.created = def.Built(), def.With(list).Built(), coll == nil
	switch {
	case coll == nil:
		if err := x.Append(&store.Entry{Op: store.Create, NS: x.Command.Full, Change: &store.Change{After: def}}, -1, nil); err != nil {
			return err
		}
	case c.after == c.before:
		return nil
	case x.Result.Within != nil && !x.Result.Within.Created(x.Command.Full):
		return mongoerr.Errorf(mongoerr.OperationNotSupportedInTransaction,
			"Cannot create new indexes on existing collection %s in a multi-document transaction.", x.Command.Full)
	case x.Result.Within != nil && coll.Live > 0:
		return mongoerr.Errorf(mongoerr.OperationNotSupportedInTransaction,
			"Cannot create new indexes on non-empty collection %s in a multi-document "+
				"transaction.", x.Command.Full)
	}
	return x.Append(&store.Entry{Op: store.Alter, NS: x.Command.Full, Change: &store.Change{Before: def, After: def.With(list)}}, -1, note)
}

// inherit gives the wanted indexes without a collation that of the collection.
func (c *indexCreation) inherit(from *collation.Collation) (err error) {
	for i, spec := range c.specs {
		if c.wanted[i], err = store.ParseIndex(spec, from, c.lenient); err != nil {
			return err
		}
	}
	return nil
}

// withWanted returns the indexes of a definition and behind them those that it is to have besides. It looks at the wanted ones
// first beside the indexes that are there, then beside one another.
func withWanted(x *call.Call, c *indexCreation, coll *store.Collection, def *store.Definition) ([]*store.Index, error) {
	c.there = false
	for _, ix := range c.wanted {
		there, err := def.Admits(ix)
		if err != nil {
			return nil, err
		}
		c.there = c.there || there
	}
	list := slices.Clone(def.Indexes)
	for _, ix := range c.wanted {
		exists, err := def.With(list).Admits(ix)
		if err != nil {
			return nil, buildFailed(x, coll, err)
		}
		before, _ := def.Admits(ix)
		switch {
		case !exists:
			list = append(list, ix)
		case before:
		case coll != nil && coll.Live > 0:
			return nil, buildFailed(x, coll, mongoerr.Errorf(mongoerr.OperationFailed,
				"Cannot build two identical indexes. Try again without duplicate indexes."))
		default:
			return nil, buildFailed(x, coll, mongoerr.Errorf(mongoerr.IndexAlreadyExists, "Identical index already exists: %s", ix.Name))
		}
	}
	return list, nil
}

// checkBuildable refuses new indexes that the collection or its documents do not allow.
func checkBuildable(x *call.Call, coll *store.Collection, added []*store.Index) error {
	for _, ix := range added {
		if ix.Flaw != nil && !ix.Late {
			return ix.Flaw
		}
		if err := coll.Buildable(x.Command.Full, ix); err != nil {
			if ix.Flaw != nil && coll != nil && coll.Live > 0 {
				err = mongoerr.Because(fmt.Sprintf("Caught exception during index builder ((None)) initialization on namespace %s (%s). %d index specs "+
					"provided. First index spec: %s", x.Command.Full, coll.Def.UUID, len(added), added[0]), err)
			}
			return buildFailed(x, coll, err)
		}
	}
	return nil
}

// buildFailed says where an index could not be built: in a collection that was made for it nothing was begun.
func buildFailed(x *call.Call, coll *store.Collection, err error) error {
	if coll == nil {
		return err
	}
	if coll.Live == 0 {
		err = mongoerr.Because("index build on empty collection failed: "+coll.Def.UUID.String(), err)
	}
	return mongoerr.Because("Index build failed: "+store.NewUUID().String()+": Collection "+x.Command.Full+" ( "+coll.Def.UUID.String()+" )", err)
}

func appendIndexCreation(x *call.Call, c *indexCreation) {
	dst := wire.AppendInt32(x.Result.Out, "numIndexesBefore", int32(c.before))
	dst = wire.AppendInt32(dst, "numIndexesAfter", int32(c.after))
	if c.before != c.after || c.created {
		dst = wire.AppendBool(dst, "createdCollectionAutomatically", c.created)
	}
	if c.before == c.after {
		x.Result.Out = wire.AppendString(dst, "note", "all indexes already exist")
		return
	}
	if c.quorum == "" {
		c.quorum = "votingMembers"
	}
	if !x.Client.Set.Standalone && x.Client.Set.Version.AtLeast(4, 4) {
		dst = wire.AppendString(dst, "commitQuorum", c.quorum)
	}
	if c.there {
		dst = wire.AppendString(dst, "note", "index already exists")
	}
	x.Result.Out = dst
}
