// Package scramclient is the client's side of SCRAM (RFC 5802, RFC 7677) for the logins of several databases. The library
// github.com/xdg-go/scram has the mechanism; this package adds the rules that the library leaves to its user: how many iterations a
// server may ask for, that the server adds to the nonce, and how long the derived keys are kept.
package scramclient

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/xdg-go/scram"
)

// The iterations that a server may ask for. Fewer than the least make the password easy to find (RFC 7677); more than the
// most would keep a processor busy for seconds, on demand of a server that has proved nothing.
const (
	LeastIterations = 4096
	MostIterations  = 1_000_000
)

// mostUnproved is the number of conversations without a proof of the server after which the derived keys are dropped, so
// that a server which sends another salt every time does not fill the memory.
const mostUnproved = 16

// Mechanism is SCRAM with one hash function and one user. It keeps the keys that it derived from the password, so that only the
// first connection pays for their many iterations. It is safe for concurrent use.
type Mechanism struct {
	newKeyring func() (*scram.Client, error)

	mu       sync.Mutex
	keyring  *scram.Client // keeps the derived keys, by salt and iterations
	unproved int           // conversations that needed keys and have not succeeded
}

// New returns a mechanism. newKeyring returns a client of the library, without any keys; it is called again whenever the keys are dropped.
func New(newKeyring func() (*scram.Client, error)) (*Mechanism, error) {
	keyring, err := newKeyring()
	if err != nil {
		return nil, err
	}
	return &Mechanism{newKeyring: newKeyring, keyring: keyring}, nil
}

// Begin returns the conversation for one connection.
func (m *Mechanism) Begin() *Conversation { return &Conversation{mechanism: m} }

// begin returns a conversation of the library, on the keys derived so far.
func (m *Mechanism) begin() (*scram.ClientConversation, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.unproved >= mostUnproved {
		fresh, err := m.newKeyring()
		if err != nil {
			return nil, err
		}
		m.keyring, m.unproved = fresh, 0
	}
	return m.keyring.WithMinIterations(LeastIterations).NewConversation(), nil
}

// count adds n to the conversations that needed keys and have not succeeded.
func (m *Mechanism) count(n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.unproved = max(0, m.unproved+n)
}

// Conversation is one login, as seen by the client. It is not safe for concurrent use. Source: RFC 5802, "SCRAM Authentication
// Exchange".
type Conversation struct {
	mechanism *Mechanism
	scram     *scram.ClientConversation
	own       string // the field of our first message with our nonce, which is its last
	answered  bool   // the server's first message was answered
}

// Start returns the client's first message.
func (c *Conversation) Start() ([]byte, error) {
	var err error
	if c.scram, err = c.mechanism.begin(); err != nil {
		return nil, err
	}
	first, err := c.scram.Step("")
	c.own = first[strings.LastIndex(first, ",")+1:]
	return []byte(first), err
}

// Next reads the server's next message and returns the client's answer. An error means that the server must not be trusted.
func (c *Conversation) Next(payload []byte) ([]byte, error) {
	if !c.answered {
		if err := c.checkFirst(string(payload)); err != nil {
			return nil, err
		}
		c.answered = true
		c.mechanism.count(1)
	}
	answer, err := c.scram.Step(string(payload))
	if err != nil {
		return nil, err
	}
	if c.Complete() {
		c.mechanism.count(-1)
	}
	return []byte(answer), nil
}

// Complete reports whether the server has proved that it knows the user's credentials.
func (c *Conversation) Complete() bool { return c.scram != nil && c.scram.Done() && c.scram.Valid() }

var errSameNonce = errors.New("the server's nonce is the client's, without a part of its own")

// checkFirst checks in a server's first message what the library does not: that the server has added to the nonce (RFC 5802, section
// 5.1), and the most iterations.
func (c *Conversation) checkFirst(first string) error {
	if nonce, _, _ := strings.Cut(first, ","); nonce == c.own {
		return errSameNonce
	}
	return checkIterations(first)
}

// checkIterations returns an error if a server's first message asks for more iterations than the client makes.
func checkIterations(first string) error {
	for field := range strings.SplitSeq(first, ",") {
		count, ok := strings.CutPrefix(field, "i=")
		if !ok {
			continue
		}
		if n, err := strconv.Atoi(count); err != nil || n > MostIterations {
			return fmt.Errorf("the server asks for more than %d iterations", MostIterations)
		}
	}
	return nil
}
