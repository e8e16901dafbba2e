package couchbasetest_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/holdfast-db/holdfast/couchbasetest"
	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
)

func TestMacrosStandForWhatTheMutationGot(t *testing.T) {
	inBubble(t, func(t *testing.T, c *couchbasetest.Cluster) {
		cl := open(t, c, 0)
		const macro = xattr | memd.SpecExpandMacros | memd.SpecCreatePath
		reply := cl.ok(mutate(memd.DocUpsert,
			spec(memd.OpSubdocDictSet, macro, "x.cas", `"${Mutation.CAS}"`), spec(memd.OpSubdocDictSet, macro, "x.seqno", `"${Mutation.seqno}"`),
			spec(memd.OpSubdocDictSet, macro, "x.sum", `"${Mutation.value_crc32c}"`), spec(memd.OpSubdocCounter, 0, "n", "5")))
		token, ok, err := memd.ParseMutationToken(reply.Extras)
		if err != nil || !ok {
			t.Fatal(err)
		}
		results, err := memd.ParseMutationResults(reply.Value, 4)
		if err != nil || len(results) != 1 || results[0].Index != 3 || string(results[0].Value) != "5" {
			t.Errorf("the results are %+v, %v; want the counter's alone", results, err)
		}
		found := cl.ok(look(0, spec(memd.OpSubdocGet, xattr, "x", ""), spec(memd.OpSubdocGet, xattr, "$document.value_crc32c", ""),
			spec(memd.OpSubdocGet, xattr, "$document.seqno", ""), spec(memd.OpGet, 0, "", "")))
		parts, err := memd.ParseLookupResults(found.Value, 4)
		if err != nil {
			t.Fatal(err)
		}
		var cas bytes.Buffer
		for i := range 8 {
			fmt.Fprintf(&cas, "%02x", byte(reply.CAS>>(8*i)))
		}
		want := fmt.Sprintf(`{"cas":"0x%s","seqno":%q,"sum":%s}`, cas.String(), fmt.Sprintf("0x%016x", token.Seqno), parts[1].Value)
		if string(parts[0].Value) != want || string(parts[2].Value) != fmt.Sprintf(`"0x%016x"`, token.Seqno) || string(parts[3].Value) != `{"n":5}` {
			t.Errorf("the attribute is %s, want %s; $document.seqno is %s, the document %s", parts[0].Value, want, parts[2].Value, parts[3].Value)
		}
	})
}

// Macros of the virtual attribute $document stand for what the document had before the mutation, as the macro ones of kv_engine are expanded
// before it is applied.
func TestMacrosOfTheDocumentStandForWhatWasBefore(t *testing.T) {
	inBubble(t, func(t *testing.T, c *couchbasetest.Cluster) {
		cl := open(t, c, 0)
		cl.ok(with(doc(memd.OpSet, "k", `{"n":1}`), func(p *memd.Packet) { p.Extras = memd.AppendStore(nil, 7, 60) }))
		parts := lookedUp(t, cl, spec(memd.OpSubdocGet, xattr, "$document.CAS", ""), spec(memd.OpSubdocGet, xattr, "$document.seqno", ""),
			spec(memd.OpSubdocGet, xattr, "$document.exptime", ""), spec(memd.OpSubdocGet, xattr, "$document.revid", ""))
		const macro = xattr | memd.SpecExpandMacros | memd.SpecCreatePath
		p := mutate(0, spec(memd.OpSubdocDictSet, macro, "x.cas", `"${$document.CAS}"`), spec(memd.OpSubdocDictSet, macro, "x.seqno", `"${$document.seqno}"`),
			spec(memd.OpSubdocDictSet, macro, "x.exptime", `"${$document.exptime}"`), spec(memd.OpSubdocDictSet, macro, "x.revid", `"${$document.revid}"`),
			spec(memd.OpSubdocDictSet, macro, "x.flags", `"${$document.flags}"`), spec(memd.OpSubdocDictSet, 0, "n", "12"))
		p.Extras = memd.AppendMultiExtras(nil, memd.MultiExtras{HasExpiry: true, Expiry: 5, HasUserFlags: true, UserFlags: 8})
		cl.ok(p)
		want := fmt.Sprintf(`{"cas":%s,"seqno":%s,"exptime":%s,"revid":%s,"flags":7}`, parts[0].Value, parts[1].Value, parts[2].Value, parts[3].Value)
		if got := lookedUp(t, cl, spec(memd.OpSubdocGet, xattr, "x", "")); string(got[0].Value) != want {
			t.Errorf("the attribute is %s, want %s", got[0].Value, want)
		}
	})
}

func TestATextThatLooksLikeAMacroStays(t *testing.T) {
	inBubble(t, func(t *testing.T, c *couchbasetest.Cluster) {
		cl := open(t, c, 0)
		const text = `"${Mutation.value_crc32c}"`
		cl.ok(mutate(memd.DocUpsert, spec(memd.OpSubdocDictSet, xattr|memd.SpecExpandMacros, "x.sum", text), spec(memd.OpSubdocDictSet, xattr, "x.text", text)))
		if got := lookedUp(t, cl, spec(memd.OpSubdocGet, xattr, "x.text", ""), spec(memd.OpSubdocGet, xattr, "x.sum", "")); string(got[0].Value) != text ||
			len(got[1].Value) != len(`"0x00000000"`) {
			t.Errorf("the text is %s, the checksum %s", got[0].Value, got[1].Value)
		}
	})
}

// lookedUp returns the answers to the parts of a look-up.
func lookedUp(t *testing.T, cl *client, specs ...memd.Spec) []memd.SpecResult {
	t.Helper()
	parts, err := memd.ParseLookupResults(cl.ok(look(0, specs...)).Value, len(specs))
	if err != nil {
		t.Fatal(err)
	}
	return parts
}
