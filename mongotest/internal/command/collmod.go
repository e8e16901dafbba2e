package command

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/call"
	"github.com/holdfast-db/holdfast/mongotest/internal/fields"
	"github.com/holdfast-db/holdfast/mongotest/internal/journal"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
	"github.com/holdfast-db/holdfast/mongotest/internal/store"
)

// https://www.mongodb.com/docs/manual/reference/command/collMod/

// modifier is one thing that a collMod changes of a definition; it may add to the reply.
type modifier func(x *call.Call, d *store.Definition) error

func cmdCollMod(x *call.Call) error {
	if err := x.CollectionName(); err != nil {
		return err
	}
	x.Command.Args = slices.DeleteFunc(x.Command.Args, isNullOption)
	var changes []modifier
	for i := range x.Command.Args {
		c, err := collModField(x, &x.Command.Args[i])
		switch {
		case err != nil:
			return err
		case c != nil:
			changes = append(changes, c)
		}
	}
	note := x.Note(0, nil)
	return x.Writing(func(x call.Locked) error {
		err := modifyCollection(x, x.Client.Member, changes, note)
		if err != nil {
			note.ErrorCode = mongoerr.CodeOf(err)
		}
		return err
	})
}

// collModOptions are the fields of which a null is as good as none.
var collModOptions = []string{
	"index", "validator", "validationLevel", "validationAction", "viewOn", "pipeline", "expireAfterSeconds", "timeseries", "dryRun",
	"cappedSize", "cappedMax", store.ImagesOption,
}

func isNullOption(e wire.Element) bool {
	return (e.Type == bson.TypeNull || e.Type == bson.TypeUndefined) && slices.Contains(collModOptions, string(e.Key))
}

func modifyCollection(x call.Locked, m *call.Member, changes []modifier, note *journal.Entry) error {
	c := m.Data.Collections[x.Command.Full]
	if c == nil {
		return mongoerr.Errorf(mongoerr.NamespaceNotFound, "ns does not exist")
	}
	if err := checkViewChange(x.Call, c); err != nil {
		return err
	}
	after, written := *c.Def, len(x.Result.Out)
	for _, change := range changes {
		if err := change(x.Call, &after); err != nil {
			return err
		}
	}
	if c.IsView() {
		if err := m.Data.Collections.CheckView(x.Command.Full, &after.Options); err != nil {
			return err
		}
		if err := checkViewPipeline(x.Call, &after.Options); err != nil {
			return err
		}
	}
	if x.Arg("dryRun").True() {
		x.Result.Out = x.Result.Out[:written]
		return nil
	}
	asked := &store.Change{Before: c.Def, After: &after, Asked: asked(x.Call)}
	return x.Append(&store.Entry{Op: store.Alter, NS: x.Command.Full, Change: asked}, -1, note)
}

// asked returns the command's arguments.
func asked(x *call.Call) []byte {
	at, dst := wire.BeginDocument(nil)
	for i := range x.Command.Args {
		dst = wire.AppendElement(dst, x.Command.Args[i])
	}
	return wire.EndDocument(dst, at)
}

func collModField(x *call.Call, e *wire.Element) (modifier, error) {
	switch name := string(e.Key); name {
	case "index":
		return indexChange(e)
	case store.ImagesOption:
		if !x.Client.Set.Version.HasImages() {
			return nil, fields.Unknown("collMod", name)
		}
		on, err := store.ParseImages("collMod", query.Of(*e))
		return func(_ *call.Call, d *store.Definition) error {
			d.Options.Images = on
			return nil
		}, err
	case "validator", "validationLevel", "validationAction", "viewOn", "pipeline":
		var o store.Options
		if _, err := o.Read("collMod", e); err != nil {
			return nil, err
		}
		if o.Err != nil {
			return nil, o.Err
		}
		return func(_ *call.Call, d *store.Definition) error {
			_, err := d.Options.Read("collMod", &wire.Element{Type: e.Type, Key: e.Key, Value: e.Value})
			if err == nil && name != "viewOn" && name != "pipeline" {
				d.Options.StateValidation()
			}
			return err
		}, nil
	case "cappedSize", "cappedMax":
		return cappedChange(e)
	case "expireAfterSeconds":
		return expiryChange(query.Of(*e))
	case "timeseries":
		return timeseriesChange(e)
	case "dryRun": // modifyCollection looks at it
		if v := query.Of(*e); v.Type != bson.TypeBoolean && !v.IsNumber() {
			return nil, mongoerr.Errorf(mongoerr.TypeMismatch, "BSON field 'collMod.dryRun' is the wrong type '%s', expected types '[bool, long, int, "+
				"decimal, double]'", query.TypeName(v.Type))
		}
		return nil, nil
	case "recordPreImages":
		return nil, fields.Unsupported("collMod", name)
	default:
		return nil, fields.Unknown("collMod", name)
	}
}

