package changes

import (
	"encoding/binary"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/fields"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
	"github.com/holdfast-db/holdfast/mongotest/internal/store"
	"github.com/holdfast-db/holdfast/mongotest/internal/version"
)

// https://www.mongodb.com/docs/manual/reference/operator/aggregation/changeStream/

// Stage is the stage that makes a change stream of an aggregation.
const Stage = "$changeStream"

// Spec is the options of a $changeStream.
type Spec struct {
	fullDocument string
	before       string // fullDocumentBeforeChange
	resumeAfter  *token
	startAfter   *token
	startAt      store.Timestamp // startAtOperationTime, 0 if not given
	cluster      bool            // allChangesForCluster
	expanded     bool            // showExpandedEvents
	flaw         error           // of a token, which is not looked at before the stream may be opened
}

// streamOption is one option of $changeStream.
type streamOption struct {
	since version.Version
	set   func(s *Spec, e *wire.Element) error
	flag  bool // null is no value of it; for all others it is as good as no option
}

// streamOptions are the options by name. It is never written to.
var streamOptions = map[string]streamOption{
	"fullDocument": {since: version.Of(3, 6, 0), set: func(s *Spec, e *wire.Element) (err error) {
		s.fullDocument, err = streamMode(e, "default", "updateLookup", "whenAvailable", "required")
		return err
	}},
	"fullDocumentBeforeChange": {since: version.Of(6, 0, 0), set: func(s *Spec, e *wire.Element) (err error) {
		s.before, err = streamMode(e, "off", "whenAvailable", "required")
		return err
	}},
	"resumeAfter": {since: version.Of(3, 6, 0), set: func(s *Spec, e *wire.Element) (err error) {
		s.resumeAfter, err = s.token(e)
		return err
	}},
	"startAfter": {since: version.Of(4, 2, 0), set: func(s *Spec, e *wire.Element) (err error) {
		s.startAfter, err = s.token(e)
		return err
	}},
	"startAtOperationTime": {since: version.Of(4, 0, 0), set: func(s *Spec, e *wire.Element) error {
		if e.Type != bson.TypeTimestamp {
			return fields.WrongType(Stage, string(e.Key), e.Type, "timestamp")
		}
		s.startAt = store.Timestamp(binary.LittleEndian.Uint64(e.Value))
		return nil
	}},
	"allChangesForCluster": {since: version.Of(4, 0, 0), set: func(s *Spec, e *wire.Element) (err error) {
		s.cluster, err = fields.Bool(e)
		return err
	}, flag: true},
	"showExpandedEvents": {since: version.Of(6, 0, 0), set: func(s *Spec, e *wire.Element) (err error) {
		s.expanded, err = fields.Bool(e)
		return err
	}, flag: true},
	"showMigrationEvents":      {since: version.Of(4, 0, 0), set: unsupportedStreamFlag, flag: true},
	"allowToRunOnConfigDB":     {since: version.Of(4, 4, 0), set: unsupportedStreamFlag, flag: true},
	"allowToRunOnSystemNS":     {since: version.Of(6, 0, 0), set: unsupportedStreamFlag, flag: true},
	"showSystemEvents":         {since: version.Of(6, 0, 0), set: unsupportedStreamFlag, flag: true},
	"showRawUpdateDescription": {since: version.Of(6, 0, 0), set: unsupportedStreamFlag, flag: true},
}

// unsupportedStreamFlag takes an option of the real server's that may only be off.
func unsupportedStreamFlag(_ *Spec, e *wire.Element) error {
	on, err := fields.Bool(e)
	if on {
		return fields.Unsupported(Stage, string(e.Key))
	}
	return err
}

func streamMode(e *wire.Element, known ...string) (string, error) {
	if e.Type != bson.TypeString {
		return "", fields.WrongType(Stage, string(e.Key), e.Type, "string")
	}
	mode := string(e.Text())
	if !slices.Contains(known, mode) {
		return "", mongoerr.Errorf(mongoerr.BadValue, "Enumeration value '%s' for field '%s.%s' is not a valid value.", mode, Stage, e.Key)
	}
	return mode, nil
}

// token reads a token. What is wrong with its data is found later.
func (s *Spec) token(e *wire.Element) (t *token, err error) {
	if e.Document() == nil {
		return nil, fields.WrongType(Stage, string(e.Key), e.Type, "object")
	}
	data, err := tokenData(e.Document())
	if err == nil && s.flaw == nil {
		t, s.flaw = parseToken(data)
	}
	return t, err
}

// ParseSpec reads the options of a $changeStream that the version has.
func ParseSpec(v version.Version, spec query.Value) (*Spec, error) {
	s := &Spec{fullDocument: "default", before: "off"}
	it := wire.Elements(spec.Data)
	for it.Next() {
		option, ok := streamOptions[string(it.Key)]
		if !ok || !v.Has(option.since) {
			return nil, fields.Unknown(Stage, string(it.Key))
		}
		if it.Type == bson.TypeNull && !option.flag {
			continue
		}
		if err := option.set(s, &it.Element); err != nil {
			return nil, err
		}
	}
	return s, it.Err
}

// start returns the token behind which the stream begins, nil if the client gave none.
func (s *Spec) start() *token {
	if s.resumeAfter != nil {
		return s.resumeAfter
	}
	return s.startAfter
}

// Check returns why the stream may not be opened on a database or a collection, nil if it may. Splits reports whether large events
// are split.
func (s *Spec) Check(db, coll, full string, splits bool) error {
	token := s.start()
	switch {
	case s.flaw != nil:
		return s.flaw
	case token != nil && token.fragment > 0 && !splits:
		return mongoerr.Errorf(mongoerr.ChangeStreamFatalError,
			"To resume from a split event, the $changeStream pipeline must include a $changeStreamSplitLargeEvent stage")
	case s.cluster && (db != "admin" || coll != ""):
		return mongoerr.Errorf(mongoerr.InvalidOptions,
			"A $changeStream with 'allChangesForCluster:true' may only be opened on the 'admin' database, and "+
				"with no collection name; found %s", full)
	case internalDB(db) && !s.cluster:
		return mongoerr.Errorf(mongoerr.InvalidNamespace, "$changeStream may not be opened on the internal %s database", db)
	case strings.HasPrefix(coll, "system."):
		return mongoerr.Errorf(mongoerr.InvalidNamespace, "$changeStream may not be opened on the internal %s collection", full)
	case s.resumeAfter != nil && s.startAfter != nil:
		return mongoerr.Errorf(50865, "Do not specify both 'resumeAfter' and 'startAfter' in a $changeStream stage")
	case s.startAt != 0 && token != nil:
		return mongoerr.Errorf(40674, "Only one type of resume option is allowed, but multiple were found")
	case s.resumeAfter != nil && token.invalidate:
		return mongoerr.Errorf(mongoerr.InvalidResumeToken,
			"Attempting to resume a change stream using 'resumeAfter' is not allowed from an invalidate "+
				"notification")
	case token != nil && token.event && token.collection == (store.UUID{}) && coll != "":
		return mongoerr.Errorf(mongoerr.InvalidResumeToken,
			"Attempted to resume a single-collection stream, but the resume token does not include a UUID")
	}
	return nil
}

// internalDB reports whether a database is the server's own.
func internalDB(name string) bool { return name == "admin" || name == "config" || name == "local" }
