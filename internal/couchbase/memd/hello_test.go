package memd

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestFeatures(t *testing.T) {
	value := AppendFeatures(nil, FeatureXattr, FeatureBriefMapPush, 0x40, 0xffff)
	if want := unhex(t, "0006 001f 0040 ffff"); !bytes.Equal(value, want) {
		t.Errorf("%x, want %x", value, want)
	}
	set, err := ParseFeatures(value)
	if err != nil {
		t.Fatal(err)
	}
	for f := range 0x1_0000 {
		f := Feature(f)
		if want := f == FeatureXattr || f == FeatureBriefMapPush; set.Has(f) != want {
			t.Errorf("feature %#x: %t", f, set.Has(f))
		}
	}
}

func TestTheKeyOfHello(t *testing.T) {
	for agent, want := range map[string]string{
		"holdfast/1": "holdfast/1", strings.Repeat("a", 201): strings.Repeat("a", 200), strings.Repeat("a", 199) + "é": strings.Repeat("a", 199),
		`"`: `"`, "": "",
	} {
		key := HelloKey(agent, 0x1f, 0xabc)
		var got struct{ A, I string }
		if err := json.Unmarshal(key, &got); err != nil || got.A != want || got.I != "000000000000001f/0000000000000abc" || !utf8.Valid(key) {
			t.Errorf("%s: %v", key, err)
		}
	}
}

func FuzzFeatures(f *testing.F) {
	f.Add([]byte{0, 6, 0, 7})
	f.Fuzz(func(t *testing.T, b []byte) {
		set, err := ParseFeatures(b)
		if (err != nil) != (len(b)%2 != 0) {
			t.Errorf("%x: %v", b, err)
		}
		for i := 0; err == nil && i < len(b); i += 2 {
			if f := Feature(b[i])<<8 | Feature(b[i+1]); set.Has(f) != (f < 64) {
				t.Errorf("%x: feature %#x", b, f)
			}
		}
	})
}
