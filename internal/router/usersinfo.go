package router

import (
	"encoding/base64"
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/operation"
	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/internal/router/scramserver"
)

// usersInfo asks a member for the verifiers of a user. Source: https://www.mongodb.com/docs/manual/reference/command/usersInfo/
type usersInfo struct {
	user      id
	verifiers map[string]scramserver.Verifier
}

// AppendTo implements [operation.Command].
func (q *usersInfo) AppendTo(dst []byte, _ operation.Attempt) ([]byte, error) {
	at, dst := wire.BeginEmbedded(dst, "usersInfo")
	dst = wire.AppendString(dst, "user", q.user.name)
	dst = wire.EndDocument(wire.AppendString(dst, "db", q.user.db), at)
	return wire.AppendBool(dst, "showCredentials", true), nil
}

// Accept implements [operation.Command].
func (q *usersInfo) Accept(reply *operation.Reply) error {
	var r struct {
		Users []struct {
			Credentials map[string]bson.RawValue `bson:"credentials"`
		} `bson:"users"`
	}
	if err := bson.Unmarshal(reply.Body, &r); err != nil {
		return fmt.Errorf("the reply to usersInfo: %w", err)
	}
	q.verifiers = nil
	if len(r.Users) == 0 {
		return nil
	}
	q.verifiers = make(map[string]scramserver.Verifier)
	for _, mechanism := range mechanisms {
		credentials, ok := r.Users[0].Credentials[mechanism]
		if !ok {
			continue
		}
		v, err := verifierOf(credentials)
		if err == nil {
			err = v.Check(mechanism)
		}
		if err != nil {
			return fmt.Errorf("the %s credentials in the reply to usersInfo: %w", mechanism, err)
		}
		q.verifiers[mechanism] = v
	}
	return nil
}

// verifierOf reads the credentials that a member keeps.
func verifierOf(credentials bson.RawValue) (v scramserver.Verifier, err error) {
	var kept struct {
		IterationCount int    `bson:"iterationCount"`
		Salt           string `bson:"salt"`
		StoredKey      string `bson:"storedKey"`
		ServerKey      string `bson:"serverKey"`
	}
	if err := credentials.Unmarshal(&kept); err != nil {
		return v, err
	}
	v.Iterations = kept.IterationCount
	for _, f := range []struct {
		to   *[]byte
		text string
	}{{&v.Salt, kept.Salt}, {&v.StoredKey, kept.StoredKey}, {&v.ServerKey, kept.ServerKey}} {
		if *f.to, err = base64.StdEncoding.DecodeString(f.text); err != nil {
			return v, err
		}
	}
	return v, nil
}
