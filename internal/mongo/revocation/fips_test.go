//go:build go1.26

package revocation

import (
	"bytes"
	"crypto"
	"crypto/fips140"
	"crypto/x509"
	"encoding/hex"
	"os"
	"os/exec"
	"slices"
	"testing"
)

// A process that permits only the algorithms of FIPS 140 makes the same requests as another. The certificates are those of its parent.
func TestARequestWhereSHA1IsForbidden(t *testing.T) {
	const variable = "HOLDFAST_TEST_CERTIFICATES" // the issuer's and the server's
	if fips140.Enforced() {
		var der [2][]byte
		for i, text := range bytes.Fields([]byte(os.Getenv(variable))) {
			der[i], _ = hex.AppendDecode(nil, text)
		}
		issuer, err := x509.ParseCertificate(der[0])
		if err != nil {
			t.Fatal(err)
		}
		leaf, err := x509.ParseCertificate(der[1])
		if err != nil {
			t.Fatal(err)
		}
		request, _, err := (&certificate{leaf, issuer}).request(crypto.SHA1)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("<%x>", request)
		return
	}
	issuer := made(t, "issuer", nil, nil)
	leaf := made(t, "leaf", issuer, nil)
	want, _, err := (&certificate{leaf.Certificate, issuer.Certificate}).request(crypto.SHA1)
	if err != nil {
		t.Fatal(err)
	}
	child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v") //nolint:gosec // this test
	child.Env = slices.Concat(os.Environ(), []string{
		"GODEBUG=fips140=only", variable + "=" + hex.EncodeToString(issuer.Raw) + " " + hex.EncodeToString(leaf.Raw),
	})
	out, err := child.CombinedOutput()
	if err != nil || !bytes.Contains(out, []byte("<"+hex.EncodeToString(want)+">")) {
		t.Errorf("%v\n%s", err, out)
	}
}
