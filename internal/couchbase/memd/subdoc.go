package memd

import "encoding/binary"

// The limits of a sub-document command.
const (
	MaxSpecs      = 16
	MaxPathLength = 1024 // bytes
)

// SpecFlags modify one part of a sub-document command.
type SpecFlags byte

// The flags of a part.
const (
	SpecCreatePath   SpecFlags = 0x01
	SpecXattr        SpecFlags = 0x04
	SpecExpandMacros SpecFlags = 0x10
	SpecBinaryValue  SpecFlags = 0x20
)

// DocFlags modify a whole sub-document command.
type DocFlags byte

// The flags of a command.
const (
	DocUpsert          DocFlags = 0x01
	DocInsert          DocFlags = 0x02
	DocAccessDeleted   DocFlags = 0x04
	DocCreateAsDeleted DocFlags = 0x08
	DocRevive          DocFlags = 0x10
	DocReplicaRead     DocFlags = 0x20
)

// Spec is one part of a sub-document command. A look-up has no value.
type Spec struct {
	Op    Opcode
	Flags SpecFlags
	Path  []byte
	Value []byte
}

// AppendLookup writes one part of a look-up. The path must have at most 65,535 bytes.
func AppendLookup(dst []byte, s Spec) []byte {
	dst = append(dst, byte(s.Op), byte(s.Flags))
	return append(binary.BigEndian.AppendUint16(dst, uint16(len(s.Path))), s.Path...)
}

// AppendMutation writes one part of a mutation. The path must have at most 65,535 bytes.
func AppendMutation(dst []byte, s Spec) []byte {
	dst = append(dst, byte(s.Op), byte(s.Flags))
	dst = binary.BigEndian.AppendUint16(dst, uint16(len(s.Path)))
	dst = binary.BigEndian.AppendUint32(dst, uint32(len(s.Value)))
	return append(append(dst, s.Path...), s.Value...)
}

// CutLookup reads the first part of a look-up and returns the others.
func CutLookup(b []byte) (s Spec, others []byte, err error) {
	if len(b) < 4 {
		return s, nil, malformed("a look-up in %d bytes", len(b))
	}
	path := int(binary.BigEndian.Uint16(b[2:]))
	if path > len(b)-4 {
		return s, nil, malformed("a path with %d of %d bytes", len(b)-4, path)
	}
	s.Op, s.Flags = Opcode(b[0]), SpecFlags(b[1])
	s.Path, others = cut(b[4:], path)
	return s, others, nil
}

// CutMutation reads the first part of a mutation and returns the others.
func CutMutation(b []byte) (s Spec, others []byte, err error) {
	if len(b) < 8 {
		return s, nil, malformed("a mutation in %d bytes", len(b))
	}
	path, value := uint64(binary.BigEndian.Uint16(b[2:])), uint64(binary.BigEndian.Uint32(b[4:]))
	if path+value > uint64(len(b)-8) {
		return s, nil, malformed("a path and a value with %d of %d bytes", len(b)-8, path+value)
	}
	s.Op, s.Flags = Opcode(b[0]), SpecFlags(b[1])
	s.Path, others = cut(b[8:], int(path))
	s.Value, others = cut(others, int(value))
	return s, others, nil
}

// SpecResult is the answer to one part of a sub-document command.
type SpecResult struct {
	Index  int
	Status Status
	Value  []byte
}

// AppendLookupResult writes the answer to one part of a look-up.
func AppendLookupResult(dst []byte, status Status, value []byte) []byte {
	dst = binary.BigEndian.AppendUint16(dst, uint16(status))
	return append(binary.BigEndian.AppendUint32(dst, uint32(len(value))), value...)
}

// ParseLookupResults reads the answers to the n parts of a look-up.
func ParseLookupResults(b []byte, n int) ([]SpecResult, error) {
	results := make([]SpecResult, 0, min(n, MaxSpecs))
	for i := range n {
		if len(b) < 6 {
			return nil, malformed("answers to %d of %d look-ups", i, n)
		}
		r := SpecResult{Index: i, Status: Status(binary.BigEndian.Uint16(b))}
		var err error
		if r.Value, b, err = cutValue(b[2:]); err != nil {
			return nil, err
		}
		results = append(results, r)
	}
	if len(b) > 0 {
		return nil, malformed("%d bytes after the answers to %d look-ups", len(b), n)
	}
	return results, nil
}

