package failures

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/interop/internal/driver"
)

// failure is something that goes wrong under one operation. arrange is called with everything connected and quiet; what
// it returns, unless nil, is called after the operation.
type failure struct {
	name    string
	arrange func(*script) (undo func())
}

var failures = []failure{
	{"pool cleared between selection and checkout", (*script).clearPoolAtCheckOut},
	{"handshake error on the first attempt: connection closed", (*script).closeInHandshake},
	{"handshake error on the first attempt: ShutdownInProgress (91)", (*script).refuseHandshake},
}

var operations = []struct {
	name string
	do   func(context.Context, driver.Collection) error
}{
	{"read", func(ctx context.Context, c driver.Collection) error {
		var found bson.Raw
		return c.FindOne(ctx, bson.D{{Key: "_id", Value: "known"}}, &found)
	}},
	{"write", func(ctx context.Context, c driver.Collection) error {
		_, err := c.InsertOne(ctx, bson.D{{Key: "_id", Value: "new"}})
		return err
	}},
}

// TestFirstAttempts prints the table and holds that ours returns none of these errors and the official driver all: the
// day it does not, our documents are to be corrected.
func TestFirstAttempts(t *testing.T) {
	var table strings.Builder
	fmt.Fprintf(&table, "%-70s %-10s %s\n", "failure of the first attempt", "official", "ours")
	counts := map[string]int{}
	for _, f := range failures {
		for _, op := range operations {
			shown := map[string]string{}
			for _, name := range driver.Names() {
				t.Run(f.name+"/"+op.name+"/"+name, func(t *testing.T) {
					err := newScript(t, name).run(f, op.do)
					shown[name] = "no error"
					if err != nil {
						shown[name] = "error"
						counts[name]++
						t.Logf("returned: %v", err)
					}
					if got, want := err != nil, name == driver.NameOfficial; got != want {
						t.Errorf("an error was returned: %t; expected: %t", got, want)
					}
				})
			}
			fmt.Fprintf(&table, "%-70s %-10s %s\n", f.name+", "+op.name, shown[driver.NameOfficial], shown[driver.NameOurs])
		}
	}
	fmt.Print(table.String())
	fmt.Printf("figure official-first-attempt-errors %d\n", counts[driver.NameOfficial])
	fmt.Printf("figure first-attempt-errors %d\n", counts[driver.NameOurs])
}