func cappedChange(e *wire.Element) (modifier, error) {
	n, err := store.ParseLimit("collMod", string(e.Key), query.Of(*e))
	size := string(e.Key) == "cappedSize"
	if err == nil && size && n < 1 {
		err = mongoerr.Errorf(mongoerr.BadValue, "BSON field 'cappedSize' value must be >= 1, actual value '%d'", n)
	}
	return func(_ *call.Call, d *store.Definition) error {
		switch {
		case !d.Options.Capped:
			return mongoerr.Errorf(mongoerr.InvalidOptions, "Collection must be capped.")
		case size:
			d.Options.Size = n
		default:
			d.Options.Max = max(n, 0)
		}
		return nil
	}, err
}

// indexModification is what {index: ...} of a collMod says.
type indexModification struct {
	name    query.Value
	pattern []byte
	hidden  query.Value
	expiry  query.Value

	prepared, unique query.Value
}

func indexChange(e *wire.Element) (modifier, error) {
	if e.Document() == nil {
		return nil, fields.WrongType("collMod", "index", e.Type, "object")
	}
	var im indexModification
	it := wire.Elements(e.Value)
	for it.Next() {
		if err := im.field(&it.Element); err != nil {
			return nil, err
		}
	}
	switch {
	case it.Err != nil:
		return nil, it.Err
	case im.name.Missing() && im.pattern == nil:
		return nil, mongoerr.Errorf(mongoerr.InvalidOptions, "Must specify either index name or key pattern.")
	case !im.name.Missing() && im.pattern != nil:
		return nil, mongoerr.Errorf(mongoerr.InvalidOptions, "Cannot specify both key pattern and name.")
	case im.hidden.Missing() && im.expiry.Missing() && im.prepared.Missing() && im.unique.Missing():
		return nil, mongoerr.Errorf(mongoerr.InvalidOptions, "no expireAfterSeconds, hidden, unique, or prepareUnique field")
	}
	return im.apply, nil
}

func (im *indexModification) field(e *wire.Element) error {
	v := query.Of(*e)
	switch name := string(e.Key); name {
	case "name":
		if v.Type != bson.TypeString {
			return fields.WrongType("collMod", "index.name", v.Type, "string")
		}
		im.name = v
	case "keyPattern":
		if im.pattern = e.Document(); im.pattern == nil {
			return fields.WrongType("collMod", "index.keyPattern", v.Type, "object")
		}
	case "hidden":
		if v.Type != bson.TypeBoolean && !v.IsNumber() {
			return fields.WrongType("collMod", "index.hidden", v.Type, "bool")
		}
		im.hidden = v
	case "expireAfterSeconds":
		if !v.IsNumber() {
			return fields.WrongType("collMod", "index.expireAfterSeconds", v.Type, "long")
		}
		if f := v.AsFloat64(); !(f >= 0) || f > 1<<31-1 {
			return mongoerr.Errorf(mongoerr.InvalidOptions,
				"TTL index 'expireAfterSeconds' option must be within an acceptable range, try a different number than '%s'.", v)
		}
		im.expiry = v
	case "unique", "prepareUnique":
		if v.Type != bson.TypeBoolean && !v.IsNumber() {
			return fields.WrongType("collMod", "index."+name, v.Type, "bool")
		}
		if name == "unique" {
			im.unique = v
		} else {
			im.prepared = v
		}
	case "forceNonUnique":
		return fields.Unsupported("collMod.index", name)
	default:
		return fields.Unknown("collMod.index", name)
	}
	return nil
}

