package router

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/operation"
	"github.com/holdfast-db/holdfast/internal/mongo/topology"
	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

// stateChange reports whether a code means that a member has changed its state, which would make a driver drop its connections to the
// router.
func stateChange(code int32) bool {
	return topology.IsNotPrimary(code, "", true) || topology.IsRecovering(code, "", true)
}

// translated returns the error reply of a member as the client gets it.
func (f *forwarded) translated(reply bson.Raw, err error, retried bool) []byte {
	var parsed operation.Reply
	if parsed.Parse(reply) != nil {
		return reply
	}
	if !stateChange(parsed.Code) && !hasStateChange(&parsed) && !retried {
		return reply
	}
	at, dst := wire.BeginDocument(nil)
	for it := wire.Elements(reply); it.Next(); {
		switch string(it.Key) {
		case "code", "codeName", "errmsg", "errorLabels", "topologyVersion":
		case "writeConcernError", "writeErrors":
			dst = appendSettled(dst, it.Element)
		default:
			dst = wire.AppendElement(dst, it.Element)
		}
	}
	code, name := parsed.Code, string(parsed.CodeName)
	labels := parsed.LabelTexts()
	if stateChange(code) {
		code, name = codeHostUnreachable, "HostUnreachable"
		labels = union(labels, f.labels(code, retried))
	}
	if retried && !f.ends() {
		labels = slices.DeleteFunc(labels, func(l string) bool { return l == labelRetryableWrite })
	}
	return wire.EndDocument(appendFailure(dst, err.Error(), code, name, labels), at)
}

func appendFailure(dst []byte, text string, code int32, name string, labels []string) []byte {
	dst = wire.AppendString(dst, "errmsg", text)
	dst = wire.AppendInt32(dst, "code", code)
	if name != "" {
		dst = wire.AppendString(dst, "codeName", name)
	}
	if len(labels) > 0 {
		dst = wire.AppendStrings(dst, "errorLabels", labels)
	}
	return dst
}

func union(a, b []string) []string {
	for _, s := range b {
		if !slices.Contains(a, s) {
			a = append(a, s)
		}
	}
	return a
}

// hasStateChange reports whether a writeConcernError or one of the writeErrors has the code of a change of state.
func hasStateChange(r *operation.Reply) bool {
	if tellsStateChange(r.WriteConcernError) {
		return true
	}
	for it := wire.Elements(r.WriteErrors); it.Next(); {
		if tellsStateChange(it.Document()) {
			return true
		}
	}
	return false
}

// tellsStateChange reports whether an error document has the code of a change of state.
func tellsStateChange(document []byte) bool {
	code := field(document, "code")
	n, _ := code.Int64()
	return stateChange(int32(n))
}

// settled returns a reply in which no error has the code of a change of state.
func settled(reply []byte, retried bool) []byte {
	at, dst := wire.BeginDocument(nil)
	for it := wire.Elements(reply); it.Next(); {
		switch string(it.Key) {
		case "writeConcernError", "writeErrors":
			dst = appendSettled(dst, it.Element)
		case "topologyVersion":
		case "errorLabels":
			dst = appendLabels(dst, it.Array(), retried)
		default:
			dst = wire.AppendElement(dst, it.Element)
		}
	}
	return wire.EndDocument(dst, at)
}

// appendSettled writes an error document, or an array of them, without the code of a change of state. Elements of other types stay.
func appendSettled(dst []byte, e wire.Element) []byte {
	switch {
	case e.Document() != nil:
		return wire.AppendDocument(dst, string(e.Key), withoutStateChange(e.Document()))
	case e.Array() != nil:
		at, dst := wire.BeginArray(dst, string(e.Key))
		for it := wire.Elements(e.Array()); it.Next(); {
			dst = appendSettled(dst, it.Element)
		}
		return wire.EndDocument(dst, at)
	}
	return wire.AppendElement(dst, e)
}

// withoutStateChange returns an error document, whose code is another one if it is that of a change of state.
func withoutStateChange(document []byte) []byte {
	if !tellsStateChange(document) {
		return document
	}
	at, dst := wire.BeginDocument(nil)
	for it := wire.Elements(document); it.Next(); {
		switch string(it.Key) {
		case "code":
			dst = wire.AppendInt32(dst, "code", codeHostUnreachable)
		case "codeName":
			dst = wire.AppendString(dst, "codeName", "HostUnreachable")
		default:
			dst = wire.AppendElement(dst, it.Element)
		}
	}
	return wire.EndDocument(dst, at)
}

// appendLabels writes the labels of a reply, without RetryableWriteError if the router has retried: then the client must not.
func appendLabels(dst, array []byte, retried bool) []byte {
	var labels []string
	for it := wire.Elements(array); it.Next(); {
		if text := it.Text(); text != nil && (!retried || string(text) != labelRetryableWrite) {
			labels = append(labels, string(text))
		}
	}
	if len(labels) == 0 {
		return dst
	}
	return wire.AppendStrings(dst, "errorLabels", labels)
}
