package mongo_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/readpref"

	"github.com/holdfast-db/holdfast/mongo"
)

// Read Preferences document of 2014, "slaveOk": "slaveOk=True means ReadPreference=SECONDARY_PREFERRED".
func TestTheReadPreferenceOfSlaveOk(t *testing.T) {
	for _, c := range []struct{ name, uri, mode string }{
		{"true means secondaryPreferred", "slaveOk=true", "secondaryPreferred"},
		{"the name may be written in any case", "SLAVEOK=true", "secondaryPreferred"},
		{"an escaped value counts", "slaveOk=%74rue", "secondaryPreferred"},
		{"the last of two counts", "slaveOk=false&slaveOk=true", "secondaryPreferred"},
		{"false means the default", "slaveOk=false", ""},
		{"the last of two counts, false", "slaveOk=true&slaveOk=false", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			in(t, withOptions(c.uri), func(w *world) {
				w.discovered()
				w.must(findOne(w))
				find := w.started("find")[0]
				mode, _ := find.Command.Lookup("$readPreference", "mode").StringValueOK()
				if mode != c.mode {
					t.Errorf("$readPreference has the mode %q, want %q", mode, c.mode)
				}
				if secondary := !strings.HasPrefix(find.ConnectionID, w.primaryAddr()); secondary != (c.mode != "") {
					t.Errorf("the read went to %s, the primary is %s", find.ConnectionID, w.primaryAddr())
				}
			})
		})
	}
}

// primaryAddr returns the address of the primary.
func (w *world) primaryAddr() string { return w.set.Addr(w.set.Primary()) }

// An operation, a collection or a database may have a read preference of its own beside slaveOk.
func TestAReadPreferenceOfACollectionIsAllowedBesideSlaveOk(t *testing.T) {
	in(t, withOptions("slaveOk=true"), func(w *world) {
		w.seed()
		coll := w.coll.Clone(options.Collection().SetReadPreference(readpref.Primary()))
		w.must(coll.FindOne(w.ctx, doc()).Err())
		if find := w.started("find")[0]; !strings.HasPrefix(find.ConnectionID, w.primaryAddr()) {
			t.Errorf("the read went to %s", find.ConnectionID)
		}
	})
}

// "Passing a value for both slaveOk and ReadPreference is an error".
func TestAnOldOptionForReadsTogetherWithTheNewOneIsAnError(t *testing.T) {
	const useReadPreference = "slaveOk is deprecated, use ReadPreference."
	for _, c := range []struct {
		name, uri string
		o         *options.ClientOptions
		want      string
	}{
		{"slaveOk and readPreference", "slaveOk=true&readPreference=secondary", nil, useReadPreference},
		{"slaveOk and the same readPreference", "slaveOk=true&readPreference=secondaryPreferred", nil, useReadPreference},
		{"slaveOk=false and readPreference", "readPreference=primary&slaveOk=false", nil, useReadPreference},
		{"slaveOk and the option ReadPreference", "slaveOk=true", options.Client().SetReadPreference(readpref.Nearest()), useReadPreference},
		{
			"secondaryAcceptableLatencyMS and localThresholdMS", "secondaryAcceptableLatencyMS=20&localThresholdMS=20", nil,
			`"secondaryAcceptableLatencyMS" is deprecated; it cannot be given together with localThresholdMS`,
		},
		{
			"secondaryAcceptableLatencyMS and the option LocalThreshold", "secondaryAcceptableLatencyMS=20",
			options.Client().SetLocalThreshold(time.Second), "cannot be given together with localThresholdMS",
		},
		{"slaveOk without a value", "slaveOk=", nil, `"slaveOk" is ""; it must be true or false`},
		{"slaveOk with a number", "slaveOk=1", nil, `"slaveOk" is "1"; it must be true or false`},
		{"slaveOk in another case", "slaveOk=True", nil, `"slaveOk" is "True"; it must be true or false`},
		{"a negative latency", "secondaryAcceptableLatencyMS=-1", nil, `is "-1"; it must be a number of milliseconds, 0 or more`},
		{"a latency that is no number", "secondaryAcceptableLatencyMS=x", nil, `is "x"; it must be a number of milliseconds, 0 or more`},
	} {
		t.Run(c.name, func(t *testing.T) {
			const host = "mongodb://127.0.0.1:1/?"
			given := []*options.ClientOptions{options.Client()}
			if c.o != nil {
				given = append(given, c.o)
			}
			for name, connect := range map[string]func(*options.ClientOptions) (*mongo.Client, error){
				"Connect": func(o *options.ClientOptions) (*mongo.Client, error) {
					return mongo.Connect(options.Client().ApplyURI(host+c.uri), o)
				},
				"Open": func(o *options.ClientOptions) (*mongo.Client, error) {
					return mongo.Open(host+c.uri, mongo.Config{}, o)
				},
			} {
				n := &networkUse{}
				err := refused(t, n, func() (*mongo.Client, error) {
					return connect(options.MergeClientOptions(given...).SetDialer(n))
				})
				if !strings.Contains(err.Error(), c.want) {
					t.Errorf("%s: %v, want %q", name, err, c.want)
				}
			}
		})
	}
}

func TestADeprecatedOptionForReadsIsLogged(t *testing.T) {
	for uri, want := range map[string][]string{
		"slaveOk=true":  {fmt.Sprint("option", "slaveOk", "reason", "readPreference has replaced it")},
		"slaveOk=false": {fmt.Sprint("option", "slaveOk", "reason", "readPreference has replaced it")},
		"secondaryAcceptableLatencyMS=20&slaveOk=true": {
			fmt.Sprint("option", "slaveOk", "reason", "readPreference has replaced it"),
			fmt.Sprint("option", "secondaryAcceptableLatencyMS", "reason", "localThresholdMS has replaced it"),
		},
		"readPreference=secondaryPreferred&localThresholdMS=20": nil,
	} {
		heard := &messageSink{message: "Connection string option deprecated"}
		client, err := mongo.Connect(options.Client().ApplyURI("mongodb://127.0.0.1:1/?" + uri).SetLoggerOptions(
			options.Logger().SetSink(heard).SetComponentLevel(options.LogComponentConnection, options.LogLevelInfo)))
		if err != nil {
			t.Fatal(err)
		}
		if err := client.Disconnect(context.Background()); err != nil {
			t.Error(err)
		}
		if !slices.Equal(heard.heard, want) {
			t.Errorf("%s: logged %q, want %q", uri, heard.heard, want)
		}
	}
}
