package mutant_test

import (
	"testing"

	"github.com/holdfast-db/holdfast/internal/base/mutant"
)

func TestTheHooksReturnWhatWasRegistered(t *testing.T) {
	mutant.RegisterServer(func(m mutant.Server) string {
		if m.NoDeduplication {
			return "no deduplication"
		}
		return "none"
	})
	mutant.RegisterClient(func(m mutant.Client) func() bool { return func() bool { return m.NewTxnNumberOnRetry } })
	if got := mutant.ServerOption[string](mutant.Server{NoDeduplication: true}); got != "no deduplication" {
		t.Errorf("the server's option is %q", got)
	}
	if !mutant.ClientConnect[func() bool](mutant.Client{NewTxnNumberOnRetry: true})() {
		t.Error("the client has no defect")
	}
	defer func() {
		if recover() == nil {
			t.Error("an option of another type is returned")
		}
	}()
	mutant.ServerOption[int](mutant.Server{})
}
