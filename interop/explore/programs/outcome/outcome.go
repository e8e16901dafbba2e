// Package outcome has what a program of these folders says at its end, and what it promises by saying it.
package outcome

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo"
)

// What a program says when it has not done its work for certain. Nil says that it is done.
var (
	// ErrNotBegun says that the data could not be prepared.
	ErrNotBegun = errors.New("not begun")
	// ErrFailed says that nothing was done.
	ErrFailed = errors.New("failed")
	// ErrUnknown says that the work is done or not.
	ErrUnknown = errors.New("outcome unknown")
)

// With adds what a program says to the error for which it says it.
func With(said, err error) error { return fmt.Errorf("%w: %w", said, err) }

// Check returns an error if what was done so many times breaks what the program said.
func Check(said error, what string, times int64) error {
	least, most := int64(0), int64(0)
	switch {
	case said == nil:
		least, most = 1, 1
	case errors.Is(said, ErrUnknown):
		most = 1
	}
	if times < least || times > most {
		return fmt.Errorf("%s: %d times, but the program said %q", what, times, text(said))
	}
	return nil
}

func text(said error) string {
	if said == nil {
		return "done"
	}
	return said.Error()
}

// patience is how long a transaction is repeated.
const patience = 30 * time.Second

// InTransaction runs f in a transaction. Its outcome is unknown if f has ended well and the commit has not.
func InTransaction(ctx context.Context, client *mongo.Client, f func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	session, err := client.StartSession()
	if err != nil {
		return With(ErrFailed, err)
	}
	defer session.EndSession(ctx)
	committing := false
	_, err = session.WithTransaction(ctx, func(ctx context.Context) (any, error) {
		err := f(ctx)
		committing = err == nil
		return nil, err
	})
	switch {
	case err == nil:
		return nil
	case committing:
		return With(ErrUnknown, err)
	}
	return With(ErrFailed, err)
}
