package retryhttp

import (
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// RetryAfter returns how long the Retry-After header of a response asks the client to wait (RFC 9110, section 10.2.3). The header
// is a number of seconds, or a date. A date is compared with the response's own Date header, because the clocks of the two machines
// can differ; without a Date, with now. The result is 0 if there is no header, if it has neither form, or if its time is over. A
// number that is too large for a time.Duration becomes the largest one.
func RetryAfter(header http.Header, now time.Time) time.Duration {
	value := strings.TrimSpace(header.Get("Retry-After"))
	if value == "" {
		return 0
	}
	if strings.Trim(value, "0123456789") == "" {
		return seconds(value)
	}
	until, err := http.ParseTime(value)
	if err != nil {
		return 0
	}
	if date, err := http.ParseTime(header.Get("Date")); err == nil {
		now = date
	}
	return max(until.Sub(now), 0)
}

// seconds returns the duration of a number of seconds that has only digits.
func seconds(digits string) time.Duration {
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || n > int64(math.MaxInt64/time.Second) {
		return math.MaxInt64
	}
	return time.Duration(n) * time.Second
}
