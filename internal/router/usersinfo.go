package router

import (
	"encoding/base64"
	"errors"
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"
	official "go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/holdfast-db/holdfast/internal/mongo/operation"
	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/internal/router/scramserver"
)

// usersInfo asks a member for the verifiers of a user. Source: https://www.mongodb.com/docs/manual/reference/command/usersInfo/
type usersInfo struct {
	user  id
	found *known // nil if there is no such user
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
			UserID      bson.RawValue            `bson:"userId"`
			Credentials map[string]bson.RawValue `bson:"credentials"`
		} `bson:"users"`
	}
	if err := bson.Unmarshal(reply.Body, &r); err != nil {
		return fmt.Errorf("%w: %w", errStrange, err)
	}
	q.found = nil
	if len(r.Users) == 0 {
		return nil
	}
	found := &known{verifiers: make(map[string]scramserver.Verifier), unique: string(r.Users[0].UserID.Value)}
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
			return fmt.Errorf("%w, the %s credentials: %w", errStrange, mechanism, err)
		}
		found.verifiers[mechanism] = v
	}
	q.found = found
	return nil
}

// errStrange is the error of a reply to usersInfo that the router cannot use.
var errStrange = errors.New("the reply to usersInfo")

// isRefusal reports whether a member has answered, but not with what a login needs: the router's user may not ask, or the reply is strange. A client that
// asks again gets nothing better.
func isRefusal(err error) bool {
	var refused official.CommandError // also that of the network, without a reply
	return errors.Is(err, errStrange) || errors.As(err, &refused) && refused.Raw != nil && !stateChange(refused.Code) && !refused.HasErrorLabel(labelRetryable)
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
