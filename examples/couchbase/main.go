// Command couchbase counts in Couchbase while a reply is lost. An increment that may have been applied is not sent again, and its
// error says so; a Get is:
//
//	go run ./examples/couchbase
package main

import (
	"errors"
	"fmt"
	"log"
	"time"

	gocb "github.com/holdfast-db/holdfast/couchbase"
	"github.com/holdfast-db/holdfast/couchbasetest"
	"github.com/holdfast-db/holdfast/retry"
)

func main() {
	if err := run(); err != nil {
		log.Fatal(err)
	}
}

func run() error {
	server, err := couchbasetest.Run() // in a real program: your cluster
	if err != nil {
		return err
	}
	defer server.Close()
	cluster, err := gocb.Connect(server.ConnectionString(), gocb.ClusterOptions{Username: server.Username(), Password: server.Password()})
	if err != nil {
		return err
	}
	defer cluster.Close(nil)
	bucket := cluster.Bucket("default")
	if err := bucket.WaitUntilReady(5*time.Second, nil); err != nil {
		return err
	}
	documents := bucket.DefaultCollection()
	counter := documents.Binary()
	first, err := counter.Increment("visits", &gocb.IncrementOptions{Initial: 1, Delta: 1})
	if err != nil {
		return err
	}
	fmt.Println("counted:", first.Content())

	server.Use(couchbasetest.AnyOpcode, couchbasetest.FaultOnce(couchbasetest.Fault{LoseReply: true}))
	_, err = counter.Increment("visits", &gocb.IncrementOptions{Delta: 1})
	var history *retry.Error
	if errors.As(err, &history) {
		fmt.Println("not known:", history.History())
	}

	server.Use(couchbasetest.AnyOpcode, couchbasetest.FaultOnce(couchbasetest.Fault{LoseReply: true}))
	result, err := documents.Get("visits", nil)
	if err != nil {
		return err
	}
	var n int
	if err := result.Content(&n); err != nil {
		return err
	}
	fmt.Println("read, at the second attempt:", n)
	return nil
}
