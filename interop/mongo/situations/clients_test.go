package situations

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/readpref"
	"go.mongodb.org/mongo-driver/v2/tag"
)

// clientValues are the values of the client's options by the type of the option.
var clientValues = map[reflect.Type][]any{
	reflect.TypeFor[bool]():          {true, false},
	reflect.TypeFor[string]():        {"", "text", strings.Repeat("a", 200)},
	reflect.TypeFor[uint]():          {uint(0), uint(1)},
	reflect.TypeFor[uint64]():        {uint64(0), uint64(1)},
	reflect.TypeFor[int]():           {0, 1, -1, 100},
	reflect.TypeFor[time.Duration](): {time.Duration(0), time.Second, -time.Second},
	reflect.TypeFor[[]string]():      {[]string(nil), []string{}, []string{"nonsense"}, []string{"zlib", "zlib"}},
	reflect.TypeFor[options.Credential](): {
		options.Credential{},
		options.Credential{AuthMechanism: "nonsense", Username: "u", Password: "p"},
		options.Credential{Username: "u"},
		options.Credential{AuthMechanism: "SCRAM-SHA-256", Username: "u", Password: "p", AuthMechanismProperties: map[string]string{"A": "b"}},
		options.Credential{AuthMechanism: "MONGODB-X509", Password: "p"},
		options.Credential{AuthMechanism: "PLAIN", Username: "u"},
	},
	reflect.TypeFor[*options.ServerAPIOptions](): {
		options.ServerAPI(options.ServerAPIVersion1), options.ServerAPI("2"), options.ServerAPI(""), options.ServerAPI(options.ServerAPIVersion1).SetStrict(true),
	},
	reflect.TypeFor[*options.DriverInfo](): {
		(*options.DriverInfo)(nil), &options.DriverInfo{}, &options.DriverInfo{Name: "library", Version: "1.2", Platform: "here"},
		&options.DriverInfo{Name: "a|b"}, &options.DriverInfo{Version: "1|2"}, &options.DriverInfo{Platform: "a|b"},
		&options.DriverInfo{Name: strings.Repeat("a", 600)},
	},
	reflect.TypeFor[*readpref.ReadPref](): append(optionValues[reflect.TypeFor[*readpref.ReadPref]()], oddReadPrefs()...),
}

func oddReadPrefs() []any {
	var list []any
	for _, rp := range []*readpref.ReadPref{
		readpref.Secondary(readpref.WithTags("dc", "none")), readpref.SecondaryPreferred(readpref.WithTagSets(tag.Set{{Name: "dc", Value: "a"}, {Name: "dc", Value: "b"}})),
		readpref.Nearest(readpref.WithTagSets()), readpref.Nearest(readpref.WithMaxStaleness(time.Second)), readpref.Nearest(readpref.WithMaxStaleness(90 * time.Second)),
	} {
		list = append(list, rp)
	}
	return list
}

// clientSituations set each option of a client, and read and write with it.
func clientSituations() []situation {
	var list []situation
	builder := reflect.TypeFor[*options.ClientOptions]()
	for i := range builder.NumMethod() {
		setter := builder.Method(i)
		if !strings.HasPrefix(setter.Name, "Set") || setter.Type.NumIn() != 2 {
			continue
		}
		values := clientValues[setter.Type.In(1)]
		if values == nil {
			values = optionValues[setter.Type.In(1)]
		}
		switch setter.Name {
		case "SetHosts", "SetDialer", "SetServerMonitoringMode", "SetLoadBalanced":
			continue // the server cannot be reached
		}
		for _, value := range values {
			list = append(list, situation{
				name:      fmt.Sprintf("a client, %s %s", setter.Name, valueName(value)),
				configure: func(o *options.ClientOptions) { set(o, setting{setter.Name, value}) },
				do:        readAndWrite,
			})
		}
	}
	return append(list, readPreferenceSituations()...)
}

func readAndWrite(ctx context.Context, w *world) (any, error) {
	if _, err := w.coll.InsertOne(ctx, fresh); err != nil {
		return "the insert", err
	}
	return "the read", w.coll.FindOne(ctx, byID).Err()
}

// readPreferenceSituations read with odd read preferences.
func readPreferenceSituations() []situation {
	var list []situation
	for _, rp := range oddReadPrefs() {
		rp := rp.(*readpref.ReadPref)
		for _, name := range []string{"Collection.FindOne", "Collection.Aggregate", "Client.Ping", "Database.RunCommand"} {
			list = append(list, situation{name: fmt.Sprintf("%s with the read preference %v", name, rp), do: func(ctx context.Context, w *world) (any, error) {
				ctx, cancel := context.WithTimeout(ctx, time.Second)
				defer cancel()
				w.db = w.client.Database("db", options.Database().SetReadPreference(rp))
				w.coll = w.db.Collection("c")
				switch name {
				case "Client.Ping":
					return nil, w.client.Ping(ctx, rp)
				case "Database.RunCommand":
					return nil, w.db.RunCommand(ctx, bson.D{{Key: "ping", Value: 1}}, options.RunCmd().SetReadPreference(rp)).Err()
				case "Collection.Aggregate":
					_, err := w.coll.Aggregate(ctx, mongo.Pipeline{})
					return nil, err
				}
				return nil, w.coll.FindOne(ctx, byID).Err()
			}})
		}
	}
	return list
}
