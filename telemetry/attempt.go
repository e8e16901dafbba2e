package telemetry

import "time"

// Attempt is one message of an operation that is sent to a server.
type Attempt struct {
	// Operation is nil for what the client sends for itself, as when it ends its sessions.
	Operation *Operation
	// Number is how often the message was tried before.
	Number int
	// Name is the command's name, for example "find" or "create". Namespace and Collection are those of the command.
	Name, Namespace, Collection string
	Began                       time.Time
	Connection                  Connection
	// RequestID is the number of the message on its connection, and OperationID one that the log has too: all messages of an operation have the same.
	RequestID, OperationID int64
	// Sensitive means that the message may have credentials. Then Command and the Reply of the result are empty documents.
	Sensitive bool
	// Session is the id of the logical session, nil if there is none. TransactionNumber is 0 if there is none.
	Session           []byte
	TransactionNumber int64
	// Cursor is the id of the cursor that the command uses, 0 if there is none.
	Cursor int64
	// Batch is the number of documents or statements in a command that may have several of them, such as "insert". It is 0 for other commands.
	Batch int
	// Command returns the command as BSON, in one document. The caller may keep it. It is nil for Couchbase.
	Command func() []byte
}

// Connection is the connection that an attempt uses.
type Connection struct {
	// Address is the server's "host:port", or the path of a Unix domain socket.
	Address string
	// ID is the client's own number of the connection among those to the same server, and Name its name in the official driver's events.
	ID   int64
	Name string
	// ServerID is the server's number of the connection, nil if it has told none.
	ServerID *int64
	// Service is the id of the service behind a load balancer, in hexadecimal; empty if there is none.
	Service string
	// Local and Remote are the two ends of a Couchbase connection, as "host:port".
	Local, Remote string
}

// Result is how an attempt ended.
type Result struct {
	Took time.Duration
	// Err is nil if the server executed the command, also if some of its writes failed.
	Err error
	// Code is the code of the error with which the server refused the command, 0 if it did not.
	Code int32
	// Cursor is the id of the cursor in the reply, 0 if there is none or if the cursor is at its end.
	Cursor int64
	// Rows is the number of documents in the reply, -1 if it is not one that has documents.
	Rows int
	// Identifier is what the request is found by in a Couchbase server's log, empty if there is none. Server is the time that a Couchbase server
	// needed, 0 if it did not tell.
	Identifier string
	Server     time.Duration
	// Reply returns the reply as BSON. The caller may keep it. It is nil if there is no reply.
	Reply func() []byte
}
