package couchbasetest

import (
	"os"

	"github.com/couchbase/gocb/v2"
)

func init() {
	if os.Getenv("GOCB_LOG") != "" {
		gocb.SetLogger(gocb.VerboseStdioLogger())
	}
}
