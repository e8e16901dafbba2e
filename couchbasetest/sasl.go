package couchbasetest

import (
	"crypto/hmac"
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"errors"
	"hash"
	"strings"

	"github.com/xdg-go/scram"

	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
)

// mechanisms are the logins that nodes know, with the hash of each.
var mechanisms = []struct {
	name string
	hash scram.HashGeneratorFcn // nil of PLAIN
}{
	{"SCRAM-SHA512", scram.SHA512},
	{"SCRAM-SHA256", scram.SHA256},
	{"SCRAM-SHA1", scram.SHA1},
	{"PLAIN", nil},
}

// login is a login under way.
type login struct {
	mechanism    string
	conversation *scram.ServerConversation
}

// passwords are what nodes keep of the password, by mechanism. They are made when they are first used.
type passwords map[string]scram.StoredCredentials

func listMechanisms(x *exec) *Reply {
	var names []string
	for _, m := range mechanisms {
		names = append(names, m.name)
	}
	if x.conn.takesTokens() {
		names = append(names, oauthBearer)
	}
	return &Reply{Value: []byte(strings.Join(names, " "))}
}

func saslAuth(x *exec) *Reply {
	x.conn.user, x.conn.token, x.conn.login = "", "", nil
	name := string(x.p.Key)
	if name == oauthBearer && x.conn.takesTokens() {
		return x.bearer()
	}
	for _, m := range mechanisms {
		switch {
		case m.name != name:
		case m.hash == nil:
			return x.plain()
		default:
			return x.beginScram(name, m.hash)
		}
	}
	return refusal(memd.StatusAuthError)
}

// plain reads a name and a password.
func (x *exec) plain() *Reply {
	parts := strings.Split(string(x.p.Value), "\x00")
	if len(parts) != 3 {
		return refusal(memd.StatusInvalidArguments)
	}
	if parts[1] != x.cluster.username || !hmac.Equal([]byte(parts[2]), []byte(x.cluster.password)) {
		return refusal(memd.StatusAuthError)
	}
	x.conn.user = parts[1]
	return &Reply{}
}

var errUnknownUser = errors.New("couchbasetest: there is no such user")

func (x *exec) beginScram(name string, hashOf scram.HashGeneratorFcn) *Reply {
	server, err := hashOf.NewServer(func(user string) (scram.StoredCredentials, error) {
		if user != x.cluster.username {
			return scram.StoredCredentials{}, errUnknownUser
		}
		return x.cluster.storedLocked(name, hashOf), nil
	})
	if err != nil {
		return refusal(memd.StatusAuthError)
	}
	x.conn.login = &login{mechanism: name, conversation: server.NewConversation()}
	text, err := x.conn.login.conversation.Step(string(x.p.Value))
	if err != nil {
		x.conn.login = nil
		return refusal(memd.StatusAuthError)
	}
	return &Reply{Status: memd.StatusAuthContinue, Value: []byte(text)}
}

func saslStep(x *exec) *Reply {
	l := x.conn.login
	x.conn.login = nil
	if l == nil || l.mechanism != string(x.p.Key) {
		return refusal(memd.StatusInvalidArguments)
	}
	text, err := l.conversation.Step(string(x.p.Value))
	if err != nil || !l.conversation.Valid() {
		return refusal(memd.StatusAuthError)
	}
	x.conn.user = x.cluster.username
	return &Reply{Value: []byte(text)}
}

// storedLocked returns what the nodes keep of the password for a mechanism.
func (c *Cluster) storedLocked(mechanism string, hashOf scram.HashGeneratorFcn) scram.StoredCredentials {
	if stored, ok := c.stored[mechanism]; ok {
		return stored
	}
	salt := make([]byte, 16)
	_, _ = rand.Read(salt)
	stored := scram.StoredCredentials{KeyFactors: scram.KeyFactors{Salt: string(salt), Iters: c.iterations}}
	salted := saltedPassword(mechanism, c.password, salt, c.iterations)
	clientKey := sum(hashOf, salted, "Client Key")
	digest := hashOf()
	digest.Write(clientKey)
	stored.StoredKey, stored.ServerKey = digest.Sum(nil), sum(hashOf, salted, "Server Key")
	if c.stored == nil {
		c.stored = make(passwords)
	}
	c.stored[mechanism] = stored
	return stored
}

func sum(hashOf scram.HashGeneratorFcn, key []byte, text string) []byte {
	mac := hmac.New(func() hash.Hash { return hashOf() }, key)
	mac.Write([]byte(text))
	return mac.Sum(nil)
}

// saltedPassword is the part of SCRAM that is slow on purpose.
func saltedPassword(mechanism, password string, salt []byte, iterations int) []byte {
	var key []byte
	switch mechanism {
	case "SCRAM-SHA512":
		key, _ = pbkdf2.Key(sha512.New, password, salt, iterations, sha512.Size)
	case "SCRAM-SHA256":
		key, _ = pbkdf2.Key(sha256.New, password, salt, iterations, sha256.Size)
	case "SCRAM-SHA1":
		key, _ = pbkdf2.Key(sha1.New, password, salt, iterations, sha1.Size)
	}
	return key
}
