package scramserver

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
)

// Fake returns a verifier for a user who does not exist. It is the same for the same secret, mechanism, database and user, and nobody
// knows its password, so such a user looks like one whose password is wrong. For an unknown mechanism it is empty.
func Fake(secret []byte, name, db, user string) Verifier {
	m, err := mechanismOf(name)
	if err != nil {
		return Verifier{}
	}
	derive := func(what string, size int) []byte {
		mac := hmac.New(sha256.New, secret)
		for _, part := range []string{what, name, db, user} { // their lengths keep the parts apart
			_, _ = mac.Write(binary.BigEndian.AppendUint64(nil, uint64(len(part))))
			_, _ = mac.Write([]byte(part))
		}
		return mac.Sum(nil)[:size]
	}
	return Verifier{
		Salt: derive("salt", m.salt), Iterations: m.iterations,
		StoredKey: derive("stored", m.size), ServerKey: derive("server", m.size),
	}
}
