package couchbase

import (
	"bytes"
	"errors"
	"log"
	"strings"
	"testing"
	"time"
)

func TestStdioLoggersPrintTheirLevels(t *testing.T) {
	for _, c := range []struct {
		name   string
		logger Logger
		prints map[LogLevel]bool
	}{
		{"default", DefaultStdioLogger(), map[LogLevel]bool{LogError: true, LogInfo: true, LogDebug: true, LogTrace: false, LogSched: false}},
		{"verbose", VerboseStdioLogger(), map[LogLevel]bool{LogError: true, LogDebug: true, LogTrace: true, LogSched: true}},
	} {
		for level, prints := range c.prints {
			var out bytes.Buffer
			c.logger.(*stdioLogger).logger = log.New(&out, "", log.Lshortfile)
			if err := c.logger.Log(level, 0, "line %d", 7); err != nil {
				t.Error(err)
			}
			if got := strings.Contains(out.String(), "logger_test.go") && strings.HasSuffix(out.String(), "line 7\n"); got != prints {
				t.Errorf("%s, level %d: %q", c.name, level, out.String())
			}
		}
	}
}

func TestRedaction(t *testing.T) {
	defer SetLogRedactionLevel(RedactNone)
	for level, want := range map[LogRedactLevel]string{
		RedactNone: "id node", RedactPartial: "<ud>id</ud> node", RedactFull: "<ud>id</ud> <md>node</md>",
	} {
		SetLogRedactionLevel(level)
		if got := userData(errors.New("id")) + " " + metaData("node"); got != want {
			t.Errorf("level %d: %s", level, got)
		}
	}
}

func TestBucketsOfDurations(t *testing.T) {
	for _, v := range []uint64{0, 1, 3, 4, 7, 8, 100, 1000, 12345, 1 << 40, 1<<64 - 1} {
		b := bucketOf(v)
		if limit := limitOf(b); b >= bucketCount || limit < v || float64(limit) > float64(v)*1.34+1 {
			t.Errorf("%d is in bucket %d, which ends at %d", v, b, limit)
		}
		if b > 0 && limitOf(b-1) >= v {
			t.Errorf("%d belongs to the bucket before %d", v, b)
		}
	}
}

func TestNewAggregatingMeterIsALoggingMeter(t *testing.T) {
	if m := NewAggregatingMeter(&AggregatingMeterOptions{EmitInterval: time.Minute}); m.interval != time.Minute {
		t.Errorf("%v", m.interval)
	}
	if m := NewAggregatingMeter(nil); m.interval != 10*time.Minute {
		t.Errorf("%v", m.interval)
	}
}
