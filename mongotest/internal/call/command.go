package call

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

// Place is which servers have a command, and where those that a mongos takes are executed.
type Place uint8

// The places.
const (
	AtShard  Place = iota // at a member, also for a mongos
	AtServer              // by every server itself
	AtMember              // no mongos has it
	AtMongos              // no member has it
)

// Has reports whether the server has a command.
func (x *Call) Has(s *Spec) bool {
	wrong := AtMongos
	if x.Client.Router != nil {
		wrong = AtMember
	}
	return s.place != wrong && x.Client.Set.Version.Within(s.Since, s.Gone)
}

// Command is a message, and the command that it was parsed to. Its slices lie in the connection's buffer.
type Command struct {
	RequestID  int32
	Flags      wire.MsgFlags
	Sequences  []wire.Sequence
	AfterApply func() // what a fault does once it is applied

	Spec  *Spec // nil if there is no such command
	Raw   []byte
	Name  string
	First query.Value    // the value behind the command's name
	Args  []wire.Element // the fields that are not generic
	DB    string
	Coll  string
	Full  string // db.coll

	LSID         []byte
	Txn          int64
	HasTxn       bool
	begins       bool // a transaction
	Recovers     bool // the outcome of a transaction that another mongos began
	autocommit   autocommit
	secondaryOk  bool
	readMode     string        // of the read preference, empty if there is none
	readTags     []query.Value // the tag sets
	staleness    time.Duration
	ReadConcern  string          // the level
	concerned    bool            // it has a readConcern
	after        store.Timestamp // afterClusterTime
	AtTime       store.Timestamp // atClusterTime
	clusterTime  store.Timestamp // the client's $clusterTime
	writeConcern writeconcern.Concern
	comment      query.Value
	Bypass       bool // documents are not validated
	API          stableapi.Fields
	rawData      bool
	MaxTime      time.Duration
	Timed        bool // it has a maxTimeMS, which may be 0
	stmtIDs      []byte
	StmtID       int32
}

// autocommit is a command's field of that name: absent, false (it is in a transaction), or a value that is not allowed.
type autocommit uint8

const (
	autocommitUnset autocommit = iota
	autocommitOff
	autocommitOn
)

// Next returns the command that another message is parsed to. It has room from c, and its namespace, which often is the next one's.
func (c *Command) Next() Command {
	return Command{Args: c.Args[:0], DB: c.DB, Coll: c.Coll, Full: c.Full, StmtID: -1}
}

// Parse takes the command apart: what every command may have, and the rest as args.
func (x *Call) Parse(doc []byte) error {
	c := &x.Command
	c.Raw = doc
	it := wire.Elements(doc)
	if !it.Next() {
		return it.Err
	}
	if c.Spec = Specs[string(it.Key)]; c.Spec != nil && !x.Has(c.Spec) {
		c.Spec = nil
	}
	if c.Spec != nil {
		c.Name = c.Spec.Name
	} else {
		c.Name = string(it.Key)
	}
	c.First = query.Of(it.Element)
	hasDB := false
	for it.Next() {
		if string(it.Key) == "$db" {
			hasDB = true
		}
		if err := generic(x, &it.Element); err != nil {
			return err
		}
	}
	switch {
	case it.Err != nil:
		return it.Err
	case !hasDB && x.Command.Flags&wire.MoreToCome == 0 && len(x.Result.Out) > 0:
		return mongoerr.Errorf(40571, "OP_MSG requests require a $db argument")
	case c.Spec == nil:
		return mongoerr.Errorf(mongoerr.CommandNotFound, "no such command: '%s'", c.Name)
	case x.Client.User == nil && x.Client.Cluster.Guarded.Load() && !c.Spec.Greeting && !c.Spec.Open:
		return mongoerr.Errorf(mongoerr.Unauthorized, "Command %s requires authentication", c.Name)
	case x.Client.expired() && !c.Spec.Greeting && !c.Spec.Open:
		return mongoerr.Errorf(mongoerr.ReauthenticationRequired, "The authentication of this connection has expired")
	case !c.comment.Missing():
		if err := checkComment(x.Client.Set.Version, c.Name, c.comment); err != nil {
			return err
		}
	}
	if err := c.API.Check(c.Name, x.Client.Process.RequiresAPI.Load() && !x.Client.Direct); err != nil {
		return err
	}
	if err := c.checkRawData(x.Client.Set.Version); err != nil {
		return err
	}
	if err := c.checkFields(); err != nil {
		return err
	}
	if err := c.API.CheckFields(c.Name, c.Args); err != nil {
		return err
	}
	if err := authorize(x); err != nil {
		return err
	}
	if err := advanceClusterTime(x); err != nil {
		return err
	}
	return checkSession(x)
}

