// Package userfile reads the file of a router's users, who exist at the router only: a JSON document with what a server keeps of their
// passwords, in the form in which MongoDB's usersInfo shows it.
package userfile

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"

	"github.com/holdfast-db/holdfast/internal/router/scramserver"
)

// External is the database of users whom a certificate vouches for.
const External = "$external"

const defaultDB = "admin"

// LongestName is the size in bytes of the longest name of a user who may log in.
const LongestName = 1 << 10

// User is one entry. A user of External has an X.509 subject as the name (RFC 2253), and no credentials; any other user has credentials by
// mechanism. An operator may show or end what belongs to other users.
type User struct {
	Name, DB    string
	Operator    bool
	Credentials map[string]scramserver.Verifier
}

// key is what no two users of a file share.
type key struct{ db, name string }

// File has the users. It is immutable.
type File struct{ users map[key]*User }

// Parse reads a file. An error names the entry, the field and the rule, and has no salt and no key.
func Parse(text []byte) (*File, error) {
	var document json.RawMessage
	if err := json.Unmarshal(text, &document); err != nil {
		return nil, syntaxError(err)
	}
	o, err := objectOf(document, "users")
	if err != nil {
		return nil, err
	}
	var entries []json.RawMessage
	if err := o.read("users", "a list of users", &entries); err != nil {
		return nil, err
	}
	if len(entries) == 0 {
		return nil, errors.New("users is empty; it must have a user")
	}
	f := &File{users: make(map[key]*User)}
	for i, entry := range entries {
		if err := f.add(entry); err != nil {
			return nil, fmt.Errorf("users[%d]: %w", i, err)
		}
	}
	return f, nil
}

// syntaxError has the place of the mistake only: a text of package json may quote the file.
func syntaxError(err error) error {
	var at *json.SyntaxError
	if errors.As(err, &at) {
		return fmt.Errorf("the file is not JSON: the mistake is at byte %d", at.Offset)
	}
	return errors.New("the file is not JSON")
}

func (f *File) add(entry json.RawMessage) error {
	u, err := parseUser(entry)
	if err != nil {
		return err
	}
	k := key{u.DB, u.Name}
	if f.users[k] != nil {
		return fmt.Errorf("user %q of db %q is there twice; it must be there once", u.Name, u.DB)
	}
	f.users[k] = u
	return nil
}

// User returns a user, nil if there is none. The caller does not change it.
func (f *File) User(db, name string) *User { return f.users[key{db, name}] }

// Len returns the number of users.
func (f *File) Len() int { return len(f.users) }

// Salts returns something that comes from the salts of all users, and from nothing that comes from a password. It is nil if no user has a salt.
func (f *File) Salts() []byte {
	var salts []string
	for _, u := range f.users {
		for _, v := range u.Credentials {
			salts = append(salts, string(v.Salt))
		}
	}
	if len(salts) == 0 {
		return nil
	}
	slices.Sort(salts)
	sum := sha256.New()
	for _, salt := range salts {
		_, _ = fmt.Fprintf(sum, "%x ", salt)
	}
	return sum.Sum(nil)
}

// All returns the users, in no order.
func (f *File) All() iter.Seq[*User] { return maps.Values(f.users) }
