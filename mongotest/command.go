package mongotest

import (
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/fields"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
	"github.com/holdfast-db/holdfast/mongotest/internal/stableapi"
	"github.com/holdfast-db/holdfast/mongotest/internal/store"
	"github.com/holdfast-db/holdfast/mongotest/internal/version"
	"github.com/holdfast-db/holdfast/mongotest/internal/writeconcern"
)

// place is which servers have a command, and where those that a mongos takes are executed.
type place uint8

const (
	atShard  place = iota // at a member, also for a mongos
	atServer              // by every server itself
	atMember              // no mongos has it
	atMongos              // no member has it
)

// has reports whether the server has a command.
func (x *call) has(s *spec) bool {
	wrong := atMongos
	if x.client.router != nil {
		wrong = atMember
	}
	return s.place != wrong && x.client.set.Version.Within(s.since, s.gone)
}

// command is a message, and the command that it was parsed to. Its slices lie in the connection's buffer.
type command struct {
	requestID  int32
	flags      wire.MsgFlags
	sequences  []wire.Sequence
	afterApply func() // what a fault does once it is applied

	spec  *spec // nil if there is no such command
	raw   []byte
	name  string
	first query.Value    // the value behind the command's name
	args  []wire.Element // the fields that are not generic
	db    string
	coll  string
	full  string // db.coll

	lsid         []byte
	txn          int64
	hasTxn       bool
	begins       bool // a transaction
	recovers     bool // the outcome of a transaction that another mongos began
	autocommit   autocommit
	secondaryOk  bool
	readMode     string        // of the read preference, empty if there is none
	readTags     []query.Value // the tag sets
	staleness    time.Duration
	readConcern  string          // the level
	concerned    bool            // it has a readConcern
	after        store.Timestamp // afterClusterTime
	atTime       store.Timestamp // atClusterTime
	clusterTime  store.Timestamp // the client's $clusterTime
	writeConcern writeconcern.Concern
	comment      query.Value
	bypass       bool // documents are not validated
	api          stableapi.Fields
	rawData      bool
	maxTime      time.Duration
	timed        bool // it has a maxTimeMS, which may be 0
	stmtIDs      []byte
	stmtID       int32
}

// autocommit is a command's field of that name: absent, false (it is in a transaction), or a value that is not allowed.
type autocommit uint8

const (
	autocommitUnset autocommit = iota
	autocommitOff
	autocommitOn
)

// next returns the command that another message is parsed to. It has room from c, and its namespace, which often is the next one's.
func (c *command) next() command {
	return command{args: c.args[:0], db: c.db, coll: c.coll, full: c.full, stmtID: -1}
}

// parse takes the command apart: what every command may have, and the rest as args.
func (x *call) parse(doc []byte) error {
	c := &x.command
	c.raw = doc
	it := wire.Elements(doc)
	if !it.Next() {
		return it.Err
	}
	if c.spec = specs[string(it.Key)]; c.spec != nil && !x.has(c.spec) {
		c.spec = nil
	}
	if c.spec != nil {
		c.name = c.spec.name
	} else {
		c.name = string(it.Key)
	}
	c.first = query.Of(it.Element)
	hasDB := false
	for it.Next() {
		if string(it.Key) == "$db" {
			hasDB = true
		}
		if err := x.generic(&it.Element); err != nil {
			return err
		}
	}
	switch {
	case it.Err != nil:
		return it.Err
	case !hasDB && x.command.flags&wire.MoreToCome == 0 && len(x.result.out) > 0:
		return mongoerr.Errorf(40571, "OP_MSG requests require a $db argument")
	case c.spec == nil:
		return mongoerr.Errorf(mongoerr.CommandNotFound, "no such command: '%s'", c.name)
	case x.client.user == nil && x.client.cluster.guarded.Load() && !c.spec.greeting && !c.spec.open:
		return mongoerr.Errorf(mongoerr.Unauthorized, "Command %s requires authentication", c.name)
	case !c.comment.Missing():
		if err := checkComment(x.client.set.Version, c.name, c.comment); err != nil {
			return err
		}
	}
	if err := c.api.Check(c.name); err != nil {
		return err
	}
	if err := c.checkRawData(x.client.set.Version); err != nil {
		return err
	}
	if err := c.checkFields(); err != nil {
		return err
	}
	if err := c.api.CheckFields(c.name, c.args); err != nil {
		return err
	}
	if err := x.authorize(); err != nil {
		return err
	}
	if err := x.advanceClusterTime(); err != nil {
		return err
	}
	return x.checkSession()
}