// generic takes an element that every command may have, or adds it to the args.
func generic(x *Call, e *wire.Element) error {
	c := &x.Command
	if e.Type == bson.TypeNull && fields.NullIsNone(string(e.Key)) {
		return nil
	}
	switch string(e.Key) {
	case "$db":
		if text := e.Text(); string(text) != c.DB {
			if err := checkDatabase(x.Client.Set.Version, string(text)); err != nil {
				return err
			}
			c.DB, c.Full = string(text), ""
		}
	case "$readPreference":
		return c.ReadPreference(e, x.Client.Set.Version)
	case "lsid":
		return c.session(e)
	case "txnNumber":
		if e.Type != bson.TypeInt64 {
			return fields.WrongType(c.Name, "txnNumber", e.Type, "long")
		}
		c.Txn, c.HasTxn = query.Of(*e).Integer()
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
		c.StmtID = int32(n)
	case "stmtIds":
		c.stmtIDs = e.Array()
	default:
		return c.GenericOption(e, x.Client.Set.Version)
	}
	return nil
}

// GenericOption takes an element that says how every command may be executed, or adds it to the args.
func (c *Command) GenericOption(e *wire.Element, v version.Version) error {
	switch string(e.Key) {
	case "readConcern":
		return c.ParseReadConcern(e)
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
		return c.API.Read(c.Name, e)
	case "rawData":
		return c.rawDataField(e)
	case "$clusterTime":
		return c.clusterTimeField(e)
	case "$configServerState", "$audit", "$client",
		"mayBypassWriteBlocking", "$configTime", "$topologyTime":
	default:
		c.Args = append(c.Args, *e)
	}
	return nil
}

// checkSession refuses what a session's fields must not say.
func checkSession(x *Call) error {
	c := &x.Command
	if c.Spec.OfCursor && c.autocommit == autocommitUnset && x.Client.Set.Version.AtLeast(5, 0) {
		c.ReadConcern, c.AtTime = "", 0
	}
	switch {
	case c.autocommit != autocommitUnset && !c.HasTxn:
		return mongoerr.Errorf(mongoerr.InvalidOptions, "'autocommit' field requires a transaction number to also be specified")
	case c.autocommit == autocommitOn:
		return mongoerr.Errorf(mongoerr.InvalidOptions, "Specifying autocommit=true is not allowed.")
	case c.begins && c.autocommit == autocommitUnset:
		return mongoerr.Errorf(mongoerr.InvalidOptions, "'startTransaction' field requires 'autocommit' field to also be specified")
	case c.ReadConcern == SnapshotConcern && x.Client.Set.Standalone:
		return mongoerr.Errorf(mongoerr.NotAReplicaSet, "node needs to be a replica set member to use read concern")
	case c.ReadConcern == SnapshotConcern && c.autocommit == autocommitUnset && (!c.Spec.Snapshots || !x.Client.Set.Version.AtLeast(5, 0)):
		return mongoerr.Errorf(mongoerr.InvalidOptions, "Command %s does not support { readConcern: { level: \"snapshot\", provenance: "+
			"\"clientSupplied\" } } :: caused by :: read concern not supported", c.Name)
	case c.ReadConcern == LinearizableConcern && c.autocommit == autocommitUnset:
		return checkLinearizable(x)
	case !c.HasTxn:
		return nil
	case c.LSID == nil:
		return mongoerr.Errorf(mongoerr.InvalidOptions, "Transaction number requires a session ID to also be specified")
	case x.Client.Set.Standalone:
		return mongoerr.Errorf(mongoerr.IllegalOperation, "Transaction numbers are only allowed on a replica set member or mongos")
	case c.Txn < 0:
		return mongoerr.Errorf(mongoerr.InvalidOptions, "Transaction number cannot be negative")
	case x.InTransaction():
		return checkTransaction(x)
	case !c.Spec.Retryable:
		return mongoerr.Errorf(50768, "txnNumber may only be provided for multi-document transactions and retryable write commands. "+
			"autocommit:false was not provided, and %s is not a retryable write command.", c.Name)
	}
	return nil
}

