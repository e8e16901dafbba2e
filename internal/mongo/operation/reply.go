package operation

import (
	"github.com/holdfast-db/holdfast/internal/mongo/wire"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// Reply has the top-level fields of a command's reply. They alias the connection's buffer.
type Reply struct {
	Body bson.Raw

	OK                bool
	Code              int32
	CodeName, Message []byte
	Labels            []byte // an array
	N, NModified      int64
	Cursor            []byte // a document
	Upserted          []byte // an array
	WriteErrors       []byte // an array
	WriteConcernError []byte // a document
	Value             bson.RawValue

	// OperationTime is the operation time of the command, 0 if the reply has none.
	OperationTime Timestamp
	RecoveryToken []byte // a document

	clusterTime, topologyVersion []byte
	atClusterTime                Timestamp
	baseBackoffMS                int64
	// lacksLabel means that the server is too old to give its write concern error the label RetryableWriteError.
	lacksLabel bool

	cursor     CursorReply // as ReadCursor has read it
	cursorErr  error
	cursorRead bool
}

// Parse reads the top level of a reply in one pass. On an error r is empty.
func (r *Reply) Parse(body []byte) error {
	*r = Reply{Body: body}
	it := wire.Elements(body)
	for it.Next() {
		r.parseElement(&it.Element)
	}
	if it.Err != nil {
		*r = Reply{}
	}
	return it.Err
}

func (r *Reply) parseElement(e *wire.Element) {
	switch string(e.Key) {
	case "ok":
		r.OK = e.True()
	case "n":
		r.N, _ = e.Int64()
	case "nModified":
		r.NModified, _ = e.Int64()
	case "cursor":
		r.Cursor = e.Document()
	case "upserted":
		r.Upserted = e.Array()
	case "value":
		r.Value = bson.RawValue{Type: e.Type, Value: e.Value}
	case "writeErrors":
		r.WriteErrors = e.Array()
	case "writeConcernError":
		r.WriteConcernError = e.Document()
	case "$clusterTime":
		r.clusterTime = e.Document()
	default:
		r.parseRareElement(e)
	}
}

// parseRareElement reads the fields that most replies do not have.
func (r *Reply) parseRareElement(e *wire.Element) {
	switch string(e.Key) {
	case "operationTime":
		r.OperationTime, _ = timestamp(e)
	case "atClusterTime":
		r.atClusterTime, _ = timestamp(e)
	case "recoveryToken":
		r.RecoveryToken = e.Document()
	case "code":
		code, _ := e.Int64()
		r.Code = int32(code)
	case "codeName":
		r.CodeName = e.Text()
	case "errmsg":
		r.Message = e.Text()
	case "errorLabels":
		r.Labels = e.Array()
	case "topologyVersion":
		r.topologyVersion = e.Document()
	case "baseBackoffMS":
		r.baseBackoffMS, _ = e.Int64()
	}
}

// LabelTexts returns the error labels of the reply and of its write concern error as strings, and RetryableWriteError where the client
// must add it. Retries go by the labels of the reply alone.
func (r *Reply) LabelTexts() []string {
	labels := appendLabels(nil, r.Labels)
	for it := wire.Elements(r.WriteConcernError); it.Next(); {
		if string(it.Key) == "errorLabels" {
			labels = appendLabels(labels, it.Array())
		}
	}
	if r.lacksLabel {
		labels = append(labels, labelRetryableWrite)
	}
	return labels
}

func appendLabels(labels []string, array []byte) []string {
	for it := wire.Elements(array); it.Next(); {
		if text := it.Text(); text != nil {
			labels = append(labels, string(text))
		}
	}
	return labels
}

// writeConcernCode returns the code of the reply's writeConcernError, 0 if there is none.
func (r *Reply) writeConcernCode() int32 {
	if r.WriteConcernError == nil {
		return 0
	}
	it := wire.Elements(r.WriteConcernError)
	for it.Next() {
		if string(it.Key) == "code" {
			code, _ := it.Int64()
			return int32(code)
		}
	}
	return 0
}
