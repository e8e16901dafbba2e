package store

// OplogName is the namespace in which a member's log can be read.
const OplogName = "local.oplog.rs"

var oplogUUID = NewUUID()

// Oplog returns a log as a capped collection that can only be read. Document makes the document of an entry; it is called when a
// search first looks at the collection, without the log's lock.
func (l *Log) Oplog(last, size int64, document func(e, previous *Entry) []byte) *Collection {
	part := l.Part(last)
	c := newCollection(&Definition{UUID: oplogUUID, Options: Options{Capped: true, Size: size}})
	c.Live, c.Size = part.slots.n, part.bytes
	c.late = func() []*Record {
		list := make([]*Record, part.slots.n)
		for i := range list {
			index := part.Base + int64(i) + 1
			list[i] = &Record{ID: index, Doc: document(part.At(index), part.Previous(index))}
		}
		return list
	}
	return c
}
