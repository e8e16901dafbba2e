package mongo

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/operation"
	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

// writeError returns the WriteException of a reply, or nil.
func writeError(reply *operation.Reply) error {
	if reply.WriteErrors == nil && reply.WriteConcernError == nil {
		return nil
	}
	return WriteException{
		WriteErrors: writeErrors(reply.WriteErrors), WriteConcernError: writeConcernError(reply.WriteConcernError),
		Labels: reply.LabelTexts(), Raw: slices.Clone(reply.Body),
	}
}

func writeErrors(array []byte) WriteErrors {
	if array == nil {
		return nil
	}
	var errs WriteErrors
	for it := wire.Elements(array); it.Next(); {
		if doc := it.Document(); doc != nil {
			errs = append(errs, oneWriteError(doc))
		}
	}
	return errs
}

func oneWriteError(doc []byte) WriteError {
	e := WriteError{Raw: bson.Raw(slices.Clone(doc))}
	for it := wire.Elements(e.Raw); it.Next(); {
		switch string(it.Key) {
		case "index":
			n, _ := it.Int64()
			e.Index = int(n)
		case "code":
			n, _ := it.Int64()
			e.Code = int(n)
		case "errmsg":
			e.Message = string(it.Text())
		case "errInfo":
			e.Details = it.Document()
		}
	}
	e.Message = operation.WriteErrorText(e.Code, e.Message)
	return e
}

func writeConcernError(doc []byte) *WriteConcernError {
	if doc == nil {
		return nil
	}
	e := &WriteConcernError{Raw: bson.Raw(slices.Clone(doc))}
	for it := wire.Elements(e.Raw); it.Next(); {
		switch string(it.Key) {
		case "code":
			n, _ := it.Int64()
			e.Code = int(n)
		case "codeName":
			e.Name = string(it.Text())
		case "errmsg":
			e.Message = string(it.Text())
		case "errInfo":
			e.Details = it.Document()
		}
	}
	e.Message = operation.WriteErrorText(e.Code, e.Message)
	return e
}
