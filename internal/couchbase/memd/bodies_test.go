package memd

import (
	"bytes"
	"errors"
	"reflect"
	"testing"
)

// bodies has each body with its reader. A reader returns the bytes that its writer makes of what it read.
var bodies = []struct {
	name string
	hex  string
	read func(b []byte) ([]byte, error)
}{
	{"a mutation token", "0000000000000001 0000000000000002", func(b []byte) ([]byte, error) {
		token, _, err := ParseMutationToken(b)
		return AppendMutationToken(nil, token), err
	}},
	{"the extras of a store", "02000000 00000e10", func(b []byte) ([]byte, error) {
		flags, expiry, err := ParseStore(b)
		return AppendStore(nil, flags, expiry), err
	}},
	{"the extras of a counter", "0000000000000005 0000000000000064 ffffffff", func(b []byte) ([]byte, error) {
		c, err := ParseCounter(b)
		return AppendCounter(nil, c), err
	}},
	{"the version of a map", "ffffffffffffffff 0000000000000009", func(b []byte) ([]byte, error) {
		v, err := ParseMapVersion(b)
		return AppendMapVersion(nil, v), err
	}},
	{"a collection's id", "000000000000001f 00000008", func(b []byte) ([]byte, error) {
		c, err := ParseCollection(b)
		return AppendCollection(nil, c), err
	}},
	{"metadata", "00000001 02000000 00000e10 0000000000000007 01", func(b []byte) ([]byte, error) {
		m, err := ParseMeta(b)
		return AppendMeta(nil, m), err
	}},
	{"an observed seqno", "00 0073 0000000000000001 0000000000000002 0000000000000003", func(b []byte) ([]byte, error) {
		o, err := ParseObservedSeqno(b)
		return AppendObservedSeqno(nil, o), err
	}},
	{
		"an observed seqno after a failover", "01 0073 0000000000000001 0000000000000002 0000000000000003 0000000000000004 0000000000000005",
		func(b []byte) ([]byte, error) {
			o, err := ParseObservedSeqno(b)
			return AppendObservedSeqno(nil, o), err
		},
	},
	{"an observed document", "0073 0005 68656c6c6f 81 000000000000002a", func(b []byte) ([]byte, error) {
		vbucket, key, _, err := CutObserveKey(b)
		if err != nil {
			return nil, err
		}
		state, cas, err := ParseObserved(b)
		return AppendObserved(AppendObserveKey(nil, vbucket, key), state, cas), err
	}},
	{"answers to two look-ups", "0000 00000002 7b7d 00c0 00000000", func(b []byte) ([]byte, error) {
		results, err := ParseLookupResults(b, 2)
		var again []byte
		for _, r := range results {
			again = AppendLookupResult(again, r.Status, r.Value)
		}
		return again, err
	}},
	{"answers to a mutation", "00 0000 00000001 31 02 0000 00000002 3132", func(b []byte) ([]byte, error) {
		results, err := ParseMutationResults(b, 3)
		var again []byte
		for _, r := range results {
			again = AppendMutationResult(again, r)
		}
		return again, err
	}},
	{"a failed mutation", "02 00c9", func(b []byte) ([]byte, error) {
		index, status, err := ParseMutationFailure(b, 3)
		return AppendMutationFailure(nil, index, status), err
	}},
	{"two look-ups", "c5 04 0003 5f7879 c6 00 0001 61", func(b []byte) ([]byte, error) {
		var again []byte
		for len(b) > 0 {
			s, others, err := CutLookup(b)
			if err != nil {
				return nil, err
			}
			again, b = AppendLookup(again, s), others
		}
		return again, nil
	}},
	{"two mutations", "c8 05 0003 00000002 5f7879 7b7d c9 00 0001 00000000 61", func(b []byte) ([]byte, error) {
		var again []byte
		for len(b) > 0 {
			s, others, err := CutMutation(b)
			if err != nil {
				return nil, err
			}
			again, b = AppendMutation(again, s), others
		}
		return again, nil
	}},
	{"all extras of a sub-document command", "00000e10 02000000 05", func(b []byte) ([]byte, error) {
		e, err := ParseMultiExtras(b)
		return AppendMultiExtras(nil, e), err
	}},
}