// generic takes an element that every command may have, or adds it to the args.
func (x *call) generic(e *wire.Element) error {
	c := &x.command
	if e.Type == bson.TypeNull && fields.NullIsNone(string(e.Key)) {
		return nil
	}
	switch string(e.Key) {
	case "$db":
		if text := e.Text(); string(text) != c.db {
			if err := checkDatabase(x.client.set.Version, string(text)); err != nil {
				return err
			}
			c.db, c.full = string(text), ""
		}
	case "$readPreference":
		return x.readPreference(e)
	case "lsid":
		return c.session(e)
	case "txnNumber":
		if e.Type != bson.TypeInt64 {
			return fields.WrongType(c.name, "txnNumber", e.Type, "long")
		}
		c.txn, c.hasTxn = query.Of(*e).Integer()
	case "startTransaction":
		if c.begins = e.True(); !c.begins {
			return mongoerr.Errorf(mongoerr.InvalidOptions, "Specifying startTransaction=false is not allowed.")
		}
	case "autocommit":
		if c.autocommit = autocommitOff; e.True() {
			c.autocommit = autocommitOn
		}
	case "stmtId":
		n, _ := e.Int64()
		c.stmtID = int32(n)
	case "stmtIds":
		c.stmtIDs = e.Array()
	default:
		return c.genericOption(e, x.client.set.Version)
	}
	return nil
}

// genericOption takes an element that says how every command may be executed, or adds it to the args.
func (c *command) genericOption(e *wire.Element, v version.Version) error {
	switch string(e.Key) {
	case "readConcern":
		return c.parseReadConcern(e)
	case "writeConcern":
		doc, err := c.genericDocument(e)
		if doc == nil {
			return err
		}
		return c.writeConcern.Parse(doc, v)
	case "comment":
		c.comment = query.Of(*e)
	case "maxTimeMS":
		return c.parseMaxTime(e)
	case "apiVersion", "apiStrict", "apiDeprecationErrors":
		return c.api.Read(c.name, e)
	case "rawData":
		return c.rawDataField(e)
	case "$clusterTime":
		return c.clusterTimeField(e)
	case "$configServerState", "$audit", "$client",
		"mayBypassWriteBlocking", "$configTime", "$topologyTime":
	default:
		c.args = append(c.args, *e)
	}
	return nil
}

// checkSession refuses what a session's fields must not say.
func (x *call) checkSession() error {
	c := &x.command
	switch {
	case c.autocommit != autocommitUnset && !c.hasTxn:
		return mongoerr.Errorf(mongoerr.InvalidOptions, "'autocommit' field requires a transaction number to also be specified")
	case c.autocommit == autocommitOn:
		return mongoerr.Errorf(mongoerr.InvalidOptions, "Specifying autocommit=true is not allowed.")
	case c.begins && c.autocommit == autocommitUnset:
		return mongoerr.Errorf(mongoerr.InvalidOptions, "'startTransaction' field requires 'autocommit' field to also be specified")
	case c.readConcern == snapshotConcern && x.client.set.Standalone:
		return mongoerr.Errorf(mongoerr.NotAReplicaSet, "node needs to be a replica set member to use read concern")
	case c.readConcern == snapshotConcern && c.autocommit == autocommitUnset && (!c.spec.snapshots || !x.client.set.Version.AtLeast(5, 0)):
		return mongoerr.Errorf(mongoerr.InvalidOptions, "Command %s does not support { readConcern: { level: \"snapshot\", provenance: "+
			"\"clientSupplied\" } } :: caused by :: read concern not supported", c.name)
	case c.readConcern == linearizableConcern && c.autocommit == autocommitUnset:
		return x.checkLinearizable()
	case !c.hasTxn:
		return nil
	case c.lsid == nil:
		return mongoerr.Errorf(mongoerr.InvalidOptions, "Transaction number requires a session ID to also be specified")
	case x.client.set.Standalone:
		return mongoerr.Errorf(mongoerr.IllegalOperation, "Transaction numbers are only allowed on a replica set member or mongos")
	case c.txn < 0:
		return mongoerr.Errorf(mongoerr.InvalidOptions, "Transaction number cannot be negative")
	case x.inTransaction():
		return x.checkTransaction()
	case !c.spec.retryable:
		return mongoerr.Errorf(50768, "txnNumber may only be provided for multi-document transactions and retryable write commands. "+
			"autocommit:false was not provided, and %s is not a retryable write command.", c.name)
	}
	return nil
}

// checkTransaction refuses commands that may not be part of a transaction.
func (x *call) checkTransaction() error {
	c := &x.command
	switch may := c.spec.inTxn; {
	case c.begins && c.name == "commitTransaction":
		return mongoerr.Errorf(mongoerr.OperationNotSupportedInTransaction, "Cannot start a transaction with a commit")
	case c.begins && c.name == "abortTransaction":
		return mongoerr.Errorf(mongoerr.OperationNotSupportedInTransaction, "Cannot start a transaction with an abort")
	case c.concerned && !c.begins:
		return mongoerr.Errorf(mongoerr.InvalidOptions, "Only the first command in a transaction may specify a readConcern")
	case c.spec.ends:
		return nil
	case c.writeConcern.Present:
		return mongoerr.Errorf(mongoerr.InvalidOptions, "writeConcern is not allowed within a multi-statement transaction")
	case c.readConcern == linearizableConcern || c.readConcern == "available":
		return mongoerr.Errorf(mongoerr.InvalidOptions,
			"The readConcern level must be either 'local' (default), 'majority' or 'snapshot' in order to run "+
				"in a transaction")
	case c.name == "count":
		return mongoerr.Errorf(mongoerr.OperationNotSupportedInTransaction, "Cannot run 'count' in a multi-document transaction. Please see "+
			"https://dochub.mongodb.org/core/transaction-count for a recommended alternative.")
	case may.IsZero() || !x.client.set.Version.Has(may):
		return mongoerr.Errorf(mongoerr.OperationNotSupportedInTransaction, "Cannot run '%s' in a multi-document transaction.", c.name)
	case c.begins && c.name == "killCursors":
		return mongoerr.Errorf(mongoerr.OperationNotSupportedInTransaction,
			"Cannot run killCursors as the first operation in a multi-document transaction.")
	case c.db == "config" || c.db == "local" || c.db == "admin" && !c.bulkWrites():
		return mongoerr.Errorf(mongoerr.OperationNotSupportedInTransaction, "Cannot run command against the '%s' database in a transaction.", c.db)
	}
	return nil
}

