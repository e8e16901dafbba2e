package auth

import (
	"context"
	"crypto/md5"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/xdg-go/scram"
	"github.com/xdg-go/stringprep"
)

// The iterations that a server may ask for. Fewer than the least make the password easy to find (RFC 7677); more than the
// most would keep a processor busy for seconds, on demand of a server that has proved nothing.
const (
	leastIterations = 4096
	mostIterations  = 1_000_000
)

// mostUnproved is the number of conversations without a proof of the server after which the derived keys are dropped, so
// that a server which sends another salt every time does not fill the memory.
const mostUnproved = 16

// scramMechanism is SCRAM-SHA-1 or SCRAM-SHA-256. It keeps the keys that it derived from the password, so that only the
// first connection pays for their many iterations.
type scramMechanism struct {
	name       string
	newKeyring func() (*scram.Client, error)

	mu       sync.Mutex
	keyring  *scram.Client // keeps the derived keys, by salt and iterations
	unproved int           // conversations that needed keys and have not succeeded
}

func newSCRAM(name string, c Credential) (*scramMechanism, error) {
	m := &scramMechanism{name: name}
	if name == SCRAMSHA1 {
		sum := md5.Sum([]byte(c.Username + ":mongo:" + c.Password)) //nolint:gosec // SCRAM-SHA-1 in MongoDB begins with it
		digest := hex.EncodeToString(sum[:])
		m.newKeyring = func() (*scram.Client, error) { return scram.SHA1.NewClientUnprepped(c.Username, digest, "") }
	} else {
		prepared, err := stringprep.SASLprep.Prepare(c.Password)
		if err != nil { // the library's error shows a part of the password
			return nil, errors.New("the credential's Password has characters that SASLprep (RFC 4013) forbids; " + SCRAMSHA256 + " needs it")
		}
		m.newKeyring = func() (*scram.Client, error) { return scram.SHA256.NewClientUnprepped(c.Username, prepared, "") }
	}
	var err error
	m.keyring, err = m.newKeyring()
	return m, err
}

func (m *scramMechanism) Name() string     { return m.name }
func (m *scramMechanism) Speculates() bool { return true }

func (m *scramMechanism) Begin() Conversation {
	return &saslConversation{exchange: &scramExchange{mechanism: m}, mechanism: m.name, skipEmpty: true}
}

// begin returns a conversation of the library, on the keys derived so far.
func (m *scramMechanism) begin() (*scram.ClientConversation, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.unproved >= mostUnproved {
		fresh, err := m.newKeyring()
		if err != nil {
			return nil, err
		}
		m.keyring, m.unproved = fresh, 0
	}
	return m.keyring.WithMinIterations(leastIterations).NewConversation(), nil
}

// count adds n to the conversations that needed keys and have not succeeded.
func (m *scramMechanism) count(n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.unproved = max(0, m.unproved+n)
}

// scramExchange is one conversation. Source: RFC 5802, "SCRAM Authentication Exchange".
type scramExchange struct {
	mechanism *scramMechanism
	scram     *scram.ClientConversation
	own       string // the field of our first message with our nonce, which is its last
	answered  bool   // the server's first message was answered
}

func (e *scramExchange) start(context.Context) ([]byte, error) {
	var err error
	if e.scram, err = e.mechanism.begin(); err != nil {
		return nil, err
	}
	first, err := e.scram.Step("")
	e.own = first[strings.LastIndex(first, ",")+1:]
	return []byte(first), err
}

func (e *scramExchange) next(_ context.Context, payload []byte) ([]byte, error) {
	if !e.answered {
		if err := e.checkFirst(string(payload)); err != nil {
			return nil, err
		}
		e.answered = true
		e.mechanism.count(1)
	}
	answer, err := e.scram.Step(string(payload))
	if err != nil {
		return nil, err
	}
	if e.complete() {
		e.mechanism.count(-1)
	}
	return []byte(answer), nil
}

func (e *scramExchange) complete() bool { return e.scram != nil && e.scram.Done() && e.scram.Valid() }

var errSameNonce = errors.New("the server's nonce is the client's, without a part of its own")

// checkFirst checks in a server's first message what the library does not: that the server has added to the nonce (RFC 5802, section
// 5.1), and the most iterations.
func (e *scramExchange) checkFirst(first string) error {
	if nonce, _, _ := strings.Cut(first, ","); nonce == e.own {
		return errSameNonce
	}
	return checkIterations(first)
}

// checkIterations checks the most iterations in a server's first message.
func checkIterations(first string) error {
	for field := range strings.SplitSeq(first, ",") {
		count, ok := strings.CutPrefix(field, "i=")
		if !ok {
			continue
		}
		if n, err := strconv.Atoi(count); err != nil || n > mostIterations {
			return fmt.Errorf("the server asks for more than %d iterations", mostIterations)
		}
	}
	return nil
}
