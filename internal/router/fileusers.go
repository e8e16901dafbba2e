package router

import (
	"context"

	"github.com/holdfast-db/holdfast/internal/router/scramserver"
	"github.com/holdfast-db/holdfast/internal/router/userfile"
)

// fileUsers are the users of a file. Their commands run as the router's own user.
type fileUsers struct{ file *userfile.File }

func (f fileUsers) verifiers(_ context.Context, user id) (map[string]scramserver.Verifier, error) {
	u := f.file.User(user.db, user.name)
	if u == nil {
		return nil, nil
	}
	return u.Credentials, nil
}

func (f fileUsers) proved(user id, _ string, _ *scramserver.Verifier, _ []byte) *account {
	return f.account(user)
}

func (f fileUsers) certified(subject string) *account {
	return f.account(id{userfile.External, subject})
}

// account returns the account of a user, nil if there is none.
func (f fileUsers) account(user id) *account {
	u := f.file.User(user.db, user.name)
	if u == nil {
		return nil
	}
	return &account{id: user, operator: u.Operator}
}
