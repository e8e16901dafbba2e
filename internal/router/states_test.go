package router_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/internal/router"
	"github.com/holdfast-db/holdfast/mongotest"
)

// "STARTUP2, RECOVERING, arbiters and hidden members are never read from."
func TestMembersThatAreNeverReadFrom(t *testing.T) {
	for name, c := range map[string]struct {
		member []mongotest.MemberOption
		read   bool
	}{
		"a secondary":               {nil, true},
		"a delayed secondary":       {[]mongotest.MemberOption{mongotest.Priority(0), mongotest.SecondaryDelay(time.Hour)}, true},
		"an arbiter":                {[]mongotest.MemberOption{mongotest.Arbiter()}, false},
		"a hidden member":           {[]mongotest.MemberOption{mongotest.Priority(0), mongotest.Hidden()}, false},
		"one that was not let in":   {[]mongotest.MemberOption{mongotest.Spare()}, false},
		"one that cannot be chosen": {[]mongotest.MemberOption{mongotest.Priority(0), mongotest.Votes(0)}, true},
	} {
		inSet(t, 3, []mongotest.Option{mongotest.Member(2, c.member...)}, func(w *world) {
			seen := make(map[int]bool)
			for range 60 {
				seen[w.dial().read(preferring("nearest"))] = true
			}
			if !seen[0] || !seen[1] || seen[2] != c.read {
				w.Errorf("%s: the members %v answered", name, seen)
			}
		})
	}
}

// Behind a router with a direct connection every read goes to that member, which gets one preference only: primary or none as
// primaryPreferred, other modes as they are (Server Selection, "Topology type: Single").
func TestADirectConnectionBehindTheRouter(t *testing.T) {
	inSet(t, 3, nil, func(w *world) {
		synctest.Wait() // Serve has the listener: it would close it later
		w.router.Close()
		uri := "mongodb://" + w.set.Addr(1) + "/?directConnection=true"
		r := w.start(address, router.Config{Upstream: options.Client().ApplyURI(uri).SetDialer(w.set.Dialer())})
		defer r.Close()
		got := make(chan string, 1)
		w.set.Use("find", func(r *mongotest.Request, next mongotest.Handler) *mongotest.Reply {
			got <- r.Body.String()
			return next(r)
		})
		for want, more := range map[string][]bson.E{
			"primaryPreferred":   nil,
			"nearest":            {preferring("nearest")},
			"secondaryPreferred": {preferring("secondaryPreferred")},
		} {
			if member := w.dial().read(more...); member != 1 {
				w.Errorf("%s: member %d", want, member)
			}
			if body := <-got; strings.Count(body, "$readPreference") != 1 || !strings.Contains(body, `{"mode": "`+want+`"}`) {
				w.Errorf("%s: the member got %s", want, body)
			}
		}
	})
}
