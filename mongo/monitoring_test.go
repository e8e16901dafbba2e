package mongo_test

import (
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/mongotest"
)

// Server Monitoring, "serverMonitoringMode".
func TestTheServerMonitoringMode(t *testing.T) {
	for _, c := range []struct {
		name    string
		uri     string
		option  string
		env     string // name=value
		streams bool
	}{
		{name: "the default is auto, which streams", streams: true},
		{name: "auto streams", uri: "&serverMonitoringMode=auto", streams: true},
		{name: "stream streams", uri: "&serverMonitoringMode=stream", streams: true},
		{name: "poll does not", uri: "&serverMonitoringMode=poll"},
		{name: "the name of the option has any case", uri: "&SERVERMONITORINGMODE=poll"},
		{name: "an option follows a semicolon too", uri: ";serverMonitoringMode=poll"},
		{name: "the setter takes precedence over the connection string", uri: "&serverMonitoringMode=stream", option: "poll"},
		{name: "the setter can stream", uri: "&serverMonitoringMode=poll", option: "stream", streams: true},
		{name: "auto polls in AWS Lambda", env: "AWS_EXECUTION_ENV=AWS_Lambda_go1.x"},
		{name: "auto streams in another AWS environment", env: "AWS_EXECUTION_ENV=EC2", streams: true},
		{name: "auto polls where the Lambda runtime API is", env: "AWS_LAMBDA_RUNTIME_API=127.0.0.1:9001"},
		{name: "auto polls in Azure Functions", env: "FUNCTIONS_WORKER_RUNTIME=custom"},
		{name: "auto polls in Google Cloud Run", env: "K_SERVICE=service"},
		{name: "auto polls in Google Cloud Functions", env: "FUNCTION_NAME=function"},
		{name: "auto polls in Vercel", env: "VERCEL=1"},
		{name: "stream streams in AWS Lambda", uri: "&serverMonitoringMode=stream", env: "AWS_EXECUTION_ENV=AWS_Lambda_go1.x", streams: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			if name, value, ok := strings.Cut(c.env, "="); ok {
				t.Setenv(name, value)
			}
			in(t, func(o *options.ClientOptions) {
				o.ApplyURI(o.GetURI() + c.uri)
				if c.option != "" {
					o.SetServerMonitoringMode(c.option)
				}
			}, func(w *world) {
				w.must(w.client.Ping(w.ctx, nil))
				w.pass(25 * time.Second)
				awaited := 0
				for _, m := range w.set.Transcript() {
					if !m.Reply && m.Body.Lookup("maxAwaitTimeMS").Type == bson.TypeInt64 {
						awaited++
					}
				}
				if (awaited > 0) != c.streams {
					t.Errorf("%d hellos were awaitable", awaited)
				}
			}, mongotest.TranscriptLimit(1000))
		})
	}
}

// connectTimeoutMS=0 means no time limit, for the hellos of a stream too.
func TestAStreamWithoutConnectTimeoutHasNoTimeLimit(t *testing.T) {
	in(t, func(o *options.ClientOptions) { o.SetConnectTimeout(0) }, func(w *world) {
		w.seed()
		w.pass(time.Hour)
		w.must(findOne(w))
		if n := w.poolEvents("ConnectionPoolCleared"); n != 0 {
			t.Errorf("the pool was cleared %d times", n)
		}
	})
}
