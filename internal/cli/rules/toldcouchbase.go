package rules

import (
	"encoding/json"
	"errors"
	"strings"
)

// ToldCouchbase is what the text of a Couchbase error tells. It has the reasons of the retries, and not each attempt.
type ToldCouchbase struct {
	Message  string   `json:"message"`
	Outcome  string   `json:"outcome,omitempty"` // of a timeout, in words
	Retries  int      `json:"retries"`
	Reasons  []string `json:"-"`
	LastNode string   `json:"last_node,omitempty"`
}

// couchbaseDetails are the fields after the vertical bar that tell of retries. Each error struct has some of these.
type couchbaseDetails struct {
	RetryReasons     []string `json:"retry_reasons"`
	RetryAttempts    *int     `json:"retry_attempts"`
	LastDispatchedTo string   `json:"last_dispatched_to"`
	Endpoint         string   `json:"endpoint"`
	OperationID      string   `json:"operation_id"`
	StatusCode       *int     `json:"status_code"`
}

var errNotToldCouchbase = errors.New(`the text has no details of a Couchbase error; it must have them as its errors print them: ` +
	`ambiguous timeout | {"operation_id":"get","retry_reasons":["KV_LOCKED"],"retry_attempts":2}`)

// ReadCouchbase reads the text of an error of the packages couchbase or gocb: a message, a vertical bar, and details in JSON.
func ReadCouchbase(text string) (ToldCouchbase, error) {
	text = strings.Join(strings.Fields(text), " ")
	message, details, found := strings.Cut(text, " | {")
	if !found {
		return ToldCouchbase{}, errNotToldCouchbase
	}
	if strings.HasPrefix(details, `\"`) { // the text is from a log in JSON
		details = strings.NewReplacer(`\\`, `\`, `\"`, `"`).Replace(details)
	}
	var d couchbaseDetails
	err := json.NewDecoder(strings.NewReader("{" + details)).Decode(&d) // what follows the object is not looked at
	if err != nil || d.RetryReasons == nil && d.RetryAttempts == nil && d.LastDispatchedTo == "" && d.Endpoint == "" && d.OperationID == "" && d.StatusCode == nil {
		return ToldCouchbase{}, errNotToldCouchbase
	}
	told := ToldCouchbase{Message: message, Outcome: outcomeOf(message), Reasons: d.RetryReasons, LastNode: d.LastDispatchedTo}
	if d.RetryAttempts != nil {
		told.Retries = *d.RetryAttempts
	}
	if told.LastNode == "" {
		told.LastNode = d.Endpoint
	}
	return told, nil
}

// outcomeOf says in words which of the two timeouts a message names, "" if none.
func outcomeOf(message string) string {
	switch {
	case strings.Contains(message, "unambiguous timeout"):
		return "The time ran out, and nothing was changed."
	case strings.Contains(message, "ambiguous timeout"):
		return "The time ran out, and the operation may have been applied."
	}
	return ""
}