// checkTransaction refuses commands that may not be part of a transaction.
func checkTransaction(x *Call) error {
	c := &x.Command
	switch may := c.Spec.InTxn; {
	case c.begins && c.Name == "commitTransaction":
		return mongoerr.Errorf(mongoerr.OperationNotSupportedInTransaction, "Cannot start a transaction with a commit")
	case c.begins && c.Name == "abortTransaction":
		return mongoerr.Errorf(mongoerr.OperationNotSupportedInTransaction, "Cannot start a transaction with an abort")
	case c.concerned && !c.begins:
		return mongoerr.Errorf(mongoerr.InvalidOptions, "Only the first command in a transaction may specify a readConcern")
	case c.Spec.Ends:
		return nil
	case c.writeConcern.Present:
		return mongoerr.Errorf(mongoerr.InvalidOptions, "writeConcern is not allowed within a multi-statement transaction")
	case c.ReadConcern == LinearizableConcern || c.ReadConcern == "available":
		return mongoerr.Errorf(mongoerr.InvalidOptions,
			"The readConcern level must be either 'local' (default), 'majority' or 'snapshot' in order to run "+
				"in a transaction")
	case c.Name == "count":
		return mongoerr.Errorf(mongoerr.OperationNotSupportedInTransaction, "Cannot run 'count' in a multi-document transaction. Please see "+
			"https://dochub.mongodb.org/core/transaction-count for a recommended alternative.")
	case may.IsZero() || !x.Client.Set.Version.Has(may):
		return mongoerr.Errorf(mongoerr.OperationNotSupportedInTransaction, "Cannot run '%s' in a multi-document transaction.", c.Name)
	case c.First.Type == bson.TypeString && string(c.First.Text()) == store.ProfileName && x.Client.Set.Version.AtLeast(4, 4):
		return mongoerr.Errorf(mongoerr.OperationNotSupportedInTransaction, "Cannot run command against the '%s.%s' collection in a transaction.",
			c.DB, store.ProfileName)
	case c.begins && c.Name == "killCursors":
		return mongoerr.Errorf(mongoerr.OperationNotSupportedInTransaction,
			"Cannot run killCursors as the first operation in a multi-document transaction.")
	case c.DB == "config" || c.DB == "local" || c.DB == "admin" && !c.bulkWrites():
		return mongoerr.Errorf(mongoerr.OperationNotSupportedInTransaction, "Cannot run command against the '%s' database in a transaction.", c.DB)
	}
	return nil
}

// bulkWrites reports whether the command is a bulkWrite, or is about the cursor of one. They are of the database admin.
func (c *Command) bulkWrites() bool {
	const cursors = "$cmd.bulkWrite"
	return c.Name == "bulkWrite" || c.Name == "killCursors" && string(c.First.Text()) == cursors ||
		c.Name == "getMore" && slices.ContainsFunc(c.Args, func(e wire.Element) bool {
			return string(e.Key) == "collection" && string(query.Of(e).Text()) == cursors
		})
}

