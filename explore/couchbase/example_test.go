package explore_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/holdfast-db/holdfast/couchbase"
	"github.com/holdfast-db/holdfast/couchbasetest"
	explore "github.com/holdfast-db/holdfast/explore/couchbase"
)

// A test as a program has it, with one failure of its own besides the usual ones: a slow node.
func TestAnOrderIsNotLost(t *testing.T) {
	slow := explore.Failure{
		Name: "slow", Title: "the node answers after two seconds", Concerns: func(m explore.Message) bool { return m.Write },
		Apply: func(*explore.Strike) couchbasetest.Middleware {
			return couchbasetest.Always(couchbasetest.Fault{ReplyDelay: 2 * time.Second})
		},
	}
	explore.Run(t, func(e *explore.Exploration) {
		orders := cluster(e).Bucket("default").DefaultCollection()
		_, err := orders.Insert("order-1", "paid", &couchbase.InsertOptions{DurabilityLevel: couchbase.DurabilityLevelMajority})
		e.Logf("Insert returned %v", err)
		e.Check(func() error {
			found, err2 := orders.Exists("order-1", nil)
			if err2 == nil && err == nil && !found.Exists() {
				return fmt.Errorf("the order is lost")
			}
			return err2
		})
	}, explore.InMemory(), explore.Failures(append(explore.All(), slow)...))
}

// The names stand in the cases of reports, after the colon.
func ExampleAll() {
	for _, f := range explore.All()[:4] {
		fmt.Printf("%s: %s\n", f.Name, f.Title)
	}
	fmt.Println(explore.Refused(0x86).Name)
	// Output:
	// request-lost: the connection breaks before the node gets the request
	// reply-lost: the reply is lost after the node executed it
	// late-request: the connection breaks, and the network delivers the request after the program has ended
	// half-reply: the connection breaks in the middle of the reply
	// status-86
}
