package rules

import (
	"errors"
	"regexp"
	"strconv"
	"strings"

	"github.com/holdfast-db/holdfast/retry"
	"github.com/holdfast-db/holdfast/retry/couchbasereason"
	"github.com/holdfast-db/holdfast/retry/mongoreason"
)

// Told is what the text of an error tells: the attempts, and why there was no further one.
type Told struct {
	Total      int              `json:"total"`    // 0 if there was no attempt
	Attempts   []Attempt        `json:"attempts"` // those that the text has
	Omitted    string           `json:"omitted,omitempty"`
	StopReason retry.StopReason `json:"-"`
	Strategy   string           `json:"strategy,omitempty"` // the error of the strategy that ended the operation
}

// Attempt is one attempt of a text.
type Attempt struct {
	Number   int         `json:"number"`
	Endpoint string      `json:"endpoint,omitempty"`
	Stage    retry.Stage `json:"-"`
	Reason   string      `json:"reason"`
	Text     string      `json:"error"`
}

var (
	toldTotal   = regexp.MustCompile(`(\d+) attempts?: \[1(?: at |, )`)
	toldAttempt = regexp.MustCompile(`^ \[(\d+)(?: at ([^, ]*))?, (before sending|in flight|answered), ([A-Z_]+): `)
	toldOmitted = regexp.MustCompile(`^ \.\.\. (\d+ more attempts: .*?) \.\.\. ?`)
)

const toldNone = "no attempt: "

var errNotTold = errors.New("the text has no attempts; it must have what retry.Error prints: " +
	"2 attempts: [1 at host:27017, answered, NOT_WRITABLE_PRIMARY: ...] [2 ...] no more: attempts used up")

// Read reads the text of an error that has the history of its attempts, see retry.Error.History.
func Read(text string) (Told, error) {
	var t Told
	text = strings.Join(strings.Fields(text), " ") // a terminal or a mail may have broken the lines
	at := toldTotal.FindStringSubmatchIndex(text)
	if at == nil {
		if _, why, none := strings.Cut(text, toldNone); none {
			return t, t.readStopReason(why)
		}
		return t, errNotTold
	}
	var err error
	if t.Total, err = strconv.Atoi(text[at[2]:at[3]]); err != nil {
		return t, errNotTold
	}
	rest := text[at[3]:]
	rest = " " + rest[strings.IndexByte(rest, '['):]
	for next := 1; ; next++ {
		if m := toldOmitted.FindStringSubmatch(rest); m != nil {
			t.Omitted, rest = m[1], " "+strings.TrimPrefix(rest[len(m[0]):], " ")
		}
		m := toldAttempt.FindStringSubmatch(rest)
		if m == nil {
			break
		}
		a := Attempt{Endpoint: m[2], Stage: stageNamed(m[3]), Reason: m[4]}
		if a.Number, err = strconv.Atoi(m[1]); err != nil {
			return t, errNotTold
		}
		a.Text, rest = cutAttempt(rest[len(m[0]):])
		t.Attempts = append(t.Attempts, a)
	}
	return t, t.readEnd(rest)
}

// cutAttempt cuts the error of an attempt from what follows it. The error may have brackets of its own.
func cutAttempt(text string) (attempt, rest string) {
	for from := 0; ; {
		i := strings.IndexByte(text[from:], ']')
		if i < 0 {
			return text, ""
		}
		end := from + i
		rest := text[end+1:]
		if strings.HasPrefix(rest, " no more: ") || toldAttempt.MatchString(rest) || toldOmitted.MatchString(rest) {
			return text[:end], rest
		}
		from = end + 1
	}
}

// readEnd reads why there was no further attempt.
func (t *Told) readEnd(rest string) error {
	rest, found := strings.CutPrefix(rest, " no more: ")
	if !found || len(t.Attempts) == 0 {
		return errNotTold
	}
	return t.readStopReason(rest)
}

func (t *Told) readStopReason(rest string) error {
	for stop := retry.StopNone; stop.String() != "unknown"; stop++ {
		if after, is := strings.CutPrefix(rest, stop.String()); is {
			t.StopReason = stop
			if of, has := strings.CutPrefix(after, ": "); has {
				t.Strategy = strings.TrimSuffix(of, ")")
			}
			return nil
		}
	}
	return errNotTold
}

