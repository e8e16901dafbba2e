package topology

import (
	"math"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/tag"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

// helloField stores one element of a reply. It returns false if the element has the wrong type.
type helloField func(h *helloReply, e *wire.Element) bool

// helloFields has each field of a hello that is read. Host names become lower case: SDAM, "Hostnames are normalized
// to lower-case".
var helloFields = map[string]helloField{
	"ok": func(h *helloReply, e *wire.Element) bool { n, ok := e.Int64(); h.ok = n == 1; return ok },
	"code": func(h *helloReply, e *wire.Element) bool {
		h.failure.HasCode = true
		return int32At(&h.failure.Code, e)
	},
	"codeName":    func(h *helloReply, e *wire.Element) bool { return textAt(&h.failure.CodeName, e) },
	"errmsg":      func(h *helloReply, e *wire.Element) bool { return textAt(&h.failure.Message, e) },
	"$err":        func(h *helloReply, e *wire.Element) bool { return textAt(&h.failure.Message, e) },
	"errorLabels": func(h *helloReply, e *wire.Element) bool { return textsAt(&h.failure.Labels, e) },

	"isWritablePrimary": func(h *helloReply, e *wire.Element) bool { h.writable = new(bool); return flagAt(h.writable, e) },
	"ismaster": func(h *helloReply, e *wire.Element) bool {
		h.legacyWritable = new(bool)
		return flagAt(h.legacyWritable, e)
	},
	"secondary":    func(h *helloReply, e *wire.Element) bool { return flagAt(&h.secondary, e) },
	"isreplicaset": func(h *helloReply, e *wire.Element) bool { return flagAt(&h.ghost, e) },
	"msg":          func(h *helloReply, e *wire.Element) bool { return textAt(&h.msg, e) },
	"arbiterOnly":  func(h *helloReply, e *wire.Element) bool { return flagAt(&h.server.ArbiterOnly, e) },
	"hidden":       func(h *helloReply, e *wire.Element) bool { return flagAt(&h.server.Hidden, e) },
	"readOnly":     func(h *helloReply, e *wire.Element) bool { return flagAt(&h.server.ReadOnly, e) },
	"helloOk":      func(h *helloReply, e *wire.Element) bool { return flagAt(&h.server.HelloOK, e) },

	"me":         func(h *helloReply, e *wire.Element) bool { return hostAt(&h.server.Me, e) },
	"primary":    func(h *helloReply, e *wire.Element) bool { return hostAt(&h.server.Primary, e) },
	"hosts":      func(h *helloReply, e *wire.Element) bool { return hostsAt(&h.server.Hosts, e) },
	"passives":   func(h *helloReply, e *wire.Element) bool { return hostsAt(&h.server.Passives, e) },
	"arbiters":   func(h *helloReply, e *wire.Element) bool { return hostsAt(&h.server.Arbiters, e) },
	"setName":    func(h *helloReply, e *wire.Element) bool { return textAt(&h.server.SetName, e) },
	"setVersion": func(h *helloReply, e *wire.Element) bool { return optionalAt(&h.server.SetVersion, e) },
	"electionId": func(h *helloReply, e *wire.Element) bool { return objectIDAt(&h.server.ElectionID, e) },
	"tags":       func(h *helloReply, e *wire.Element) bool { return tagsAt(&h.server.Tags, e) },
	"lastWrite":  func(h *helloReply, e *wire.Element) bool { return lastWriteAt(&h.server.LastWriteDate, e) },

	"minWireVersion":      func(h *helloReply, e *wire.Element) bool { return int32At(&h.server.MinWireVersion, e) },
	"maxWireVersion":      func(h *helloReply, e *wire.Element) bool { return int32At(&h.server.MaxWireVersion, e) },
	"maxBsonObjectSize":   func(h *helloReply, e *wire.Element) bool { return limitAt(&h.server.MaxDocumentSize, e) },
	"maxMessageSizeBytes": func(h *helloReply, e *wire.Element) bool { return limitAt(&h.server.MaxMessageSize, e) },
	"maxWriteBatchSize":   func(h *helloReply, e *wire.Element) bool { return limitAt(&h.server.MaxBatchCount, e) },

	"logicalSessionTimeoutMinutes": func(h *helloReply, e *wire.Element) bool {
		return optionalAt(&h.server.SessionTimeoutMinutes, e)
	},
	"topologyVersion": func(h *helloReply, e *wire.Element) bool {
		h.server.TopologyVersion = ParseTopologyVersion(e.Document())
		return h.server.TopologyVersion != nil
	},
	"connectionId":       func(h *helloReply, e *wire.Element) bool { return optionalAt(&h.server.ServerConnectionID, e) },
	"serviceId":          func(h *helloReply, e *wire.Element) bool { return objectIDAt(&h.server.ServiceID, e) },
	"compression":        func(h *helloReply, e *wire.Element) bool { return textsAt(&h.server.Compression, e) },
	"saslSupportedMechs": func(h *helloReply, e *wire.Element) bool { return textsAt(&h.server.SASLSupportedMechs, e) },
}

func flagAt(to *bool, e *wire.Element) bool {
	*to = e.True()
	return e.Type == bson.TypeBoolean || number(e)
}

func number(e *wire.Element) bool {
	return e.Type == bson.TypeInt32 || e.Type == bson.TypeInt64 || e.Type == bson.TypeDouble
}

func textAt(to *string, e *wire.Element) bool {
	text := e.Text()
	*to = string(text)
	return text != nil
}

func hostAt(to *string, e *wire.Element) bool {
	ok := textAt(to, e)
	*to = strings.ToLower(*to)
	return ok
}

func textsAt(to *[]string, e *wire.Element) bool {
	array := e.Array()
	*to = nil
	it := wire.Elements(array)
	for it.Next() {
		text := it.Text()
		if text == nil {
			return false
		}
		*to = append(*to, string(text))
	}
	return array != nil && it.Err == nil
}

func hostsAt(to *[]string, e *wire.Element) bool {
	ok := textsAt(to, e)
	for i, host := range *to {
		(*to)[i] = strings.ToLower(host)
		ok = ok && host != ""
	}
	return ok
}

func optionalAt(to **int64, e *wire.Element) bool {
	n, ok := e.Int64()
	if !ok || !number(e) {
		return false
	}
	*to = &n
	return true
}

func int32At(to *int32, e *wire.Element) bool {
	n, ok := e.Int64()
	if !ok || !number(e) || n < math.MinInt32 || n > math.MaxInt32 {
		return false
	}
	*to = int32(n)
	return true
}

// limitAt accepts only a positive limit.
func limitAt(to *int32, e *wire.Element) bool {
	return int32At(to, e) && *to > 0
}

func objectIDAt(to *bson.ObjectID, e *wire.Element) bool {
	if e.Type != bson.TypeObjectID {
		return false
	}
	*to = bson.ObjectID(e.Value)
	return true
}

func tagsAt(to *tag.Set, e *wire.Element) bool {
	doc := e.Document()
	*to = nil
	it := wire.Elements(doc)
	for it.Next() {
		value := it.Text()
		if value == nil {
			return false
		}
		*to = append(*to, tag.Tag{Name: string(it.Key), Value: string(value)})
	}
	return doc != nil && it.Err == nil
}

// lastWriteAt reads lastWriteDate only. The opTime beside it is for a mongos.
func lastWriteAt(to *time.Time, e *wire.Element) bool {
	doc := e.Document()
	it := wire.Elements(doc)
	for it.Next() {
		if string(it.Key) != "lastWriteDate" {
			continue
		}
		ms, _ := it.Int64()
		if it.Type != bson.TypeDateTime {
			return false
		}
		*to = time.UnixMilli(ms)
	}
	return doc != nil && it.Err == nil
}

// ParseTopologyVersion reads the topologyVersion document of a hello or of an error reply. It returns nil if doc is
// malformed.
func ParseTopologyVersion(doc bson.Raw) *TopologyVersion {
	var tv TopologyVersion
	var process, counter bool
	it := wire.Elements(doc)
	for it.Next() {
		switch string(it.Key) {
		case "processId":
			process = objectIDAt(&tv.ProcessID, &it.Element)
		case "counter":
			tv.Counter, counter = it.Int64()
			counter = counter && number(&it.Element)
		}
	}
	if !process || !counter || it.Err != nil {
		return nil
	}
	return &tv
}
