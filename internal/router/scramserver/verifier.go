package scramserver

import (
	"crypto/rand"
	"crypto/sha1"
	"crypto/sha256"
	"errors"
	"fmt"

	"github.com/xdg-go/scram"

	"github.com/holdfast-db/holdfast/internal/base/scramclient"
	"github.com/holdfast-db/holdfast/internal/mongo/auth"
)

// Verifier is what a server keeps of a password, for one mechanism. It is never printed with its keys: String, GoString and the verbs of
// package fmt show the iterations only.
type Verifier struct {
	Salt                 []byte
	Iterations           int
	StoredKey, ServerKey []byte
}

// String returns the iterations.
func (v Verifier) String() string { return fmt.Sprintf("verifier (%d iterations)", v.Iterations) }

// GoString returns the same as String.
func (v Verifier) GoString() string { return v.String() }

// Format prints the same as String for every verb.
func (v Verifier) Format(f fmt.State, _ rune) { _, _ = fmt.Fprint(f, v.String()) }

// A salt needs 64 bits (RFC 8018, section 4.1). It is sent to whoever asks, so it has a limit.
const leastSalt, mostSalt = 8, 256

// mechanism is one of SCRAM's, with the salt and the iterations that a MongoDB server chooses.
type mechanism struct {
	hash             scram.HashGeneratorFcn
	size             int // of the hash and so of a key
	salt, iterations int
}

func mechanismOf(name string) (mechanism, error) {
	switch name {
	case auth.SCRAMSHA1:
		return mechanism{scram.SHA1, sha1.Size, 16, 10000}, nil
	case auth.SCRAMSHA256:
		return mechanism{scram.SHA256, sha256.Size, 28, 15000}, nil
	}
	return mechanism{}, fmt.Errorf("the mechanism is %q; it must be %s or %s", name, auth.SCRAMSHA1, auth.SCRAMSHA256)
}

var (
	errNoUser     = errors.New("the user's name is empty")
	errNoPassword = errors.New("the password is empty")
	errForbidden  = errors.New("the password has characters that SASLprep (RFC 4013) forbids; " + auth.SCRAMSHA256 + " needs it")
)

// NewVerifier returns what a MongoDB server would keep of a password, with a random salt.
func NewVerifier(name, user, password string) (Verifier, error) {
	m, err := mechanismOf(name)
	switch {
	case err != nil:
		return Verifier{}, err
	case user == "":
		return Verifier{}, errNoUser
	case password == "":
		return Verifier{}, errNoPassword
	}
	secret, ok := auth.ScramSecret(name, user, password)
	if !ok {
		return Verifier{}, errForbidden
	}
	client, err := m.hash.NewClientUnprepped(user, secret, "")
	if err != nil {
		return Verifier{}, err
	}
	salt := make([]byte, m.salt)
	_, _ = rand.Read(salt) // it never fails
	kept, err := client.GetStoredCredentialsWithError(scram.KeyFactors{Salt: string(salt), Iters: m.iterations})
	return Verifier{Salt: salt, Iterations: m.iterations, StoredKey: kept.StoredKey, ServerKey: kept.ServerKey}, err
}

// Check returns an error for a verifier that the mechanism cannot use. The error names the field as MongoDB does, and has no secret.
func (v Verifier) Check(name string) error {
	m, err := mechanismOf(name)
	switch {
	case err != nil:
		return err
	case v.Iterations < scramclient.LeastIterations || v.Iterations > scramclient.MostIterations: // the client has to do them
		return fmt.Errorf("iterationCount is %d; it must be at least %d and at most %d", v.Iterations, scramclient.LeastIterations, scramclient.MostIterations)
	case len(v.Salt) < leastSalt || len(v.Salt) > mostSalt:
		return fmt.Errorf("salt has %d bytes; it must have %d to %d", len(v.Salt), leastSalt, mostSalt)
	case len(v.StoredKey) != m.size:
		return fmt.Errorf("storedKey has %d bytes; it must have %d for %s", len(v.StoredKey), m.size, name)
	case len(v.ServerKey) != m.size:
		return fmt.Errorf("serverKey has %d bytes; it must have %d for %s", len(v.ServerKey), m.size, name)
	}
	return nil
}