// bulkWrites reports whether the command is a bulkWrite, or is about the cursor of one. They are of the database admin.
func (c *command) bulkWrites() bool {
	const cursors = "$cmd.bulkWrite"
	return c.name == "bulkWrite" || c.name == "killCursors" && string(c.first.Text()) == cursors ||
		c.name == "getMore" && slices.ContainsFunc(c.args, func(e wire.Element) bool {
			return string(e.Key) == "collection" && string(query.Of(e).Text()) == cursors
		})
}

// collectionName checks and notes the collection that the command's first element names.
func (x *call) collectionName() error {
	c := &x.command
	text := c.first.Text()
	if c.first.Type != bson.TypeString {
		return mongoerr.Errorf(mongoerr.InvalidNamespace, "Collection name has invalid type %s", query.TypeName(c.first.Type))
	}
	if c.full != "" && string(text) == c.coll {
		return nil
	}
	if err := checkNamespace(c.db, string(text)); err != nil {
		return err
	}
	if c.spec.retryable {
		if err := checkWritable(c.db, string(text)); err != nil {
			return err
		}
	}
	c.coll = string(text)
	c.full = c.db + "." + c.coll
	return nil
}

// ns returns the namespace for the journal.
func (x *call) ns() string {
	if x.result.target != "" {
		return x.result.target
	}
	if x.command.full != "" && x.command.first.Type == bson.TypeString {
		return x.command.full
	}
	if x.command.first.Type == bson.TypeString {
		return x.command.db + "." + string(x.command.first.Text())
	}
	return x.command.db
}

// targetOf is collectionName of a command that needs a field with documents. As in the real server, a missing field is found first.
func (x *call) targetOf(field string) error {
	inSequence := slices.ContainsFunc(x.command.sequences, func(s wire.Sequence) bool { return string(s.Identifier) == field })
	if !inSequence && !fields.Has(x.command.args, field) {
		return fields.Missing(x.command.name, field)
	}
	return x.collectionName()
}

// documents returns the documents of a field that is an array or a document sequence.
func (x *call) documents(field string) ([][]byte, error) {
	var docs [][]byte
	for _, s := range x.command.sequences {
		if string(s.Identifier) != field {
			continue
		}
		for doc := range s.All() {
			docs = append(docs, doc)
		}
		return docs, nil
	}
	for i := range x.command.args {
		e := &x.command.args[i]
		if string(e.Key) != field {
			continue
		}
		it := wire.Elements(e.Value)
		for it.Next() {
			docs = append(docs, it.Document())
		}
		return docs, it.Err
	}
	return nil, fields.Missing(x.command.name, field)
}

// maxBatch is how many statements one command may have.
const maxBatch = 100000

// batchDocuments returns the statements of a write command.
func (x *call) batchDocuments(field string) ([][]byte, error) {
	docs, err := x.documents(field)
	if err == nil && (len(docs) == 0 || len(docs) > maxBatch) {
		err = mongoerr.Errorf(16, "Write batch sizes must be between 1 and %d. Got %d operations.", maxBatch, len(docs))
	}
	return docs, err
}

// statementID returns the id of the i-th statement within the command's transaction number.
func (x *call) statementID(i int) int32 {
	if x.command.stmtIDs != nil {
		it := wire.Elements(x.command.stmtIDs)
		for ; it.Next(); i-- {
			if i == 0 {
				n, _ := it.Int64()
				return int32(n)
			}
		}
	}
	if x.command.stmtID >= 0 {
		return x.command.stmtID + int32(i)
	}
	return int32(i)
}

// adminOnly refuses a command that only the admin database takes.
func (x *call) adminOnly() error {
	if x.command.db != "admin" {
		return mongoerr.Errorf(mongoerr.Unauthorized, "%s may only be run against the admin database.", x.command.name)
	}
	return nil
}

// arg returns an argument of the command, Missing if it is not there.
func (x *call) arg(name string) query.Value {
	for i := range x.command.args {
		if string(x.command.args[i].Key) == name {
			return query.Of(x.command.args[i])
		}
	}
	return query.Value{}
}