func TestBodies(t *testing.T) {
	for _, c := range bodies {
		want := unhex(t, c.hex)
		if again, err := c.read(want); err != nil || !bytes.Equal(again, want) {
			t.Errorf("%s: %x is read and written as %x, %v", c.name, want, again, err)
		}
		for n := range want {
			if _, err := c.read(want[:n]); err != nil && !errors.Is(err, ErrMalformed) {
				t.Errorf("%s, %d bytes of it: %v", c.name, n, err)
			}
		}
	}
}

func TestTheFieldsOfBodies(t *testing.T) {
	token, has, err := ParseMutationToken(unhex(t, "0000000000000001 0000000000000002"))
	equal(t, []any{token, has, err}, []any{MutationToken{VBucketUUID: 1, Seqno: 2}, true, nil})
	token, has, err = ParseMutationToken(nil)
	equal(t, []any{token, has, err}, []any{MutationToken{}, false, nil})
	counter, err := ParseCounter(unhex(t, "0000000000000005 0000000000000064 ffffffff"))
	equal(t, []any{counter, err}, []any{Counter{Delta: 5, Initial: 100, Expiry: NoCreate}, nil})
	version, err := ParseMapVersion(unhex(t, "ffffffffffffffff 0000000000000009"))
	equal(t, []any{version, err}, []any{MapVersion{Epoch: -1, Revision: 9}, nil})
	version, err = ParseMapVersion(unhex(t, "00000009")) // of an older server
	equal(t, []any{version, err}, []any{MapVersion{Revision: 9}, nil})
	collection, err := ParseCollection(unhex(t, "000000000000001f 00000008"))
	equal(t, []any{collection, err}, []any{CollectionID{ManifestUID: 0x1f, ID: 8}, nil})
	meta, err := ParseMeta(unhex(t, "00000001 02000000 00000e10 0000000000000007 01"))
	equal(t, []any{meta, err}, []any{Meta{Deleted: true, Flags: 0x02000000, Expiry: 3600, Seqno: 7, DataType: DataJSON}, nil})
	seqno, err := ParseObservedSeqno(unhex(t, "01 0073 0000000000000001 0000000000000002 0000000000000003 0000000000000004 0000000000000005"))
	equal(t, []any{seqno, err}, []any{ObservedSeqno{VBucket: 115, VBucketUUID: 1, Persisted: 2, Current: 3, FailedOver: true, OldUUID: 4, OldSeqno: 5}, nil})
	state, cas, err := ParseObserved(unhex(t, "0073 0005 68656c6c6f 81 000000000000002a"))
	equal(t, []any{state, cas, err}, []any{KeyDeletedPersisted, uint64(42), nil})
	results, err := ParseMutationResults(unhex(t, "02 0000 00000002 3132"), 3)
	equal(t, []any{results, err}, []any{[]SpecResult{{Index: 2, Value: []byte("12")}}, nil})
	index, status, err := ParseMutationFailure(unhex(t, "02 00c9"), 3)
	equal(t, []any{index, status, err}, []any{2, StatusPathExists, nil})
	number, err := ParseUint64(unhex(t, "000000000000002a"))
	equal(t, []any{number, err}, []any{uint64(42), nil})
	flags, err := ParseUint32(unhex(t, "02000000"))
	equal(t, []any{flags, err}, []any{uint32(0x02000000), nil})
}

func equal(t *testing.T, got, want any) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}