// CollectionName checks and notes the collection that the command's first element names.
func (x *Call) CollectionName() error {
	c := &x.Command
	text := c.First.Text()
	if c.First.Type != bson.TypeString {
		return mongoerr.Errorf(mongoerr.InvalidNamespace, "Collection name has invalid type %s", query.TypeName(c.First.Type))
	}
	if c.Full == "" || string(text) != c.Coll { // else it is that of the command before, and nothing is allocated
		if err := CheckNamespace(c.DB, string(text)); err != nil {
			return err
		}
		c.Coll = string(text)
		c.Full = c.DB + "." + c.Coll
	}
	if c.Spec.Retryable {
		return CheckWritable(c.DB, c.Coll)
	}
	return nil
}

// ns returns the namespace for the journal.
func ns(x *Call) string {
	if x.Result.Target != "" {
		return x.Result.Target
	}
	if x.Command.Full != "" && x.Command.First.Type == bson.TypeString {
		return x.Command.Full
	}
	if x.Command.First.Type == bson.TypeString {
		return x.Command.DB + "." + string(x.Command.First.Text())
	}
	return x.Command.DB
}

// TargetOf is CollectionName of a command that needs a field with documents. As in the real server, a missing field is found first.
func (x *Call) TargetOf(field string) error {
	inSequence := slices.ContainsFunc(x.Command.Sequences, func(s wire.Sequence) bool { return string(s.Identifier) == field })
	if !inSequence && !fields.Has(x.Command.Args, field) {
		return fields.Missing(x.Command.Name, field)
	}
	return x.CollectionName()
}

// Documents returns the documents of a field that is an array or a document sequence.
func (x *Call) Documents(field string) ([][]byte, error) {
	var docs [][]byte
	for _, s := range x.Command.Sequences {
		if string(s.Identifier) != field {
			continue
		}
		for doc := range s.All() {
			docs = append(docs, doc)
		}
		return docs, nil
	}
	for i := range x.Command.Args {
		e := &x.Command.Args[i]
		if string(e.Key) != field {
			continue
		}
		it := wire.Elements(e.Value)
		for it.Next() {
			docs = append(docs, it.Document())
		}
		return docs, it.Err
	}
	return nil, fields.Missing(x.Command.Name, field)
}

// MaxBatch is how many statements one command may have.
const MaxBatch = 100000

// BatchDocuments returns the statements of a write command.
func (x *Call) BatchDocuments(field string) ([][]byte, error) {
	docs, err := x.Documents(field)
	if err == nil && (len(docs) == 0 || len(docs) > MaxBatch) {
		err = mongoerr.Errorf(16, "Write batch sizes must be between 1 and %d. Got %d operations.", MaxBatch, len(docs))
	}
	return docs, err
}

// StatementID returns the id of the i-th statement within the command's transaction number.
func (x *Call) StatementID(i int) int32 {
	if x.Command.stmtIDs != nil {
		it := wire.Elements(x.Command.stmtIDs)
		for ; it.Next(); i-- {
			if i == 0 {
				n, _ := it.Int64()
				return int32(n)
			}
		}
	}
	if x.Command.StmtID >= 0 {
		return x.Command.StmtID + int32(i)
	}
	return int32(i)
}

// AdminOnly refuses a command that only the admin database takes.
func (x *Call) AdminOnly() error {
	if x.Command.DB != "admin" {
		return mongoerr.Errorf(mongoerr.Unauthorized, "%s may only be run against the admin database.", x.Command.Name)
	}
	return nil
}

// Arg returns an argument of the command, Missing if it is not there.
func (x *Call) Arg(name string) query.Value {
	for i := range x.Command.Args {
		if string(x.Command.Args[i].Key) == name {
			return query.Of(x.Command.Args[i])
		}
	}
	return query.Value{}
}
