package couchbasetest

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/holdfast-db/holdfast/couchbasetest/internal/subjson"
	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
)

// The macros that stand for what the mutation gets, and what begins and ends those that stand for what the document had before it.
const (
	casMacro      = `"${Mutation.CAS}"`
	seqnoMacro    = `"${Mutation.seqno}"`
	checksumMacro = `"${Mutation.value_crc32c}"`
	documentMacro = `"${$document`
	endOfMacro    = `}"`
)

// macroFields are the fields of the virtual attribute $document that have macros. The whole attribute has one too.
var macroFields = []string{
	"", ".CAS", ".vbucket_uuid", ".seqno", ".revid", ".exptime", ".flags", ".value_bytes", ".datatype", ".deleted", ".last_modified",
}

// isMacro reports whether a value has the form of a macro.
func isMacro(value []byte) bool {
	switch string(value) {
	case casMacro, seqnoMacro, checksumMacro:
		return true
	}
	return bytes.HasPrefix(value, []byte(documentMacro)) && bytes.HasSuffix(value, []byte(endOfMacro))
}

// expand returns what a macro stands for. The checksum of the value is only known at the end: a text that stands nowhere else stands for it.
func (m *mutation) expand(macro []byte) ([]byte, memd.Status) {
	switch string(macro) {
	case casMacro:
		var cas [8]byte
		for i := range cas {
			cas[i] = byte(m.next.CAS >> (8 * i)) // the lowest byte first
		}
		return fmt.Appendf(nil, `"0x%x"`, cas), memd.StatusSuccess
	case seqnoMacro:
		return fmt.Appendf(nil, `"%#016x"`, m.seqno), memd.StatusSuccess
	case checksumMacro:
		m.checksum = fmt.Appendf(nil, `"%s of the version %d of a document"`, checksumMacro[1:len(checksumMacro)-1], m.next.CAS)
		return m.checksum, memd.StatusSuccess
	}
	field := string(bytes.TrimSuffix(bytes.TrimPrefix(macro, []byte(documentMacro)), []byte(endOfMacro)))
	path, status := subjson.ParsePath([]byte("$document" + field))
	if !slices.Contains(macroFields, field) || status != memd.StatusSuccess {
		return nil, memd.StatusXattrUnknownVMacro
	}
	return subjson.Get(m.exec.virtualXattrs(&m.before), path)
}
