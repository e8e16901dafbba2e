package mongotest

import (
	"encoding/binary"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongo/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongo/mongotest/internal/query"
)

// https://www.mongodb.com/docs/manual/reference/operator/aggregation/changeStream/

// streamSpec is what a $changeStream says.
type streamSpec struct {
	fullDocument string
	before       string // fullDocumentBeforeChange
	resumeAfter  *resumeToken
	startAfter   *resumeToken
	startAt      timestamp // startAtOperationTime, 0 if not given
	cluster      bool      // allChangesForCluster
	expanded     bool      // showExpandedEvents
}

// streamOption is one option of $changeStream.
type streamOption struct {
	since version
	set   func(s *streamSpec, e *wire.Element) error
}

// streamOptions are the options by name. It is never written to.
var streamOptions = map[string]streamOption{
	"fullDocument": {version{3, 6, 0}, func(s *streamSpec, e *wire.Element) (err error) {
		s.fullDocument, err = streamMode(e, "default", "updateLookup", "whenAvailable", "required")
		return err
	}},
	"fullDocumentBeforeChange": {version{6, 0, 0}, func(s *streamSpec, e *wire.Element) (err error) {
		s.before, err = streamMode(e, "off", "whenAvailable", "required")
		return err
	}},
	"resumeAfter": {version{3, 6, 0}, func(s *streamSpec, e *wire.Element) (err error) {
		s.resumeAfter, err = tokenArg(e)
		return err
	}},
	"startAfter": {version{4, 2, 0}, func(s *streamSpec, e *wire.Element) (err error) {
		s.startAfter, err = tokenArg(e)
		return err
	}},
	"startAtOperationTime": {version{4, 0, 0}, func(s *streamSpec, e *wire.Element) error {
		if e.Type != bson.TypeTimestamp {
			return wrongType(changeStreamStage, string(e.Key), e.Type, "timestamp")
		}
		s.startAt = timestamp(binary.LittleEndian.Uint64(e.Value))
		return nil
	}},
	"allChangesForCluster": {version{4, 0, 0}, func(s *streamSpec, e *wire.Element) (err error) {
		s.cluster, err = flagArg(e)
		return err
	}},
	"showExpandedEvents": {version{6, 0, 0}, func(s *streamSpec, e *wire.Element) (err error) {
		s.expanded, err = flagArg(e)
		return err
	}},
	"showMigrationEvents":      {version{4, 0, 0}, unsupportedStreamFlag},
	"allowToRunOnConfigDB":     {version{4, 4, 0}, unsupportedStreamFlag},
	"allowToRunOnSystemNS":     {version{6, 0, 0}, unsupportedStreamFlag},
	"showSystemEvents":         {version{6, 0, 0}, unsupportedStreamFlag},
	"showRawUpdateDescription": {version{6, 0, 0}, unsupportedStreamFlag},
}

// unsupportedStreamFlag takes an option of the real server's that may only be off.
func unsupportedStreamFlag(_ *streamSpec, e *wire.Element) error {
	on, err := flagArg(e)
	if on {
		return unsupportedField(changeStreamStage, string(e.Key))
	}
	return err
}

func streamMode(e *wire.Element, known ...string) (string, error) {
	if e.Type != bson.TypeString {
		return "", wrongType(changeStreamStage, string(e.Key), e.Type, "string")
	}
	mode := string(e.Text())
	if !slices.Contains(known, mode) {
		return "", mongoerr.Errorf(mongoerr.BadValue, "Enumeration value '%s' for field '%s.%s' is not a valid value.", mode, changeStreamStage, e.Key)
	}
	return mode, nil
}

func tokenArg(e *wire.Element) (*resumeToken, error) {
	if e.Document() == nil {
		return nil, wrongType(changeStreamStage, string(e.Key), e.Type, "object")
	}
	return parseToken(e.Document())
}

// parseStream reads the options of a $changeStream that the version has.
func (v version) parseStream(spec query.Value) (*streamSpec, error) {
	s := &streamSpec{fullDocument: "default", before: "off"}
	it := wire.Elements(spec.Data)
	for it.Next() {
		option, ok := streamOptions[string(it.Key)]
		if !ok || !v.hasFrom(option.since) {
			return nil, unknownField(changeStreamStage, string(it.Key))
		}
		if err := option.set(s, &it.Element); err != nil {
			return nil, err
		}
	}
	return s, it.Err
}

// start returns the token behind which the stream begins, nil if the client gave none.
func (s *streamSpec) start() *resumeToken {
	if s.resumeAfter != nil {
		return s.resumeAfter
	}
	return s.startAfter
}

// check tells why the stream may not be opened where the command wants to, nil if it may.
func (s *streamSpec) check(x *exec) error {
	token, full := s.start(), x.full
	switch {
	case x.set.config.standalone:
		return mongoerr.Errorf(40573, "The $changeStream stage is only supported on replica sets")
	case x.inTransaction():
		return mongoerr.Errorf(mongoerr.OperationNotSupportedInTransaction, "Stage not supported inside of a multi-document transaction: $changeStream")
	case x.readConcern != "" && x.readConcern != majorityConcern:
		return mongoerr.Errorf(mongoerr.InvalidOptions, "Command aggregate does not support { readConcern: { level: \"%s\", provenance: "+
			"\"clientSupplied\" } } :: caused by :: Aggregation stage $changeStream cannot run with a readConcern other than 'majority'. "+
			"Current readConcern: %s", x.readConcern, x.readConcern)
	case s.cluster && (x.db != "admin" || x.coll != ""):
		return mongoerr.Errorf(mongoerr.InvalidOptions, "A $changeStream with 'allChangesForCluster:true' may only be opened on the 'admin' database, and "+
			"with no collection name; found %s", full)
	case internalDB(x.db) && !s.cluster:
		return mongoerr.Errorf(mongoerr.InvalidNamespace, "$changeStream may not be opened on the internal %s database", x.db)
	case strings.HasPrefix(x.coll, "system."):
		return mongoerr.Errorf(mongoerr.InvalidNamespace, "$changeStream may not be opened on the internal %s collection", full)
	case s.resumeAfter != nil && s.startAfter != nil:
		return mongoerr.Errorf(50865, "Do not specify both 'resumeAfter' and 'startAfter' in a $changeStream stage")
	case s.startAt != 0 && token != nil:
		return mongoerr.Errorf(40674, "Only one type of resume option is allowed, but multiple were found")
	case s.resumeAfter != nil && token.invalidate:
		return mongoerr.Errorf(mongoerr.InvalidResumeToken, "Attempting to resume a change stream using 'resumeAfter' is not allowed from an invalidate "+
			"notification")
	case token != nil && token.event && token.collection == (uuid{}) && x.coll != "":
		return mongoerr.Errorf(mongoerr.InvalidResumeToken, "Attempted to resume a single-collection stream, but the resume token does not include a UUID")
	}
	return nil
}

// internalDB tells whether a database is the server's own.
func internalDB(name string) bool { return name == "admin" || name == "config" || name == "local" }
