package router

import (
	"errors"
	"fmt"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	official "go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// withoutMembers returns who passes logins through at a router that reaches no member.
func withoutMembers(t *testing.T) *passThrough {
	t.Helper()
	upstream := options.Client().ApplyURI("mongodb://u:p@nowhere:1/?replicaSet=rs").SetDialer(noNetwork{})
	r, err := New(Config{Upstream: upstream, PassThrough: true, Window: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	return r.accounts.(*passThrough)
}

// asked returns a question whose answer came some time ago.
func asked(ago time.Duration) *question {
	a := &question{asked: time.Now().Add(-ago), done: make(chan struct{})}
	close(a.done)
	return a
}

func TestAnswersAboutUsersAreBoundedAndNotKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := withoutMembers(t)
		for i := range mostKnown {
			p.known[id{"app", fmt.Sprint(i)}] = asked(0)
		}
		if _, err := p.about(t.Context(), id{"app", "one too many"}); !errors.Is(err, errTooManyUsers) {
			t.Errorf("the error is %v", err)
		}
		local, _ := net.Pipe()
		c := newClient(p.router, local, 1)
		if refused := c.unknown(id{}, errTooManyUsers); refused.code != codeAdmissionQueueFull || len(refused.labels) != 3 {
			t.Errorf("the client gets %+v", refused)
		}
		if found, err := p.about(t.Context(), id{"app", "7"}); found != nil || err != nil {
			t.Errorf("one that is known: %v, %v", found, err)
		}
		<-time.After(answerLife)
		if _, err := p.about(t.Context(), id{"app", "another"}); err == nil || errors.Is(err, errTooManyUsers) {
			t.Errorf("after a second the error is %v", err)
		}
		synctest.Wait()
		if n := len(p.known); n != 0 {
			t.Errorf("%d answers are kept: old ones, or that nobody could be asked", n)
		}
	})
}

// Nobody looks through all answers more often than once a second.
func TestOldAnswersAreSweptOnceASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := withoutMembers(t)
		for i, kept := range []int{1, 3, 2} { // with the new question
			if i == 2 {
				<-time.After(answerLife)
				clear(p.known)
				p.known[id{"app", "new"}] = asked(0)
			}
			p.known[id{"app", fmt.Sprint("old", i)}] = asked(2 * answerLife)
			p.question(id{"app", fmt.Sprint(i)})
			if n := len(p.known); n != kept {
				t.Errorf("after question %d there are %d, want %d", i, n, kept)
			}
		}
	})
}

// A question that has failed late is not the one that was asked since.
func TestOnlyTheFailedQuestionIsForgotten(t *testing.T) {
	first, second, ann := asked(0), asked(0), id{"app", "ann"}
	p := &passThrough{known: map[id]*question{ann: second}}
	if p.forget(ann, first); p.known[ann] != second {
		t.Error("the second one is forgotten")
	}
	if p.forget(ann, second); len(p.known) != 0 {
		t.Error("it is kept")
	}
}

// What only the network or a change of state prevents may be asked again.
func TestWhatIsARefusal(t *testing.T) {
	reply := bson.Raw{5, 0, 0, 0, 0}
	for _, c := range []struct {
		err  error
		want bool
	}{
		{official.CommandError{Code: 13, Raw: reply}, true},
		{fmt.Errorf("usersInfo: %w", official.CommandError{Code: 13, Raw: reply}), true},
		{errStrange, true},
		{official.CommandError{Code: 189, Raw: reply}, false},
		{official.CommandError{Code: 11600, Raw: reply}, false},
		{official.CommandError{Code: 462, Raw: reply, Labels: []string{labelRetryable}}, false},
		{official.CommandError{Labels: []string{"NetworkError"}}, false},
		{errTooManyUsers, false},
	} {
		if got := isRefusal(c.err); got != c.want {
			t.Errorf("%v: %v", c.err, got)
		}
	}
}
