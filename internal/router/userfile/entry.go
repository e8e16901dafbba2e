package userfile

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/holdfast-db/holdfast/internal/router/scramserver"
)

// The fields of an entry, and of one mechanism in its credentials.
const (
	userField, dbField, operatorField, credentialsField  = "user", "db", "operator", "credentials"
	iterationsField, saltField, storedField, serverField = "iterationCount", "salt", "storedKey", "serverKey"
)

func parseUser(entry json.RawMessage) (*User, error) {
	o, err := objectOf(entry, userField, dbField, operatorField, credentialsField)
	if err != nil {
		return nil, err
	}
	u := &User{DB: defaultDB}
	if err := o.read(userField, "a text", &u.Name); err != nil {
		return nil, err
	}
	if err := u.parseRest(o); err != nil {
		return nil, fmt.Errorf("user %q: %w", u.Name, err)
	}
	return u, nil
}

func (u *User) parseRest(o object) error {
	if err := o.readIf(dbField, "a text", &u.DB); err != nil {
		return err
	}
	if err := o.readIf(operatorField, "true or false", &u.Operator); err != nil {
		return err
	}
	switch _, has := o[credentialsField]; {
	case u.Name == "":
		return errors.New("user is empty; it must be a name")
	case len(u.Name) > LongestName || strings.ContainsRune(u.Name, 0):
		return fmt.Errorf("user has %d bytes; it must have at most %d, and no zero byte", len(u.Name), LongestName)
	case u.DB == "":
		return errors.New("db is empty; it must be a name, or absent for " + defaultDB)
	case u.DB == External && has:
		return errors.New("credentials must be absent for db " + External + ", whose users have certificates")
	case u.DB == External && !strings.Contains(u.Name, "="):
		return errors.New(`user must be the subject of a certificate for db ` + External + `, such as "CN=worker,O=Example"`)
	case u.DB == External:
		return nil
	}
	return u.parseCredentials(o)
}

func (u *User) parseCredentials(o object) error {
	text, err := o.get(credentialsField)
	if err != nil {
		return err
	}
	all, err := fieldsOf(text)
	switch {
	case err != nil:
		return fmt.Errorf("credentials: %w", err)
	case len(all) == 0:
		return errors.New("credentials is empty; it must have a mechanism")
	}
	u.Credentials = make(map[string]scramserver.Verifier, len(all))
	for mechanism, text := range all {
		v, err := parseVerifier(text)
		if err == nil {
			err = v.Check(mechanism)
		}
		if err != nil {
			return fmt.Errorf("credentials.%s: %w", mechanism, err)
		}
		u.Credentials[mechanism] = v
	}
	return nil
}

func parseVerifier(text json.RawMessage) (v scramserver.Verifier, err error) {
	o, err := objectOf(text, iterationsField, saltField, storedField, serverField)
	if err != nil {
		return v, err
	}
	if err := o.read(iterationsField, "a whole number", &v.Iterations); err != nil {
		return v, err
	}
	for _, f := range []struct {
		name string
		to   *[]byte
	}{{saltField, &v.Salt}, {storedField, &v.StoredKey}, {serverField, &v.ServerKey}} {
		var coded string
		if err := o.read(f.name, "a text", &coded); err != nil {
			return v, err
		}
		if *f.to, err = base64.StdEncoding.Strict().DecodeString(coded); err != nil {
			return v, fmt.Errorf("%s must be base64", f.name)
		}
	}
	return v, nil
}

// The forms in which an entry is written.
type (
	entryJSON struct {
		User        string                  `json:"user"`
		DB          string                  `json:"db"`
		Operator    bool                    `json:"operator"`
		Credentials map[string]verifierJSON `json:"credentials,omitempty"`
	}
	verifierJSON struct {
		IterationCount int    `json:"iterationCount"`
		Salt           []byte `json:"salt"` // package json writes bytes as base64
		StoredKey      []byte `json:"storedKey"`
		ServerKey      []byte `json:"serverKey"`
	}
)

// Entry returns the user as an entry of a file, with its keys.
func (u *User) Entry() ([]byte, error) {
	e := entryJSON{User: u.Name, DB: u.DB, Operator: u.Operator, Credentials: make(map[string]verifierJSON)}
	for mechanism, v := range u.Credentials {
		e.Credentials[mechanism] = verifierJSON{v.Iterations, v.Salt, v.StoredKey, v.ServerKey}
	}
	var b bytes.Buffer
	w := json.NewEncoder(&b)
	w.SetEscapeHTML(false)
	w.SetIndent("", "  ")
	err := w.Encode(e)
	return b.Bytes(), err
}
