package memd

import (
	"errors"
	"testing"
)

const errorMap = `{"version":2,"revision":9,"errors":{
	"86":{"name":"ETMPFAIL","desc":"temporary failure","attrs":["temp","retry-now"]},
	"8b":{"name":"EX","desc":"x","attrs":["retry-later","a-new-one"]},
	"ff01":{"name":"TEST","desc":"for a test","attrs":["auto-retry","fetch-config"],"retry":{"strategy":"constant","interval":10}},
	"01":{"name":"KEY_ENOENT","desc":"not found","attrs":["item-only"]}}}`

func TestTheErrorMap(t *testing.T) {
	m, err := ParseErrorMap([]byte(errorMap))
	if err != nil || m.Version != 2 || m.Revision != 9 {
		t.Fatalf("%+v, %v", m, err)
	}
	for status, want := range map[Status]bool{0x86: true, 0x8b: true, 0xff01: true, 0x01: false} {
		entry, ok := m.Entry(status)
		if !ok || entry.Retryable() != want || entry.Name == "" || entry.Description == "" {
			t.Errorf("%v: %+v, %t", status, entry, ok)
		}
	}
	if e, _ := m.Entry(0xff01); !e.Has(AttributeFetchConfig) || e.Has(AttributeConnInvalidated) {
		t.Errorf("%+v", e)
	}
	if _, ok := m.Entry(0x02); ok {
		t.Error("an entry that there is not")
	}
	if _, ok := (*ErrorMap)(nil).Entry(0x86); ok {
		t.Error("a nil map has an entry")
	}
}

func TestTheExplanationOfAnError(t *testing.T) {
	value := []byte(`{"error":{"context":"the path is empty","ref":"1-2"}}`)
	want := ErrorInfo{Context: "the path is empty", Ref: "1-2"}
	for _, c := range []struct {
		p    Packet
		want ErrorInfo
	}{
		{Packet{DataType: DataJSON, Value: value}, want},
		{Packet{Value: value}, ErrorInfo{}},
		{Packet{DataType: DataJSON, Value: []byte(`{"error":5}`)}, ErrorInfo{}},
		{Packet{DataType: DataJSON}, ErrorInfo{}},
	} {
		if got := ParseErrorInfo(&c.p); got != c.want {
			t.Errorf("%s: %+v", c.p.Value, got)
		}
	}
}

func TestTheManifestOfAnUnknownCollection(t *testing.T) {
	for value, want := range map[string]uint64{`{"manifest_uid":"1f"}`: 0x1f, `{"manifest_uid":"0"}`: 0} {
		if got, ok := ManifestUID(&Packet{Value: []byte(value)}); got != want || !ok {
			t.Errorf("%s: %#x, %t", value, got, ok)
		}
	}
	for _, value := range []string{"", "{}", `{"manifest_uid":"x"}`, `{"manifest_uid":5}`, `{"manifest_uid":"10000000000000000"}`} {
		if got, ok := ManifestUID(&Packet{Value: []byte(value)}); ok {
			t.Errorf("%s: %#x", value, got)
		}
	}
}

func TestStatuses(t *testing.T) {
	texts := make(map[string]Status)
	for s, text := range statusTexts {
		if other, twice := texts[text]; twice {
			t.Errorf("%#x and %#x have the same text", s, other)
		}
		texts[text] = s
		if !s.Known() || s.ForTests() {
			t.Errorf("%v", s)
		}
	}
	if got := StatusLocked.String(); got != "document locked (0x09)" {
		t.Error(got)
	}
	if got := Status(0xff01); got.String() != "unknown status 0xff01" || got.Known() || !got.ForTests() {
		t.Error(got)
	}
}

func FuzzErrorMap(f *testing.F) {
	f.Add([]byte(errorMap))
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := ParseErrorMap(b)
		if err != nil {
			if !errors.Is(err, ErrMalformed) {
				t.Error(err)
			}
			return
		}
		for s := range m.entries {
			if e, ok := m.Entry(s); ok && e.Retryable() && len(e.Attributes) == 0 {
				t.Errorf("%v: %+v", s, e)
			}
		}
	})
}