func TestWhichExtrasASubDocumentCommandHas(t *testing.T) {
	for text, want := range map[string]MultiExtras{
		"":                     {},
		"05":                   {Doc: DocUpsert | DocAccessDeleted},
		"00000e10":             {Expiry: 3600, HasExpiry: true},
		"00000e10 05":          {Expiry: 3600, HasExpiry: true, Doc: DocUpsert | DocAccessDeleted},
		"00000000 02000000":    {HasExpiry: true, UserFlags: 0x02000000, HasUserFlags: true},
		"00000000 02000000 01": {HasExpiry: true, UserFlags: 0x02000000, HasUserFlags: true, Doc: DocUpsert},
	} {
		got, err := ParseMultiExtras(unhex(t, text))
		equal(t, []any{got, err}, []any{want, nil})
		if again := AppendMultiExtras(nil, want); !bytes.Equal(again, unhex(t, text)) {
			t.Errorf("%+v is written as %x", want, again)
		}
	}
	for _, text := range []string{"0000", "000000", "000000000000", "00000000 00000000 00000000", "00000000 00000000 00000000 01"} {
		if e, err := ParseMultiExtras(unhex(t, text)); !errors.Is(err, ErrMalformed) {
			t.Errorf("%s: %+v, %v", text, e, err)
		}
	}
}

func TestWhichBodiesAreMalformed(t *testing.T) {
	of := func(_ any, err error) error { return err }
	two := func(_, _ any, err error) error { return err }
	for name, err := range map[string]error{
		"fewer answers than look-ups":             of(ParseLookupResults(unhex(t, "0000 00000000"), 2)),
		"bytes after the answers to look-ups":     of(ParseLookupResults(unhex(t, "0000 00000000 00"), 1)),
		"an answer longer than the packet":        of(ParseLookupResults(unhex(t, "0000 ffffffff"), 1)),
		"an answer to a part that there is not":   of(ParseMutationResults(unhex(t, "03 0000 00000000"), 3)),
		"half an answer":                          of(ParseMutationResults(unhex(t, "00 0000 000000"), 3)),
		"a failure of a part that there is not":   two(ParseMutationFailure(unhex(t, "03 00c9"), 3)),
		"a failure and more":                      two(ParseMutationFailure(unhex(t, "01 00c9 00"), 3)),
		"an unknown format of an observed seqno":  of(ParseObservedSeqno(unhex(t, "02 0073 0000000000000001 0000000000000002 0000000000000003"))),
		"an observed seqno without its old one":   of(ParseObservedSeqno(unhex(t, "01 0073 0000000000000001 0000000000000002 0000000000000003"))),
		"an observed document without its state":  two(ParseObserved(unhex(t, "0073 0001 68"))),
		"a mutation token of another length":      two(ParseMutationToken(make([]byte, 8))),
		"the version of a map in 8 bytes":         of(ParseMapVersion(make([]byte, 8))),
		"flags in 3 bytes":                        of(ParseUint32(make([]byte, 3))),
		"a counter in 4 bytes":                    of(ParseUint64(make([]byte, 4))),
		"the extras of a store in 4 bytes":        two(ParseStore(make([]byte, 4))),
		"the extras of a counter in 16 bytes":     of(ParseCounter(make([]byte, 16))),
		"metadata without a data type":            of(ParseMeta(make([]byte, 20))),
		"a collection's id in 4 bytes":            of(ParseCollection(make([]byte, 4))),
		"an error map that is not JSON":           of(ParseErrorMap([]byte("{"))),
		"an error map with a status of 5 digits":  of(ParseErrorMap([]byte(`{"errors":{"10000":{}}}`))),
		"an odd number of bytes for the features": of(ParseFeatures([]byte{0, 1, 0})),
	} {
		if !errors.Is(err, ErrMalformed) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzBodies(f *testing.F) {
	for i, c := range bodies {
		f.Add(i, unhex(f, c.hex))
	}
	f.Fuzz(func(t *testing.T, i int, b []byte) {
		c := bodies[(i%len(bodies)+len(bodies))%len(bodies)]
		again, err := c.read(b)
		if err != nil {
			if !errors.Is(err, ErrMalformed) {
				t.Errorf("%s: %v", c.name, err)
			}
			return
		}
		// There may be several ways to write a body; the one that is written here is read as it is.
		if third, err := c.read(again); err != nil || !bytes.Equal(third, again) {
			t.Errorf("%s: %x is written as %x, and that as %x, %v", c.name, b, again, third, err)
		}
	})
}
