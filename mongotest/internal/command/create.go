package command

import (
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/call"
	"github.com/holdfast-db/holdfast/mongotest/internal/fields"
	"github.com/holdfast-db/holdfast/mongotest/internal/journal"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
	"github.com/holdfast-db/holdfast/mongotest/internal/store"
)

// https://www.mongodb.com/docs/manual/reference/command/create/

func cmdCreate(x *call.Call) error {
	if err := x.CollectionName(); err != nil {
		return err
	}
	if strings.HasPrefix(x.Command.Coll, "system.buckets.") && x.Client.Set.Version.AtLeast(9, 0) {
		return mongoerr.Errorf(12392800, "Creation of a legacy system.buckets timeseries collection '%s' is not allowed when viewless timeseries "+
			"feature flag is enabled", x.Command.Full)
	}
	if err := call.CheckSystemName(x.Command.DB, x.Command.Coll); err != nil {
		return err
	}
	var o store.Options
	for i := range x.Command.Args {
		known, err := optionField(x, &o, &x.Command.Args[i])
		if !known {
			err = createField(x, &x.Command.Args[i])
		}
		if err != nil {
			return err
		}
	}
	idIndex := x.Arg("idIndex")
	if o.ViewOn != "" && !idIndex.Missing() {
		return mongoerr.Errorf(mongoerr.InvalidOptions, "'idIndex' is not allowed with 'viewOn': %s", idIndex)
	}
	if err := o.Check(); err != nil {
		return err
	}
	if o.Uncollated != nil && !idIndex.Missing() {
		return o.Uncollated
	}
	if err := call.CheckIDCollation(idIndex.Data, o.Collation); err != nil {
		return err
	}
	if err := o.Timeseries.CheckWith(x.Command.Full, &o); err != nil {
		return err
	}
	note := x.Note(0, nil)
	return x.Writing(func(x call.Locked) error {
		err := create(x, &o, note)
		if err != nil {
			note.ErrorCode = mongoerr.CodeOf(err)
		}
		return err
	})
}

// optionField reads an option that is enforced; found says whether it was one of these that the version has.
func optionField(x *call.Call, o *store.Options, e *wire.Element) (found bool, err error) {
	if string(e.Key) == store.ImagesOption && !x.Client.Set.Version.HasImages() {
		return false, nil
	}
	switch v := query.Of(*e); string(e.Key) {
	case "clusteredIndex":
		if x.Client.Set.Version.AtLeast(5, 3) {
			if o.Unclustered = (v.Type == bson.TypeBoolean || v.IsNumber()) && !v.True(); !o.Unclustered {
				o.Clustered, err = store.ParseClustered(v)
			}
			return true, err
		}
	case "timeseries":
		if x.Client.Set.Version.AtLeast(5, 0) {
			if o.Timeseries, err = store.ParseTimeseries(v, fixesBuckets(x)); err == nil {
				err = o.Timeseries.Check()
			}
			return true, err
		}
	case "storageEngine":
		o.Engines = slices.Clone(e.Value)
		return true, nil
	case "indexOptionDefaults":
		o.IndexDefaults, err = store.ParseIndexDefaults(e.Value)
		return true, err
	case "expireAfterSeconds":
		o.Expires, _ = e.Int64()
		o.Expiring = true
		return true, nil
	}
	return o.Read(x.Command.Name, e)
}

// fixesBuckets reports whether time-series collections have fixedBucketing.
func fixesBuckets(x *call.Call) bool { return x.Client.Set.Version.AtLeast(9, 0) }

func create(x call.Locked, o *store.Options, note *journal.Entry) error {
	c, err := x.Lookup(x.Command.Full)
	if err != nil {
		return err
	}
	if c != nil {
		return alreadyThere(x.Call, c.Def, o)
	}
	if o.Err != nil {
		return o.Err
	}
	def, err := store.DefinitionOf(*o)
	if err != nil {
		return err
	}
	if x.Command.Coll == store.ProfileName {
		def.Indexes = nil // the real server's has no index, and its documents have no _id
	}
	if o.ViewOn != "" {
		if strings.HasPrefix(x.Command.Coll, call.SystemPrefix) {
			return mongoerr.Errorf(mongoerr.InvalidNamespace, "View name cannot start with 'system.', which is reserved for system namespaces")
		}
		if err := checkViewPipeline(x.Call, o); err != nil {
			return err
		}
		if err := x.Client.Member.Data.Collections.CheckView(x.Command.Full, o); err != nil {
			return err
		}
	}
	x.Client.Member.Data.Collate(o)
	err = x.Append(&store.Entry{Op: store.Create, NS: x.Command.Full, Change: &store.Change{After: def}}, -1, note)
	if o.Timeseries != nil {
		return inNewDatabase("Failed to create timeseries collection", err)
	}
	return err
}

// inNewDatabase says in the error of a database that cannot be made what it was to be made for.
func inNewDatabase(what string, err error) error {
	if err == nil || mongoerr.CodeOf(err) != mongoerr.DatabaseDifferCase {
		return err
	}
	return mongoerr.Because(what, err)
}

// createField reads what create has beside the options that are enforced.
func createField(x *call.Call, e *wire.Element) error {
	switch string(e.Key) {
	case "autoIndexId":
		if x.Client.Set.Version.AtLeast(9, 0) {
			return fields.Unknown("create", "autoIndexId")
		}
		return nil
	case "idIndex":
		return call.CheckIDIndex(e.Value)
	case "flags": // of which nothing is seen
		return nil
	case "temp":
		if e.True() {
			return fields.Unsupported("create", "temp")
		}
		return nil
	}
	return fields.Unsupported("create", string(e.Key))
}

// alreadyThere returns why a collection cannot be created again. Since 7.0 it can if it is as it should be, but in no transaction.
func alreadyThere(x *call.Call, d *store.Definition, wanted *store.Options) error {
	if x.Result.Within != nil || !x.Client.Set.Version.AtLeast(7, 0) {
		return mongoerr.Errorf(mongoerr.NamespaceExists, "Collection already exists. NS: %s", x.Command.Full)
	}
	if err := otherView(x, &d.Options, wanted); err != nil {
		return err
	}
	if wanted.Timeseries != nil && d.Options.Timeseries == nil {
		return mongoerr.Errorf(mongoerr.NamespaceExists, "namespace '%s' already exists, but is not a timeseries collection", x.Command.Full)
	}
	if err := wanted.Timeseries.CheckSpans(); err != nil {
		return err
	}
	if wanted.Uncollated != nil && d.Options.SameButForCollation(wanted) {
		return wanted.Uncollated
	}
	has, want := d.Options.Shown(), wanted.Requested()
	if query.EqualDocuments(has, wanted.Shown()) {
		return nil
	}
	at, doc := wire.BeginDocument(nil)
	if d.Options.Timeseries == nil || wanted.Timeseries == nil {
		doc = wire.AppendBinary(doc, "uuid", 4, d.UUID[:])
	}
	if d.Options.Timeseries != nil && wanted.Timeseries == nil {
		doc = wire.AppendBool(doc, "clusteredIndex", true)
	}
	doc = wire.EndDocument(append(doc, has[4:len(has)-1]...), at)
	return mongoerr.Errorf(mongoerr.NamespaceExists, "namespace '%s' already exists, but with different options: %s, requested: %s", x.Command.Full,
		query.DocumentText(doc), query.DocumentText(want))
}
