package wire

import "encoding/binary"

// maxKilled is how many cursors one OP_KILL_CURSORS may have: servers refused 30,000.
const maxKilled = 30_000 - 1

// AppendKillCursors writes a whole OP_KILL_CURSORS, which has no reply.
func AppendKillCursors(dst []byte, requestID int32, cursors []int64) []byte {
	at, dst := beginMessage(dst, requestID, 0, OpKillCursors)
	dst = binary.LittleEndian.AppendUint32(dst, 0) // reserved
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(cursors)))
	for _, id := range cursors {
		dst = binary.LittleEndian.AppendUint64(dst, uint64(id))
	}
	return EndMessage(dst, at)
}

// ParseKillCursors reads an OP_KILL_CURSORS, header included, and returns the ids of its cursors.
func ParseKillCursors(b []byte) ([]int64, error) {
	rest, err := oldBody(b, OpKillCursors, "OP_KILL_CURSORS")
	if err != nil {
		return nil, err
	}
	if len(rest) < 8 {
		return nil, malformed("an OP_KILL_CURSORS without its count")
	}
	n, ids := int(int32(binary.LittleEndian.Uint32(rest[4:]))), rest[8:]
	if n < 0 || n > maxKilled || len(ids) != 8*n {
		return nil, malformed("an OP_KILL_CURSORS of %d cursors in %d bytes; it may have at most %d, each in 8 bytes", n, len(ids), maxKilled)
	}
	cursors := make([]int64, n)
	for i := range cursors {
		cursors[i] = int64(binary.LittleEndian.Uint64(ids[8*i:]))
	}
	return cursors, nil
}
