package telemetry

import (
	"context"
	"slices"
	"testing"
	"time"
)

type key string

// noting returns a tracer with all functions, each of which notes the call and what the context has.
func noting(name string, calls *[]string) *Tracer {
	note := func(ctx context.Context, what string) context.Context {
		before, _ := ctx.Value(key("seen")).(string)
		*calls = append(*calls, name+" "+what+" after "+before)
		return context.WithValue(ctx, key("seen"), before+name)
	}
	return &Tracer{
		OperationBegan:   func(ctx context.Context, _ *Operation) context.Context { return note(ctx, "operation") },
		OperationEnded:   func(ctx context.Context, _ *Operation, _ error) { note(ctx, "operation ended") },
		AttemptBegan:     func(ctx context.Context, _ *Attempt) context.Context { return note(ctx, "attempt") },
		AttemptEnded:     func(ctx context.Context, _ *Attempt, _ *Result) { note(ctx, "attempt ended") },
		TransactionBegan: func(ctx context.Context, _ time.Time) context.Context { return note(ctx, "transaction") },
		TransactionEnded: func(ctx context.Context, _ bool, _ error) { note(ctx, "transaction ended") },
	}
}

func TestJoinedTracersAreAllCalledInTheirOrder(t *testing.T) {
	var calls []string
	joined := Join(nil, noting("a", &calls), &Tracer{}, noting("b", &calls), nil)
	ctx := joined.TransactionBegan(t.Context(), time.Time{})
	joined.TransactionEnded(ctx, true, nil)
	ctx = joined.OperationBegan(t.Context(), nil)
	joined.OperationEnded(ctx, nil, nil)
	ctx = joined.AttemptBegan(t.Context(), nil)
	joined.AttemptEnded(ctx, nil, nil)
	want := []string{
		"a transaction after ", "b transaction after a", "a transaction ended after ab", "b transaction ended after ab",
		"a operation after ", "b operation after a", "a operation ended after ab", "b operation ended after ab",
		"a attempt after ", "b attempt after a", "a attempt ended after ab", "b attempt ended after ab",
	}
	if !slices.Equal(calls, want) {
		t.Errorf("the calls are %q", calls)
	}
}

func TestTheOtherTracersHearOfTheEndIfOnePanics(t *testing.T) {
	var calls []string
	first := &Tracer{OperationEnded: func(context.Context, *Operation, error) { panic("first") }}
	joined := Join(first, noting("b", &calls))
	func() {
		defer func() {
			if recover() != "first" {
				t.Error("the panic is lost")
			}
		}()
		joined.OperationEnded(t.Context(), nil, nil)
	}()
	if len(calls) != 1 {
		t.Errorf("the calls are %q", calls)
	}
}

func TestJoinMakesNoMoreThanItNeeds(t *testing.T) {
	one := &Tracer{}
	if Join() != nil || Join(nil, nil) != nil || Join(nil, one) != one {
		t.Error("a tracer was made")
	}
	both := Join(one, &Tracer{})
	if both.OperationBegan != nil || both.OperationEnded != nil || both.AttemptBegan != nil || both.AttemptEnded != nil ||
		both.TransactionBegan != nil || both.TransactionEnded != nil {
		t.Error("a function was made of none")
	}
}

// A joined tracer stays as it is if its parts' list changes.
func TestJoinKeepsItsArguments(t *testing.T) {
	var calls []string
	list := []*Tracer{nil, noting("a", &calls), noting("b", &calls)}
	Join(list...)
	if list[0] != nil || list[1] == nil || list[2] == nil {
		t.Error("the list was changed")
	}
}
