package couchbasetest_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/holdfast-db/holdfast/couchbasetest"
	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
)

// TestPartsThatServersRefuse has a row for each rule of the parts of a sub-document command, which kv_engine has in the traits and in the
// validators of these commands: a command with a wrong part is refused as a whole.
func TestPartsThatServersRefuse(t *testing.T) {
	const macros, binary, parents = memd.SpecExpandMacros, memd.SpecBinaryValue, memd.SpecCreatePath
	const invalid, cas = memd.StatusInvalidArguments, `"${Mutation.CAS}"`
	x, y := spec(memd.OpSubdocGet, xattr, "x", ""), spec(memd.OpSubdocGet, xattr, "y", "")
	upsert, remove := spec(memd.OpSubdocDictSet, 0, "a", "1"), spec(memd.OpDelete, 0, "", "")
	for _, test := range []struct {
		sentence string
		version  string // "": the newest
		request  memd.Packet
		want     memd.Status
	}{
		{"an upsert has macros", "", mutate(0, spec(memd.OpSubdocDictSet, xattr|macros, "x", cas)), 0},
		{"an insert has macros", "", mutate(0, spec(memd.OpSubdocDictAdd, xattr|macros, "x", cas)), 0},
		{"an array has macros", "", mutate(0, spec(memd.OpSubdocArrayPushLast, xattr|macros|parents, "x", cas)), 0},
		{"ARRAY_ADD_UNIQUE has no macros", "", mutate(0, spec(memd.OpSubdocArrayAddUnique, xattr|macros|parents, "x", cas)), invalid},
		{"COUNTER has no macros", "", mutate(0, spec(memd.OpSubdocCounter, xattr|macros|parents, "x", cas)), invalid},
		{"a removal has no macros", "", mutate(0, spec(memd.OpSubdocDelete, xattr|macros, "x", "")), invalid},
		{"a whole document has no macros", "", mutate(0, spec(memd.OpSet, macros, "", cas)), invalid},
		{"a whole document is not in an attribute", "", mutate(0, spec(memd.OpSet, xattr, "", "{}")), invalid},
		{"a look-up has no macros", "", look(0, spec(memd.OpSubdocGet, xattr|macros, "x", "")), invalid},
		{"macros are for attributes only", "", mutate(0, spec(memd.OpSubdocDictSet, macros, "a", cas)), memd.StatusXattrFlagCombination},
		{"a macro that nobody knows", "", mutate(0, spec(memd.OpSubdocDictSet, xattr|macros, "x", `"${None}"`)), memd.StatusXattrUnknownMacro},
		{"a value around a macro", "", mutate(0, spec(memd.OpSubdocDictSet, xattr|macros, "x", `[`+cas+`]`)), memd.StatusXattrUnknownMacro},
		{"a field that $document lacks", "", mutate(0, spec(memd.OpSubdocDictSet, xattr|macros, "x", `"${$document.none}"`)), memd.StatusMultiFailure},
		{"a checksum is no macro of $document", "", mutate(0, spec(memd.OpSubdocDictSet, xattr|macros, "x", `"${$document.value_crc32c}"`)), memd.StatusMultiFailure},
		{"a binary value is for attributes only", "", mutate(0, spec(memd.OpSubdocDictSet, binary, "a", "1")), memd.StatusXattrFlagCombination},
		{"a binary value is no macro", "", mutate(0, spec(memd.OpSubdocDictSet, xattr|binary|macros, "x", cas)), memd.StatusXattrFlagCombination},
		{"an array has no binary value", "", mutate(0, spec(memd.OpSubdocArrayPushLast, xattr|binary|parents, "x", "1")), invalid},
		{"7.6 has no binary values", "7.6", mutate(0, spec(memd.OpSubdocDictSet, xattr|binary, "x", "1")), invalid},
		{"a virtual attribute is read only", "", mutate(0, spec(memd.OpSubdocDictSet, xattr, "$document.CAS", "1")), memd.StatusXattrCannotModify},
		{"a replacement makes no parents", "", mutate(0, spec(memd.OpSubdocReplace, parents, "a", "1")), invalid},
		{"a replacement makes no document", "", mutate(memd.DocUpsert, spec(memd.OpSubdocReplace, 0, "a", "1")), invalid},
		{"a removal makes no document", "", mutate(memd.DocInsert, spec(memd.OpSubdocDelete, 0, "a", "")), invalid},
		{"ARRAY_INSERT makes no document", "", mutate(memd.DocUpsert, spec(memd.OpSubdocArrayInsert, 0, "a[0]", "1")), invalid},
		{"only what may be deleted is revived", "", mutate(memd.DocRevive, upsert), invalid},
		{"a value is needed", "", mutate(0, spec(memd.OpSubdocDictSet, 0, "a", "")), invalid},
		{"a removal has no value", "", mutate(0, spec(memd.OpSubdocDelete, 0, "a", "1")), invalid},
		{"a path is needed", "", mutate(0, spec(memd.OpSubdocDictSet, 0, "", "1")), invalid},
		{"a counter needs a path", "", mutate(0, spec(memd.OpSubdocCounter, 0, "", "1")), invalid},
		{"a look-up needs a path", "", look(0, spec(memd.OpSubdocGet, 0, "", "")), invalid},
		{"a count needs none", "", look(0, spec(memd.OpSubdocGetCount, 0, "", "")), 0},
		{"a whole document has no path", "", look(0, spec(memd.OpGet, 0, "a", "")), invalid},
		{"a path of 1,025 bytes", "", look(0, spec(memd.OpSubdocGet, 0, strings.Repeat("a", 1025), "")), invalid},
		{"ADD is no part", "", mutate(memd.DocUpsert, spec(memd.OpAdd, 0, "", "{}")), memd.StatusBadCombination},
		{"a change is no part of a look-up", "", look(0, upsert), memd.StatusBadCombination},
		{"a mutation has parts", "", mutate(0), memd.StatusBadCombination},
		{"after the removal of the document comes nothing", "", mutate(0, remove, upsert), memd.StatusBadCombination},
		{"before the removal come only attributes", "", mutate(0, upsert, remove), memd.StatusBadCombination},
		{"attributes may come before the removal", "", mutate(0, spec(memd.OpSubdocDictSet, xattr, "_x", "1"), remove), 0},
		{"the name of an attribute has 15 bytes", "", look(0, spec(memd.OpSubdocExists, xattr, strings.Repeat("x", 15), "")), memd.StatusMultiFailure},
		{"the name of an attribute has not 16 bytes", "", look(0, spec(memd.OpSubdocGet, xattr, strings.Repeat("x", 16), "")), memd.StatusXattrInvalid},
		{"an attribute has a name", "", look(0, spec(memd.OpSubdocGet, xattr, "", "")), memd.StatusXattrInvalid},
		{"the name of an attribute begins with no other mark", "", look(0, spec(memd.OpSubdocGet, xattr, "`x`", "")), memd.StatusXattrInvalid},
		{"an underscore is no name", "", look(0, spec(memd.OpSubdocGet, xattr, "_", "")), memd.StatusXattrInvalid},
		{"two attributes since 7.6", "7.6", look(0, x, y), memd.StatusMultiFailure},
		{"one attribute before 7.6", "7.2", look(0, x, y), memd.StatusXattrKeyCombination},
		{"a virtual attribute beside it", "7.2", look(0, spec(memd.OpSubdocExists, xattr, "$document", ""), x, spec(memd.OpSubdocExists, xattr, "$vbucket", "")), memd.StatusMultiFailure},
	} {
		t.Run(test.sentence, func(t *testing.T) {
			var opts []couchbasetest.Option
			if test.version != "" {
				opts = append(opts, couchbasetest.Version(test.version))
			}
			inBubble(t, func(t *testing.T, c *couchbasetest.Cluster) {
				cl := open(t, c, 0)
				cl.ok(doc(memd.OpSet, "k", `{"a":1}`))
				reply := cl.status(test.request, test.want)
				var why struct{ Error memd.ErrorInfo }
				if test.want == invalid && (json.Unmarshal(reply.Value, &why) != nil || why.Error.Context == "") {
					t.Errorf("the refusal does not say why: %s", reply.Value)
				}
			}, opts...)
		})
	}
}
