package mongo

import "fmt"

// limits are the largest number of documents in one command, and the largest sizes of a message and of a document in
// bytes. They come
// from the hello of a writable server. Before one is known, they are the values of all servers since MongoDB 3.6.
type limits struct{ count, bytes, document int }

func (c *Client) limits() limits {
	for _, s := range c.runner.Cluster().Snapshot().Description.Servers {
		if s.Writable() && s.MaxBatchCount > 0 && s.MaxMessageSize > 0 && s.MaxDocumentSize > 0 {
			return limits{count: int(s.MaxBatchCount), bytes: int(s.MaxMessageSize), document: int(s.MaxDocumentSize)}
		}
	}
	return limits{count: 100_000, bytes: 48_000_000, document: 16 << 20}
}

const messageMargin = 16 << 10 // bytes of maxMessageSizeBytes that are reserved for the other parts of a command

// tooLarge is the error of a document or statement that is larger than the server's maxBsonObjectSize.
type tooLarge struct {
	subject            string // of the error's text
	index, size, limit int
}

func (e tooLarge) Error() string { return "mongo: " + e.text() }

func (e tooLarge) text() string {
	return fmt.Sprintf("%s has %d bytes, over the server's maxBsonObjectSize of %d", e.subject, e.size, e.limit)
}

func documentTooLarge(index, size, limit int) tooLarge {
	return tooLarge{subject: fmt.Sprintf("document %d", index), index: index, size: size, limit: limit}
}

const codeBSONObjectTooLarge = 10334

// writeError returns the error as that of a server, which refuses such a document with the same code.
func (e tooLarge) writeError() WriteError {
	return WriteError{Index: e.index, Code: codeBSONObjectTooLarge, Message: e.text()}
}
