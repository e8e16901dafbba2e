package mongoerr

import (
	"errors"
	"fmt"
	"testing"
)

func TestTheTableIsSortedAndHasEachNameOnce(t *testing.T) {
	names := make(map[string]bool)
	for i, r := range table {
		if i > 0 && r.code <= table[i-1].code {
			t.Errorf("%d stands behind %d", r.code, table[i-1].code)
		}
		if r.name == "" || names[r.name] {
			t.Errorf("%d has the name %q, which is empty or another's", r.code, r.name)
		}
		names[r.name] = true
	}
}

func TestNamesOfCodes(t *testing.T) {
	for _, test := range []struct {
		code      Code
		name, old string
	}{
		{BadValue, "BadValue", ""},
		{NotWritablePrimary, "NotWritablePrimary", "NotMaster"},
		{MissingField, "IDLFailedToParse", ""},
		{IncompatibleCollationVersion, "IncompatibleCollationVersion", ""},
		{0, "Location0", ""},
		{40571, "Location40571", ""},
	} {
		if name, old := Name(test.code), OldName(test.code); name != test.name || old != test.old {
			t.Errorf("%d is called %q, before %q; want %q, before %q", test.code, name, old, test.name, test.old)
		}
	}
}

func TestKindsOfCodes(t *testing.T) {
	for _, test := range []struct {
		code Code
		is   Class
	}{
		{BadValue, 0},
		{40571, 0},
		{WriteConflict, Transient},
		{StaleConfig, Resumable},
		{SocketException, RetryableWrite},
		{NotWritablePrimary, RetryableWrite | StateChange},
	} {
		for _, kind := range []Class{RetryableWrite, Transient, Resumable, StateChange} {
			if got, want := Is(test.code, kind), test.is&kind != 0; got != want {
				t.Errorf("Is(%d, %d) is %t", test.code, kind, got)
			}
		}
	}
}

func TestAnyErrorBecomesAReply(t *testing.T) {
	own := Errorf(TypeMismatch, "no %s", "number")
	if got := From(fmt.Errorf("wrapped: %w", own)); got != own {
		t.Errorf("a wrapped Error becomes %+v", got)
	}
	if got := From(errors.New("cut off")); got.Code != InvalidBSON || got.Message != "cut off" {
		t.Errorf("an error of another type becomes %+v", got)
	}
	if got := Because("reading", own); got.Error() != "reading :: caused by :: no number" || CodeOf(got) != TypeMismatch {
		t.Errorf("with its consequence it is %+v", got)
	}
	if own.Message != "no number" {
		t.Errorf("the cause itself was changed: %+v", own)
	}
}
