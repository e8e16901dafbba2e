package memd

import (
	"bytes"
	"errors"
	"testing"
)

func TestVBuckets(t *testing.T) {
	for key, want := range map[string]uint16{"": 0, "a": 183, "key1": 92, "hello": 528, "foo": 115} {
		if got := VBucket([]byte(key), 1024); got != want {
			t.Errorf("%q is in vbucket %d, want %d", key, got, want)
		}
	}
	if got := VBucket([]byte("hello"), 64); got != 528%64 {
		t.Errorf("of 64 vbuckets %d", got)
	}
}

func TestCollectionIDs(t *testing.T) {
	for text, id := range map[string]uint32{
		"00": 0, "08": 8, "7f": 0x7f, "80 01": 0x80, "ab 04": 555, "d5 aa 01": 0x5555, "ff ff ff ff 0f": 0xffff_ffff,
	} {
		want := unhex(t, text)
		if got := AppendCollectionID(nil, id); !bytes.Equal(got, want) {
			t.Errorf("%#x is written as %x", id, got)
		}
		got, key, err := CutCollectionID(append(want, "key"...))
		if got != id || string(key) != "key" || err != nil {
			t.Errorf("%x: %#x, %q, %v", want, got, key, err)
		}
	}
	for _, text := range []string{"", "80", "ff ff ff ff", "80 00", "80 80 00", "ff ff ff ff 10", "ff ff ff ff ff 01"} {
		if id, _, err := CutCollectionID(unhex(t, text)); !errors.Is(err, ErrMalformed) {
			t.Errorf("%s: %#x, %v", text, id, err)
		}
	}
}

func TestWhichCommandsHaveACollection(t *testing.T) {
	in := map[Opcode]bool{0xa2: true, 0xa8: true}
	for _, o := range []Opcode{
		OpGet, OpSet, OpAdd, OpReplace, OpDelete, OpIncrement, OpDecrement, OpAppend, OpPrepend, OpTouch, OpGetAndTouch, OpGetReplica,
		OpGetLocked, OpUnlock, OpGetMeta, OpSubdocGet, OpSubdocExists, OpSubdocDictAdd, OpSubdocDictSet, OpSubdocDelete, OpSubdocReplace,
		OpSubdocArrayPushLast, OpSubdocArrayPushFirst, OpSubdocArrayInsert, OpSubdocArrayAddUnique, OpSubdocCounter, OpSubdocMultiLookup,
		OpSubdocMultiMutation, OpSubdocGetCount, OpSubdocReplaceBody,
	} {
		in[o] = true
	}
	for o := range 256 {
		if o := Opcode(o); o.InCollection() != in[o] {
			t.Errorf("%v: %t", o, o.InCollection())
		}
	}
}

func FuzzCollectionID(f *testing.F) {
	f.Add([]byte{0xab, 4, 'k'})
	f.Add([]byte{0x80, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		id, key, err := CutCollectionID(b)
		if err != nil {
			if !errors.Is(err, ErrMalformed) {
				t.Error(err)
			}
			return
		}
		if again := append(AppendCollectionID(nil, id), key...); !bytes.Equal(again, b) {
			t.Errorf("%x is written as %x", b, again)
		}
	})
}
