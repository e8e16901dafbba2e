package retryhttp_test

import (
	"math"
	"net/http"
	"testing"
	"time"

	"github.com/holdfast-db/holdfast/retry/retryhttp"
)

var now = time.Date(2016, 6, 28, 12, 0, 0, 0, time.UTC)

// RFC 9110, section 10.2.3, and section 5.6.7 for the three forms of a date.
func TestRetryAfter(t *testing.T) {
	for _, c := range []struct {
		name, value, date string
		want              time.Duration
	}{
		{"no header", "", "", 0},
		{"seconds", "120", "", 2 * time.Minute},
		{"no seconds", "0", "", 0},
		{"seconds with spaces around them", " 5 ", "", 5 * time.Second},
		{"more seconds than a duration has", "9223372037", "", math.MaxInt64},
		{"more seconds than a number has", "99999999999999999999", "", math.MaxInt64},
		{"negative seconds are not valid", "-5", "", 0},
		{"a fraction of a second is not valid", "1.5", "", 0},
		{"a sign is not valid", "+5", "", 0},
		{"words", "soon", "", 0},
		{"a date", "Tue, 28 Jun 2016 12:00:30 GMT", "", 30 * time.Second},
		{"a date of RFC 850", "Tuesday, 28-Jun-16 12:00:30 GMT", "", 30 * time.Second},
		{"a date of C's asctime", "Tue Jun 28 12:00:30 2016", "", 30 * time.Second},
		{"a date that has passed", "Tue, 28 Jun 2016 11:00:00 GMT", "", 0},
		{"a date by the server's clock", "Tue, 28 Jun 2016 10:00:30 GMT", "Tue, 28 Jun 2016 10:00:00 GMT", 30 * time.Second},
		{"a date that is not one for the server's clock", "Tue, 28 Jun 2016 12:00:30 GMT", "today", 30 * time.Second},
		{"a date far away", "Tue, 28 Jun 9999 12:00:30 GMT", "", math.MaxInt64},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := http.Header{}
			for name, value := range map[string]string{"Retry-After": c.value, "Date": c.date} {
				if value != "" {
					h.Set(name, value)
				}
			}
			if got := retryhttp.RetryAfter(h, now); got != c.want {
				t.Errorf("%v, want %v", got, c.want)
			}
		})
	}
}

func FuzzRetryAfter(f *testing.F) {
	for _, value := range []string{"", "120", "99999999999999999999", "Tue, 28 Jun 2016 12:00:30 GMT", "Tuesday, 28-Jun-16 12:00:30 GMT", "-1", "٣"} {
		f.Add(value, "")
		f.Add(value, "Tue, 28 Jun 2016 10:00:00 GMT")
	}
	f.Fuzz(func(t *testing.T, value, date string) {
		if got := retryhttp.RetryAfter(http.Header{"Retry-After": {value}, "Date": {date}}, now); got < 0 {
			t.Errorf("%v", got)
		}
	})
}
