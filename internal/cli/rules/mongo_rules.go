package rules

// The rules of MongoDB.
var (
	mongoCancelled = Rule{
		"mongodb.cancelled", "An operation whose context has ended is not retried.",
		"Client-Side Operations Timeout specification",
	}
	mongoSelectFirst = Rule{
		"mongodb.select-first", "The error of the first selection of a server is returned as it is: there was no attempt.",
		"Retryable Writes specification, Executing Retryable Write Commands",
	}
	mongoOverload = Rule{
		"mongodb.overload", "An error with both labels SystemOverloadedError and RetryableError is retried for every command, at most " +
			"maxAdaptiveRetries times (2), after a growing random delay.",
		"Client Backpressure specification, Overload retry policy",
	}
	mongoConnect = Rule{
		"mongodb.connect", "A connection that cannot be made, or whose hello fails by the network, may mean an overloaded server: the client " +
			"adds both overload labels, and the overload rule applies.",
		"Connection Monitoring and Pooling specification, backpressure labels",
	}
	mongoReadCode = Rule{
		"mongodb.read-code", "A read is retried only after a network error, a cleared pool, a failed handshake, or one of the codes 11600, 11602, " +
			"10107, 13435, 13436, 189, 91, 7, 6, 89, 9001, 262 and 134.",
		"Retryable Reads specification, Retryable Error",
	}
	mongoReads = Rule{
		"mongodb.reads", "find, aggregate without $out and $merge, distinct, the counts, watch, and the lists of databases, collections and " +
			"indexes are retried once.",
		"Retryable Reads specification, Supported Read Operations",
	}
	mongoReadsNever = Rule{
		"mongodb.reads-never", "getMore is not retried: a repeated getMore could skip a batch. Only an overload error is retried.",
		"Retryable Reads specification, Unsupported Read Operations",
	}
	mongoGeneric = Rule{
		"mongodb.run-command", "A command of runCommand is sent as it is. Only an overload error is retried.",
		"Retryable Reads and Retryable Writes specifications, generic command runner",
	}
	mongoWriteLabel = Rule{
		"mongodb.write-label", "A write is retried only if its error has the label RetryableWriteError. The server adds it; the client adds it to " +
			"network errors and, for servers before 4.4, to the retryable codes.",
		"Retryable Writes specification, RetryableError Labels",
	}
	mongoWriteErrors = Rule{
		"mongodb.write-errors", "The codes in writeErrors never make a write retryable.",
		"Retryable Writes specification, Determining Retryable Errors",
	}
	mongoWrites = Rule{
		"mongodb.writes", "A write of single documents is retried once, with the same transaction number, which the server recognises.",
		"Retryable Writes specification, Supported Write Operations",
	}
	mongoWritesNever = Rule{
		"mongodb.writes-never", "A write that may change several documents, aggregate with $out or $merge, and a command that changes a database, " +
			"a collection or an index have no transaction number and are not retried. Only an overload error is retried.",
		"Retryable Writes specification, Unsupported Write Operations",
	}
	mongoUnacknowledged = Rule{
		"mongodb.unacknowledged", "An unacknowledged write (w: 0) has no reply and is not retried.",
		"Retryable Writes specification, Unsupported Write Operations",
	}
	mongoTransaction = Rule{
		"mongodb.in-transaction", "An operation in a transaction is not retried by itself: the transaction is done again as a whole.",
		"Transactions specification, Interaction with Retryable Writes",
	}
	mongoEnding = Rule{
		"mongodb.end-of-transaction", "commitTransaction and abortTransaction are retried once, also with retryWrites=false.",
		"Transactions specification, Interaction with Retryable Writes",
	}
	mongoDisabled = Rule{
		"mongodb.disabled", "retryReads=false disables the retries of reads, retryWrites=false those of writes, and each of them the overload " +
			"retries of runCommand.",
		"Retryable Reads and Retryable Writes specifications, MongoClient Configuration",
	}
	mongoUnsupported = Rule{
		"mongodb.unsupported", "A standalone server and a server without sessions do not recognise a repeated write, so a write has no transaction " +
			"number and exactly one attempt.",
		"Retryable Writes specification, Requirements for Retryable Writes",
	}
	mongoRequest = Rule{
		"mongodb.in-request", "A read in a request goes to another member after a socket error, at once, three members in all. After another " +
			"retryable error it is retried once, also with a deadline.",
		"Read Preferences (2014), Requests",
	}
	mongoDeadline = Rule{
		"mongodb.deadline", "With a deadline an operation is retried until the deadline. From the second retry on each waits for a change of the " +
			"topology, for at most 500 ms.",
		"Client-Side Operations Timeout specification, Retryability",
	}
)

var mongoRules = []Rule{
	mongoCancelled, mongoSelectFirst, mongoOverload, mongoConnect, mongoReadCode, mongoWriteLabel, mongoWriteErrors, mongoReadsNever, mongoGeneric,
	mongoUnacknowledged, mongoWritesNever, mongoTransaction, mongoDisabled, mongoUnsupported, mongoEnding, mongoRequest, mongoDeadline, mongoReads, mongoWrites,
}
