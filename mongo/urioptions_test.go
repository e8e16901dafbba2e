package mongo_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/mongo"
)

// messageSink keeps the first two fields of each log message with this text.
type messageSink struct {
	message string
	heard   []string
}

func (s *messageSink) Info(_ int, message string, fields ...any) {
	if message == s.message {
		s.heard = append(s.heard, fmt.Sprint(fields[:4]...))
	}
}

func (*messageSink) Error(error, string, ...any) {}

// An option of the connection string that is ignored is not ignored silently.
func TestAnIgnoredOptionOfTheConnectionStringIsLogged(t *testing.T) {
	unknown := [][3]string{{"nonsense", "", "Holdfast does not know it"}} // Connection String specification, "Keys"
	for _, row := range append(unknown, mongo.IgnoredURIOptions()...) {
		name, values, why := row[0], row[1], row[2]
		t.Run(name, func(t *testing.T) {
			value, _, _ := strings.Cut(values, ",")
			if value == "" {
				value = "1"
			}
			heard := &messageSink{message: "Connection string option ignored"}
			o := options.Client().ApplyURI("mongodb://127.0.0.1:1/?" + strings.ToUpper(name) + "=" + value)
			client, err := mongo.Connect(o.SetLoggerOptions(options.Logger().SetSink(heard).
				SetComponentLevel(options.LogComponentConnection, options.LogLevelInfo)))
			if err != nil {
				t.Fatal(err)
			}
			if err := client.Disconnect(t.Context()); err != nil {
				t.Error(err)
			}
			var want []string
			if why != "" {
				want = []string{fmt.Sprint("option", strings.ToUpper(name), "reason", why)}
			}
			if !slices.Equal(heard.heard, want) {
				t.Errorf("logged %q, want %q", heard.heard, want)
			}
		})
	}
}

// sameOptions reports whether the exported fields of two options are equal.
func sameOptions(a, b *options.ClientOptions) bool {
	x, y := reflect.ValueOf(*a), reflect.ValueOf(*b)
	for i := range x.NumField() {
		if x.Type().Field(i).IsExported() && !reflect.DeepEqual(x.Field(i).Interface(), y.Field(i).Interface()) {
			return false
		}
	}
	return true
}

// Whatever the official parser knows is supported here, and whatever it does not know is ignored there: so nothing that counts there is
// ignored here, and a few old options are all that counts here only.
func TestTheTablesOfURIOptionsAreThoseOfTheOfficialParser(t *testing.T) {
	known := func(name string) bool {
		o := options.Client().ApplyURI("mongodb://u:p@127.0.0.1:1/?" + name + "=%2F-")
		return strings.HasSuffix(name, "password") || // it counts only beside a file
			o.Validate() != nil || !sameOptions(o, options.Client().ApplyURI("mongodb://u:p@127.0.0.1:1/"))
	}
	for _, name := range mongo.SupportedURIOptions() {
		onlyHere := slices.Contains([]string{
			"waitqueuetimeoutms", "wtimeoutms", "tlsallowinvalidcertificates", "tlsallowinvalidhostnames", "slaveok", "secondaryacceptablelatencyms",
			"proxyhost", "proxyport", "proxyusername", // proxypassword too
		}, name)
		if known(name) == onlyHere {
			t.Errorf("%s: the official parser knows it: %t", name, !onlyHere)
		}
	}
	for _, row := range mongo.IgnoredURIOptions() {
		if known(row[0]) {
			t.Errorf("%s is ignored, and the official parser knows it", row[0])
		}
	}
}

// These are other names for options that are supported.
func TestTheOtherNamesOfURIOptionsAreSupported(t *testing.T) {
	for uri, want := range map[string]func(*options.ClientOptions) bool{
		"connect=direct":           func(o *options.ClientOptions) bool { return *o.Direct },
		"connect=automatic":        func(o *options.ClientOptions) bool { return !*o.Direct },
		"heartbeatIntervalMS=1234": func(o *options.ClientOptions) bool { return o.HeartbeatInterval.Milliseconds() == 1234 },
		"readPreference=secondary&maxStaleness=100": func(o *options.ClientOptions) bool {
			limit, _ := o.ReadPreference.MaxStaleness()
			return limit.Seconds() == 100
		},
	} {
		o := options.Client().ApplyURI("mongodb://127.0.0.1:1/?" + uri)
		client, err := mongo.Connect(o)
		if err != nil || !want(o) {
			t.Errorf("%s: %v", uri, err)
			continue
		}
		if err := client.Disconnect(t.Context()); err != nil {
			t.Error(err)
		}
	}
}
