package couchbasetest

import (
	"strings"
	"testing"
	"time"

	"github.com/couchbase/gocb/v2"
	"github.com/couchbase/gocbcore/v10"

	"github.com/holdfast-db/holdfast/couchbasetest"
)

func TestGocbLogsInByEachMechanism(t *testing.T) {
	for _, m := range []gocb.SaslMechanism{
		gocb.SaslMechanism(gocbcore.PlainAuthMechanism), gocb.SaslMechanism(gocbcore.ScramSha1AuthMechanism),
		gocb.SaslMechanism(gocbcore.ScramSha256AuthMechanism), gocb.SaslMechanism(gocbcore.ScramSha512AuthMechanism),
	} {
		t.Run(string(m), func(t *testing.T) {
			c := couchbasetest.RunT(t, couchbasetest.Credentials("üser", "p,ässword="))
			client, err := gocb.Connect(c.ConnectionString(), gocb.ClusterOptions{
				Username: c.Username(), Password: c.Password(), SecurityConfig: gocb.SecurityConfig{AllowedSaslMechanisms: []gocb.SaslMechanism{m}},
			})
			must(t, "Connect", err, nil)
			defer client.Close(nil)
			must(t, "WaitUntilReady", client.Bucket("default").WaitUntilReady(5*time.Second, nil), nil)
		})
	}
}

func TestGocbSendsAndReadsCompressedValues(t *testing.T) {
	c := couchbasetest.RunT(t)
	docs := connect(t, c).DefaultCollection()
	compressed := false
	c.Use(0x01, func(r *couchbasetest.Request, next couchbasetest.Handler) *couchbasetest.Reply {
		compressed = len(r.Value) < 1000
		return next(r)
	})
	want := strings.Repeat("abc", 1000)
	_, err := docs.Upsert("a", want, nil)
	must(t, "Upsert", err, nil)
	if !compressed {
		t.Error("gocb has not compressed the value")
	}
	if doc, _ := c.Document("default", "a"); string(doc.Value) != `"`+want+`"` {
		t.Errorf("the document has %d bytes", len(doc.Value))
	}
	found, err := docs.Get("a", nil)
	must(t, "Get", err, nil)
	var got string
	if err := found.Content(&got); err != nil || got != want {
		t.Errorf("found %d bytes, %v", len(got), err)
	}
}
