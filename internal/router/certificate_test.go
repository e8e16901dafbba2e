package router

import (
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"testing"
)

// part is one attribute of a subject.
func part(value string, oid ...int) []pkix.AttributeTypeAndValue {
	return []pkix.AttributeTypeAndValue{{Type: oid, Value: value}}
}

// The subject of a certificate is that which MongoDB has for it: all parts, the last one first, each where it stands.
func TestTheSubjectOfACertificate(t *testing.T) {
	country, province, unit := part("AT", 2, 5, 4, 6), part("Tyrol", 2, 5, 4, 8), part("a", 2, 5, 4, 11)
	organization, name, id := part("Example, Inc", 2, 5, 4, 10), part("worker", 2, 5, 4, 3), part("7", 0, 9, 2342, 19200300, 100, 1, 1)
	for want, parts := range map[string]pkix.RDNSequence{
		`CN=worker,OU=a,O=Example\, Inc,ST=Tyrol,C=AT`: {country, province, organization, unit, name},
		`O=Example\, Inc,CN=worker`:                    {name, organization},
		`CN=worker,OU=a,OU=a`:                          {unit, unit, name},
		`CN=worker,OU=a+O=Example\, Inc`:               {append(unit, organization...), name},
		`0.9.2342.19200300.100.1.1=#130137,CN=worker`:  {name, id},
		`CN=worker`: {name},
	} {
		raw, err := asn1.Marshal(parts)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := subjectOf(&x509.Certificate{RawSubject: raw}); got != want || err != nil {
			t.Errorf("the subject is %q, %v; want %q", got, err, want)
		}
		if _, err := subjectOf(&x509.Certificate{RawSubject: append(raw, 0)}); err == nil {
			t.Errorf("%q with another byte is accepted", want)
		}
	}
	if got, err := subjectOf(&x509.Certificate{RawSubject: []byte{0x30, 0}}); err == nil {
		t.Errorf("an empty subject is %q", got)
	}
}