// cutValue reads a length of four bytes and as many bytes after it.
func cutValue(b []byte) (value, others []byte, err error) {
	if len(b) < 4 {
		return nil, nil, malformed("a length in %d bytes", len(b))
	}
	n := binary.BigEndian.Uint32(b)
	if uint64(n) > uint64(len(b)-4) {
		return nil, nil, malformed("a value with %d of %d bytes", len(b)-4, n)
	}
	value, others = cut(b[4:], int(n))
	return value, others, nil
}

// AppendMutationResult writes the answer to one part of a successful mutation. Only parts with a value have one.
func AppendMutationResult(dst []byte, r SpecResult) []byte {
	return AppendLookupResult(append(dst, byte(r.Index)), r.Status, r.Value)
}

// AppendMutationFailure writes the answer to a mutation of which a part failed.
func AppendMutationFailure(dst []byte, index int, status Status) []byte {
	return binary.BigEndian.AppendUint16(append(dst, byte(index)), uint16(status))
}

// ParseMutationResults reads the answers to those parts of a successful mutation, which had n, that have one.
func ParseMutationResults(b []byte, n int) ([]SpecResult, error) {
	var results []SpecResult
	for len(b) > 0 {
		r, others, err := cutMutationResult(b, n)
		if err != nil {
			return nil, err
		}
		results = append(results, r)
		b = others
	}
	return results, nil
}

func cutMutationResult(b []byte, n int) (r SpecResult, others []byte, err error) {
	if len(b) < 7 {
		return r, nil, malformed("an answer to a mutation in %d bytes", len(b))
	}
	if r.Index = int(b[0]); r.Index >= n {
		return r, nil, malformed("an answer to the part %d of a mutation with %d", r.Index, n)
	}
	r.Status = Status(binary.BigEndian.Uint16(b[1:]))
	r.Value, others, err = cutValue(b[3:])
	return r, others, err
}

// ParseMutationFailure reads the answer to a mutation, which had n parts, of which one failed.
func ParseMutationFailure(b []byte, n int) (index int, status Status, err error) {
	switch {
	case len(b) != 3:
		return 0, 0, malformed("a failed mutation in %d bytes; it must be 3", len(b))
	case int(b[0]) >= n:
		return 0, 0, malformed("a failure of the part %d of a mutation with %d", b[0], n)
	}
	return int(b[0]), Status(binary.BigEndian.Uint16(b[1:])), nil
}

// MultiExtras are the extras of a sub-document command. A look-up has neither an expiry nor flags.
type MultiExtras struct {
	Expiry    uint32
	HasExpiry bool
	// UserFlags are the document's flags. They need an expiry before them, which may be 0.
	UserFlags    uint32
	HasUserFlags bool
	Doc          DocFlags
}

// AppendMultiExtras writes the extras of a sub-document command.
func AppendMultiExtras(dst []byte, e MultiExtras) []byte {
	if e.HasExpiry || e.HasUserFlags {
		dst = binary.BigEndian.AppendUint32(dst, e.Expiry)
	}
	if e.HasUserFlags {
		dst = binary.BigEndian.AppendUint32(dst, e.UserFlags)
	}
	if e.Doc != 0 {
		dst = append(dst, byte(e.Doc))
	}
	return dst
}

// ParseMultiExtras reads the extras of a sub-document command.
func ParseMultiExtras(b []byte) (e MultiExtras, err error) {
	length := len(b)
	if length%4 == 1 {
		e.Doc, b = DocFlags(b[length-1]), b[:length-1]
	}
	switch len(b) {
	case 8:
		e.UserFlags, e.HasUserFlags = binary.BigEndian.Uint32(b[4:]), true
		fallthrough
	case 4:
		e.Expiry, e.HasExpiry = binary.BigEndian.Uint32(b), true
	case 0:
	default:
		return MultiExtras{}, malformed("extras of %d bytes of a sub-document command", length)
	}
	return e, nil
}
