package router

import (
	"context"

	"github.com/holdfast-db/holdfast/internal/router/userfile"
)

// fileUsers are the users of a file. Their commands run as the router's own user.
type fileUsers struct {
	file  *userfile.File
	salts []byte
}

func newFileUsers(r *Router, file *userfile.File) fileUsers {
	for u := range file.All() {
		r.kinds.note(u.Credentials)
	}
	return fileUsers{file: file, salts: file.Salts()}
}

func (f fileUsers) about(_ context.Context, user id) (*known, error) {
	u := f.file.User(user.db, user.name)
	if u == nil {
		return nil, nil
	}
	return &known{verifiers: u.Credentials}, nil
}

// secret comes from the salts of all users. Who knows all of them knows all users, too.
func (f fileUsers) secret(context.Context) ([]byte, error) { return f.salts, nil }

func (f fileUsers) proved(user id, _ string, _ *known, _ []byte) *account {
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
