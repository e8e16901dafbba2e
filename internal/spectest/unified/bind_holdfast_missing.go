//go:build spec_holdfast

package unified

import (
	"context"
)

// notThereYet is the error of a missing method: its name. When the client has gained a method of this file, a test fails until
// it is deleted here.
type notThereYet string

func (name notThereYet) Error() string { return string(name) + " is not there yet" }

// missingFromClient has the methods of the official Client that ours lacks.
type missingFromClient struct{}

// missingFromDatabase has the methods of the official Database that ours lacks.
type missingFromDatabase struct{}

// missingFromCollection has the methods of the official Collection that ours lacks.
type missingFromCollection struct{}

// missingFromSession has the methods of the official Session that ours lacks.
type missingFromSession struct{}

func (missingFromSession) AbortTransaction(...any) error {
	return notThereYet("Session.AbortTransaction")
}

func (missingFromSession) CommitTransaction(...any) error {
	return notThereYet("Session.CommitTransaction")
}

func (missingFromSession) StartTransaction(...any) error {
	return notThereYet("Session.StartTransaction")
}

func (missingFromSession) WithTransaction(context.Context, func(context.Context) (any, error), ...any) (any, error) {
	return nil, notThereYet("Session.WithTransaction")
}
