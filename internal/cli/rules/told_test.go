package rules

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/holdfast-db/holdfast/retry"
	"github.com/holdfast-db/holdfast/retry/couchbasereason"
	"github.com/holdfast-db/holdfast/retry/mongoreason"
)

// failing returns the error of an operation with so many attempts, and its history.
func failing(t *testing.T, attempts int, text string) *retry.Error {
	t.Helper()
	engine, err := retry.New(retry.Options{Strategy: retry.Limited(attempts, retry.UntilDeadline())})
	if err != nil {
		t.Fatal(err)
	}
	err = engine.Do(context.Background(), retry.Operation{}, func(_ context.Context, n int) retry.Failure {
		return retry.Failure{
			Err: errors.New(text), Endpoint: fmt.Sprintf("[::1]:%d", n), Reason: mongoreason.NotWritablePrimary, Stage: retry.StageAnswered,
		}
	})
	var history *retry.Error
	if !errors.As(err, &history) {
		t.Fatal(err)
	}
	return history
}

func TestReadTellsTheAttemptsOfAText(t *testing.T) {
	for _, text := range []string{"refused", "a list [1, 2] and [3 at x]", "no more: words", ""} {
		for _, attempts := range []int{1, 2, 8, 9, 30} {
			history := failing(t, attempts, text)
			for _, printed := range []string{
				history.Error(), history.History(), "(Name) text: " + history.History(), strings.ReplaceAll(history.Error(), " ", "\n\t"),
			} {
				told, err := Read(printed)
				if err != nil {
					t.Errorf("%q: %v", printed, err)
					continue
				}
				if told.Total != attempts || len(told.Attempts) != len(history.Attempts) || told.StopReason != retry.StopAttemptsUsed || (told.Omitted == "") != (attempts <= 8) {
					t.Errorf("%q: %+v", printed, told)
				}
				first := Attempt{1, "[::1]:0", retry.StageAnswered, "NOT_WRITABLE_PRIMARY", text}
				if len(told.Attempts) > 0 && (told.Attempts[0] != first || told.Attempts[len(told.Attempts)-1].Number != attempts) {
					t.Errorf("%q: %+v", printed, told.Attempts)
				}
			}
		}
	}
}

func TestReadTellsThatThereWasNoAttempt(t *testing.T) {
	engine, err := retry.New(retry.Options{Strategy: retry.RetryOnce()})
	if err != nil {
		t.Fatal(err)
	}
	err = engine.Do(context.Background(), retry.Operation{}, func(context.Context, int) retry.Failure {
		return retry.Failure{Err: errors.New("nobody is there"), Stage: retry.StageBeforeSending, NoAttempt: true, Stop: retry.StopNoServer}
	})
	told, readErr := Read("insert: " + err.Error())
	if readErr != nil || told.Total != 0 || len(told.Attempts) != 0 || told.StopReason != retry.StopNoServer {
		t.Errorf("%v: %+v, %v", err, told, readErr)
	}
}

// What follows the history in a log is no error of a strategy.
func TestReadLeavesOutTheRestOfALog(t *testing.T) {
	history := failing(t, 2, "refused").Error()
	for _, text := range []string{history + `"}`, "(" + history + ") while saving", `{"err":"` + history + `","n":1}`} {
		if told, err := Read(text); err != nil || told.Total != 2 || told.Strategy != "" {
			t.Errorf("%q: %+v, %v", text, told, err)
		}
	}
	const declined = "x (1 attempt: [1, answered, CONFLICT: e] no more: strategy declined: not today)"
	if told, err := Read(declined); err != nil || told.Strategy != "not today" {
		t.Errorf("%+v, %v", told, err)
	}
}

func TestReadRefusesOtherTexts(t *testing.T) {
	for _, text := range []string{
		"", "connection reset by peer", "2 attempts:", "2 attempts: [1 at a:1, in flight, NETWORK_ERROR: reset]", "1 attempt: [1, asleep, NONE: x] no more: undecided",
		"99999999999999999999 attempts: [1, in flight, NETWORK_ERROR: x] no more: no server",
		"1 attempt: [1, in flight, NETWORK_ERROR: x] no more: because",
	} {
		if told, err := Read(text); err == nil {
			t.Errorf("%q: %+v", text, told)
		}
	}
}

// Every reason and every stop reason of this module has words.
func TestEveryReasonAndEveryStopReasonHasWords(t *testing.T) {
	all := append(append(retry.GeneralReasons(), mongoreason.All()...), couchbasereason.All()...)
	for _, r := range append(all, couchbasereason.KVConfigOnly, couchbasereason.BucketOpening, couchbasereason.NodeConnecting) {
		if r != retry.ReasonCircuitBreakerOpen && strings.Contains(ReasonWords(r.String()), "no such reason") {
			t.Errorf("%v has no words", r)
		}
	}
	seen := map[string]retry.StopReason{}
	for stop := retry.StopNone; stop.String() != "unknown"; stop++ {
		words := StopReasonWords(stop)
		if other, ok := seen[words]; ok {
			t.Errorf("%v and %v have the same words", stop, other)
		}
		seen[words] = stop
	}
}

func FuzzReadCouchbase(f *testing.F) {
	f.Add(`unambiguous timeout | {"operation_id":"get","retry_reasons":["KV_LOCKED"],"retry_attempts":2}`)
	f.Add(`{"err":"document not found | {\\"status_code\\":1}"}`)
	f.Fuzz(func(t *testing.T, text string) {
		told, err := ReadCouchbase(text)
		if err != nil && !reflect.DeepEqual(told, ToldCouchbase{}) {
			t.Errorf("%q: %+v and %v", text, told, err)
		}
		if err == nil && !strings.Contains(strings.Join(strings.Fields(text), " "), told.Message) {
			t.Errorf("%q has no message %q", text, told.Message)
		}
	})
}

func FuzzRead(f *testing.F) {
	f.Add("x (2 attempts: [1 at a:1, in flight, NETWORK_ERROR: reset] [2 at a:1, in flight, NETWORK_ERROR: reset] no more: attempts used up)")
	f.Add("12 attempts: [1, answered, CONFLICT: e] ... 4 more attempts: 4 x CONFLICT ... [12, answered, CONFLICT: e] no more: strategy declined: why")
	f.Fuzz(func(t *testing.T, text string) {
		told, err := Read(text)
		again, errAgain := Read(text)
		if !reflect.DeepEqual(told, again) || (err == nil) != (errAgain == nil) {
			t.Errorf("%+v, %v; then %+v, %v", told, err, again, errAgain)
		}
		if err == nil && len(told.Attempts) == 0 {
			t.Errorf("no attempts in %q", text)
		}
	})
}
