package main

import (
	"fmt"

	"github.com/holdfast-db/holdfast/internal/cli/rules"
)

// toldError is the JSON form of the text of an error. It is stable: fields may be added.
type toldError struct {
	rules.Told
	Attempts        []toldAttempt `json:"attempts"`
	StopReason      string        `json:"stop_reason"`
	StopReasonWords string        `json:"stop_reason_words"`
}

type toldAttempt struct {
	rules.Attempt
	Stage       string `json:"stage"`
	StageWords  string `json:"stage_words"`
	ReasonWords string `json:"reason_words"`
}

// told prints the attempts of an error's text.
func (p *printer) told(t rules.Told) error {
	told := toldError{Told: t, Attempts: []toldAttempt{}, StopReason: t.StopReason.String(), StopReasonWords: rules.StopReasonWords(t.StopReason)}
	for _, a := range t.Attempts {
		told.Attempts = append(told.Attempts, toldAttempt{a, a.Stage.String(), rules.StageWords(a.Stage), rules.ReasonWords(a.Reason)})
	}
	if p.json {
		return p.asJSON(told)
	}
	for i, a := range told.Attempts {
		if i > 0 && a.Number > told.Attempts[i-1].Number+1 {
			if _, err := fmt.Fprintf(p.w, "Then %s.\n", t.Omitted); err != nil {
				return err
			}
		}
		if err := p.attempt(a); err != nil {
			return err
		}
	}
	end := fmt.Sprintf("No more of %d", t.Total)
	if t.Total == 0 {
		end = "No attempt was made"
	}
	if _, err := fmt.Fprintf(p.w, "%s: %s\n", end, told.StopReason); err != nil {
		return err
	}
	if t.Strategy != "" {
		told.StopReasonWords += " Its error: " + t.Strategy
	}
	return p.indented(told.StopReasonWords)
}

func (p *printer) attempt(a toldAttempt) error {
	at := ""
	if a.Endpoint != "" {
		at = " at " + a.Endpoint
	}
	_, err := fmt.Fprintf(p.w, "Attempt %d%s: %s\n", a.Number, at, a.Text)
	for _, text := range []string{a.StageWords, a.Reason + ": " + a.ReasonWords} {
		if err == nil {
			err = p.indented(text)
		}
	}
	return err
}

// toldCouchbaseError is the JSON form of the text of a Couchbase error. It is stable: fields may be added.
type toldCouchbaseError struct {
	rules.ToldCouchbase
	Reasons []toldReason `json:"reasons"`
}

type toldReason struct {
	Reason string `json:"reason"`
	Words  string `json:"reason_words"`
}

// toldCouchbase prints the message, the outcome and the reasons of a Couchbase error's text.
func (p *printer) toldCouchbase(t *rules.ToldCouchbase) error {
	told := toldCouchbaseError{*t, []toldReason{}}
	for _, r := range t.Reasons {
		told.Reasons = append(told.Reasons, toldReason{r, rules.ReasonWords(r)})
	}
	if p.json {
		return p.asJSON(told)
	}
	at := ""
	if t.LastNode != "" {
		at = ", the last attempt at " + t.LastNode
	}
	_, err := fmt.Fprintf(p.w, "%s\nRetries: %d%s\n", t.Message, t.Retries, at)
	for _, r := range told.Reasons {
		if err == nil {
			err = p.indented(r.Reason + ": " + r.Words)
		}
	}
	if err == nil && t.Outcome != "" {
		_, err = fmt.Fprintln(p.w, t.Outcome)
	}
	return err
}
