package prove

import (
	"testing"

	official "go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/holdfast-db/holdfast/retry"
	"github.com/holdfast-db/holdfast/retry/mongoreason"
)

// The engine is told how far the command came. The official type of a network error has a code too, which is 0.
func TestTheEngineIsToldHowFarACommandCame(t *testing.T) {
	for _, c := range []struct {
		name   string
		err    error
		claim  Claim
		stage  retry.Stage
		reason retry.Reason
	}{
		{"no answer", official.CommandError{Labels: []string{"NetworkError"}}, Unknown, retry.StageInFlight, retry.ReasonNetworkError},
		{"not sent", official.CommandError{Labels: []string{"NetworkError"}}, NotApplied, retry.StageBeforeSending, retry.ReasonConnectionFailed},
		{"not the primary", official.CommandError{Code: 10107}, NotApplied, retry.StageAnswered, mongoreason.NotWritablePrimary},
	} {
		f := failureOf(c.err, Trouble{Kind: KindOf(c.err), Claim: c.claim})
		if f.Stage != c.stage || f.Reason != c.reason {
			t.Errorf("%s: %v, %v", c.name, f.Stage, f.Reason)
		}
	}
}