// find returns the index that is meant.
func (im *indexModification) find(x *call.Call, d *store.Definition) (*store.Index, error) {
	if im.pattern == nil {
		if ix := d.Named(string(im.name.Text())); ix != nil {
			return ix, nil
		}
		return nil, mongoerr.Errorf(mongoerr.IndexNotFound, "cannot find index %s for ns %s", im.name.Text(), x.Command.Full)
	}
	switch list := d.Patterned(im.pattern); len(list) {
	case 0:
		return nil, mongoerr.Errorf(mongoerr.IndexNotFound, "cannot find index %s for ns %s", query.DocumentText(im.pattern), x.Command.Full)
	case 1:
		return list[0], nil
	default:
		return nil, mongoerr.Errorf(mongoerr.AmbiguousIndexKeyPattern, "index keyPattern %s matches %d indexes, must use index name. Conflicting "+
			"indexes: %s", query.DocumentText(im.pattern), len(list), store.IndexTexts(list))
	}
}

// apply replaces the index that is meant by a changed one, and writes the old and the new settings into the reply.
func (im *indexModification) apply(x *call.Call, d *store.Definition) error {
	ix, err := im.find(x, d)
	if err != nil {
		return err
	}
	changed := *ix
	if !im.expiry.Missing() {
		old := query.Lookup(ix.Raw, "expireAfterSeconds")
		if !old.Missing() {
			n, _ := old.Integer()
			x.Result.Out = wire.AppendInt64(x.Result.Out, "expireAfterSeconds_old", n)
		} else if len(ix.Paths) > 1 || ix.OfID {
			return mongoerr.Errorf(mongoerr.InvalidOptions, "TTL indexes are single-field indexes, compound indexes do not support TTL.")
		}
		x.Result.Out = wire.AppendInt64(x.Result.Out, "expireAfterSeconds_new", im.expiry.Clamped())
		changed.Raw = replaced(changed.Raw, "expireAfterSeconds", query.Int32(int32(im.expiry.Clamped32())))
	}
	if hide := im.hidden.True(); !im.hidden.Missing() && hide != ix.Hidden {
		if ix.OfID {
			return mongoerr.Errorf(mongoerr.BadValue, "can't hide _id index")
		}
		x.Result.Out = wire.AppendBool(x.Result.Out, "hidden_old", ix.Hidden)
		x.Result.Out = wire.AppendBool(x.Result.Out, "hidden_new", hide)
		changed.Hidden = hide
		truth := query.Value{}
		if hide {
			truth = trueValue
		}
		changed.Raw = replaced(changed.Raw, "hidden", truth)
	}
	if err := im.prepare(x, ix, &changed); err != nil {
		return err
	}
	if err := im.makeUnique(x, ix, &changed); err != nil {
		return err
	}
	d.Indexes = slices.Clone(d.Indexes)
	d.Indexes[slices.Index(d.Indexes, ix)] = &changed
	return nil
}

// replaced returns a document with another value of a field, or without it if the value is missing.
func replaced(doc []byte, field string, v query.Value) []byte {
	at, dst := wire.BeginDocument(nil)
	it := wire.Elements(doc)
	done := v.Missing()
	for it.Next() {
		switch {
		case string(it.Key) != field:
			dst = wire.AppendElement(dst, it.Element)
		case !done:
			dst, done = wire.AppendValue(dst, field, v.Type, v.Data), true
		}
	}
	if !done {
		dst = wire.AppendValue(dst, field, v.Type, v.Data)
	}
	return wire.EndDocument(dst, at)
}
