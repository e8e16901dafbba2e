package mongo

import (
	"fmt"
	"math"
	"net/url"
	"strconv"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// The deprecated time limits, in lower case.
const (
	socketTimeoutMS    = "sockettimeoutms"
	waitQueueTimeoutMS = "waitqueuetimeoutms"
	wTimeoutMS         = "wtimeoutms"
)

// legacyTimeouts are the time limits of the connection string that timeoutMS has deprecated, and for which the official options
// have no fields. 0 means no limit. An operation whose context has a deadline ignores them (Client-Side Operations Timeout
// specification, "Validation and Overrides").
type legacyTimeouts struct {
	socket    time.Duration // of each round trip
	waitQueue time.Duration // of the wait for a free connection
	w         time.Duration // wtimeout of the client's write concern
}

// legacyTimeoutsOf returns the time limits that count beside the other options, which were checked. With the option Timeout none
// does, not even if it is 0.
func legacyTimeoutsOf(o *options.ClientOptions, cfg Config) legacyTimeouts {
	if o.Timeout != nil {
		return legacyTimeouts{}
	}
	t, _ := parseLegacyTimeouts(o.GetURI()) // checkURI returns the error
	if cfg.AttemptTimeout > 0 {
		t.socket, t.waitQueue = 0, 0
	}
	return t
}

// parseLegacyTimeouts reads the time limits of a connection string. The last value of an option counts.
func parseLegacyTimeouts(uri string) (legacyTimeouts, error) {
	var t legacyTimeouts
	for name, value := range optionsOf(uri) {
		var field *time.Duration
		switch strings.ToLower(name) {
		case socketTimeoutMS:
			field = &t.socket
		case waitQueueTimeoutMS:
			field = &t.waitQueue
		case wTimeoutMS:
			field = &t.w
		default:
			continue
		}
		if decoded, err := url.QueryUnescape(value); err == nil {
			value = decoded
		}
		limit, err := parseMilliseconds(name, value)
		if err != nil {
			return t, err
		}
		*field = limit
	}
	return t, nil
}

// parseMilliseconds returns the time in the value of an option of the connection string.
func parseMilliseconds(name, value string) (time.Duration, error) {
	ms, err := strconv.ParseInt(value, 10, 64)
	if err != nil || ms < 0 || ms > math.MaxInt64/int64(time.Millisecond) {
		return 0, fmt.Errorf("mongo: the connection string's option %q is %q; it must be a number of milliseconds, 0 or more", name, value)
	}
	return time.Duration(ms) * time.Millisecond, nil
}
