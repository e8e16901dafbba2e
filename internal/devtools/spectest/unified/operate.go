package unified

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// operation is a step of a case.
type operation struct {
	Name                 string         `bson:"name"`
	Object               string         `bson:"object"`
	Arguments            bson.Raw       `bson:"arguments"`
	IgnoreResultAndError bool           `bson:"ignoreResultAndError"`
	ExpectError          *expectedError `bson:"expectError"`
	ExpectResult         bson.RawValue  `bson:"expectResult"`
	SaveResultAsEntity   string         `bson:"saveResultAsEntity"`
}

// documents are the result of an operation that returns several root-level documents.
type documents []bson.Raw

// perform runs an operation and checks what the file says of it. It returns the client's own error too, expected or not,
// because a transaction's callback passes it on.
func (c *run) perform(ctx context.Context, doc bson.Raw) (clientErr, failure error) {
	var op operation
	if err := decode(doc, &op); err != nil {
		return nil, err
	}
	a, err := newArguments(c, op.Arguments)
	if err != nil {
		return nil, err
	}
	result, err := c.call(ctx, &op, a)
	if missing := new(NotSupported); errors.As(ifMissing(err), &missing) {
		return nil, fmt.Errorf("%s: %w", op.Name, missing)
	}
	if refused := new(refusal); errors.As(err, &refused) {
		return nil, fmt.Errorf("%s: %w", op.Name, refused.err)
	}
	if failure := c.judge(&op, result, err); failure != nil {
		return err, fmt.Errorf("%s: %w", op.Name, failure)
	}
	return err, nil
}

// call finds the function of an operation by the kind of its object.
func (c *run) call(ctx context.Context, op *operation, a *arguments) (any, error) {
	if op.Object == "testRunner" {
		_, err := find(runnerOperations, op, c)(ctx, c, a)
		if err != nil {
			return nil, &refusal{err} // the format lets no error be expected of these
		}
		return nil, nil
	}
	on, err := c.entities.get(op.Object)
	if err != nil {
		return nil, &refusal{err}
	}
	ctx, cancel := c.context(ctx, a)
	defer cancel()
	began := time.Now()
	result, err := callOn(ctx, op, on, a)
	return limited(op, began, result, err)
}

// callOn calls the function of an operation on an object.
func callOn(ctx context.Context, op *operation, on any, a *arguments) (any, error) {
	switch on := on.(type) {
	case *clientEntity:
		return find(clientOperations, op, on)(ctx, on, a)
	case *mongoDatabase:
		return find(databaseOperations, op, on)(ctx, on, a)
	case *mongoCollection:
		return find(collectionOperations, op, on)(ctx, on, a)
	case *mongoSession:
		return find(sessionOperations, op, on)(ctx, on, a)
	case *mongoBucket:
		return find(bucketOperations, op, on)(ctx, on, a)
	case cursor:
		return find(cursorOperations, op, on)(ctx, on, a)
	}
	return nil, refuse("operations on %T are not supported by this runner", on)
}

// function is an operation on an E. Its error is the client's, or a refusal.
type function[E any] func(ctx context.Context, on E, a *arguments) (any, error)

// find returns the function of that name, or one that refuses.
func find[E any](operations map[string]function[E], op *operation, on E) function[E] {
	if f, ok := operations[op.Name]; ok {
		return f
	}
	return func(context.Context, E, *arguments) (any, error) {
		return nil, refuse("the operation is not supported by this runner on %T", on)
	}
}

// context has the session and the time limit that the arguments name.
func (c *run) context(ctx context.Context, a *arguments) (context.Context, context.CancelFunc) {
	cancel := func() {}
	if v := a.optional("session"); v.Type != 0 {
		s, err := entity[*mongoSession](c.entities, v)
		if err != nil {
			a.fail("session: %w", err)
			return ctx, cancel
		}
		ctx = mongoNewSessionContext(ctx, s)
	}
	switch ms, ok := wholeNumber(a.optional("timeoutMS")); {
	case ok && ms > 0:
		return context.WithTimeout(ctx, time.Duration(ms)*time.Millisecond)
	case ok && ms == 0:
		return context.WithTimeout(ctx, noLimit)
	}
	return ctx, cancel
}

// noLimit is how a context says that an operation has no time limit although the client has one: it is longer than a maxTimeMS may be.
const noLimit = 10 * 365 * 24 * time.Hour

// judge compares an operation's result or error with the expected one, and saves the result.
func (c *run) judge(op *operation, result any, err error) error {
	switch {
	case op.IgnoreResultAndError:
		return nil
	case op.ExpectError != nil && err == nil:
		return fmt.Errorf("want an error, got the result %v", result)
	case op.ExpectError != nil:
		if failure := c.matchError(op.ExpectError, result, err); failure != nil {
			return fmt.Errorf("expectError: %w (the error: %w)", failure, err)
		}
		return nil
	case err != nil:
		return fmt.Errorf("want no error: %w", err)
	}
	if op.ExpectResult.Type != 0 {
		if err := c.matchResult(op.ExpectResult, result); err != nil {
			return fmt.Errorf("expectResult: %w", err)
		}
	}
	if op.SaveResultAsEntity != "" {
		return c.save(op.SaveResultAsEntity, result)
	}
	return nil
}

func (c *run) matchResult(want bson.RawValue, result any) error {
	got, err := resultValue(result)
	if err != nil {
		return err
	}
	m := matcher{c.entities}
	if _, several := result.(documents); several && want.Type == bson.TypeArray {
		return m.matchArray(want, got, true)
	}
	return m.match(want, got, true)
}

// resultValue is a result as BSON; its type is zero if there is none.
func resultValue(result any) (bson.RawValue, error) {
	switch r := result.(type) {
	case nil:
		return bson.RawValue{}, nil
	case bson.RawValue:
		return r, nil
	case documents:
		result = []bson.Raw(r)
		if r == nil {
			result = bson.A{}
		}
	}
	t, data, err := bson.MarshalValue(result)
	return bson.RawValue{Type: t, Value: data}, err
}

func (c *run) save(name string, result any) error {
	switch result.(type) {
	case cursor, *mongoCollection:
		return c.entities.add(name, result)
	}
	v, err := resultValue(result)
	switch {
	case err != nil:
		return err
	case v.Type == 0:
		return errors.New("saveResultAsEntity: there is no result")
	}
	return c.entities.add(name, v)
}
