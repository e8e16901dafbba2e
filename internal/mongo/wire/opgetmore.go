package wire

import "encoding/binary"

// GetMore is an OP_GET_MORE: it asks for more of what an OP_QUERY found.
type GetMore struct {
	Collection []byte // with its database: "db.collection"
	Return     int32  // 0 means that the server chooses
	Cursor     int64
}

// Append writes the whole message.
func (g *GetMore) Append(dst []byte, requestID int32) []byte {
	at, dst := beginMessage(dst, requestID, 0, OpGetMore)
	dst = binary.LittleEndian.AppendUint32(dst, 0) // reserved
	dst = append(append(dst, g.Collection...), 0)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(g.Return))
	return EndMessage(binary.LittleEndian.AppendUint64(dst, uint64(g.Cursor)), at)
}

// ParseGetMore reads an OP_GET_MORE, header included.
func ParseGetMore(b []byte) (GetMore, error) {
	rest, err := oldBody(b, OpGetMore, "OP_GET_MORE")
	if err != nil {
		return GetMore{}, err
	}
	const counts = 4 + 8 // bytes
	name, rest, err := cutCollection(rest[4:], counts)
	switch {
	case err != nil:
		return GetMore{}, err
	case len(rest) > counts:
		return GetMore{}, malformed("%d bytes after the cursor of an OP_GET_MORE", len(rest)-counts)
	}
	return GetMore{
		Collection: name, Return: int32(binary.LittleEndian.Uint32(rest)), Cursor: int64(binary.LittleEndian.Uint64(rest[4:])),
	}, nil
}