func stageNamed(name string) retry.Stage {
	for _, s := range []retry.Stage{retry.StageInFlight, retry.StageBeforeSending, retry.StageAnswered} {
		if s.String() == name {
			return s
		}
	}
	return retry.StageInFlight
}

// StageWords says what a stage means.
func StageWords(s retry.Stage) string {
	switch s {
	case retry.StageBeforeSending:
		return "Nothing was sent."
	case retry.StageAnswered:
		return "The server answered."
	case retry.StageInFlight:
	}
	return "It was sent, and no complete answer came: it may have been applied."
}

// ReasonWords says what the reason of that name means, and how it is retried.
func ReasonWords(name string) string {
	for i := range reasonRules {
		if reasonRules[i].reason.String() == name && name != retry.ReasonServiceResponseCodeIndicated.String() {
			return reasonRules[i].sentence
		}
	}
	if words, ok := reasonWords[name]; ok {
		return words
	}
	return "This module has no such reason; perhaps the program made it with retry.NewReason."
}

var reasonWords = map[string]string{
	retry.ReasonUnknown.String():                      "The failure gives no reason for a retry.",
	retry.ReasonNetworkError.String():                 "The connection broke, or the answer came too late, after bytes were sent.",
	retry.ReasonConnectionFailed.String():             "No connection could be made, or its handshake or login failed.",
	retry.ReasonOverloaded.String():                   "The server, or the attempt to connect to it, showed that it is overloaded: " + mongoOverload.Sentence,
	retry.ReasonServiceResponseCodeIndicated.String(): "The server's answer, for example an HTTP status, means that nothing was done and that the cause is temporary.",
	retry.ReasonConflict.String():                     "Another operation was in the way, and nothing was done.",
	retry.ReasonRateLimited.String():                  "The server answered that this caller sends too much; nothing was done.",
	retry.ReasonUnavailable.String():                  "The server, or a proxy before it, is not available at the moment.",
	retry.ReasonAttemptTimeout.String():               "The attempt reached its own time limit.",
	mongoreason.PoolCleared.String():                  "The connection pool of the server was cleared between the selection of the server and the checkout.",
	mongoreason.NotWritablePrimary.String():           "The server is not, or no longer, the primary.",
	mongoreason.NodeRecovering.String():               "The server is shutting down, stepping down or recovering.",
	mongoreason.RetryableCode.String():                "The server answered with a code of the list for reads: " + mongoReadCode.Sentence,
	mongoreason.RetryableWriteLabel.String():          "The error has the label RetryableWriteError: " + mongoWriteLabel.Sentence,
	couchbasereason.BucketOpening.String():            "The bucket has no cluster map yet, because it is being opened or does not exist.",
	couchbasereason.NodeConnecting.String():           "A new cluster map has brought the node, and the first connection to it is being made.",
}

// StopReasonWords says why there is, or was, no further attempt.
func StopReasonWords(w retry.StopReason) string {
	switch w {
	case retry.NotStopped:
		return "There was another attempt."
	case retry.StopNotRetryable:
		return "Nothing in the failure, or in the kind of the operation, permits another attempt."
	case retry.StopNotIdempotent:
		return "Another attempt could apply the operation twice."
	case retry.StopStrategyDeclined:
		return "The strategy asked for no other attempt."
	case retry.StopAttemptsUsed:
		return "The limit of attempts was reached."
	case retry.StopDeadlineWouldPass:
		return "The deadline had passed, or would have passed before the next attempt."
	case retry.StopBudgetEmpty:
		return "The budget of retries had no token left."
	case retry.StopBreakerOpen:
		return "The circuit breaker of the server was open."
	case retry.StopNoServer:
		return "There was no suitable server."
	case retry.StopUnsupportedServer:
		return "The server's version or kind does not support a retry: " + mongoUnsupported.Sentence
	case retry.StopInTransaction:
		return mongoTransaction.Sentence
	case retry.StopDisabled:
		return "An option of the client forbids it: " + mongoDisabled.Sentence
	case retry.StopCancelled:
		return "The caller cancelled the context."
	case retry.StopNotBuilt:
		return "The message for the next server could not be built, for example because less time was left than a round trip takes."
	case retry.StopRetryAfterTooLong:
		return "The server asked not to be called for longer than the program permits."
	case retry.StopNotReplayable:
		return "A part of the message, for example a body that was read, cannot be sent a second time."
	case retry.StopNone:
	}
	return "No decision was made."
}
