package explorereport

import (
	"github.com/holdfast-db/holdfast/internal/explore"
)

// document is the report in JSON. Fields may be added; none is removed or changes its meaning. Names of messages, failures and cases are
// those of the flag --only.
type document struct {
	Program  string            `json:"program"`
	Failing  bool              `json:"failing"` // something is broken, or nothing could be explored: the exit code is not 0
	Summary  string            `json:"summary"` // one line for people
	Seed     int64             `json:"seed"`
	Only     string            `json:"only,omitempty"` // the one case that was asked for
	Messages []documentMessage `json:"messages"`       // of the run without failures, in the order of arrival
	Failures []documentFailure `json:"failures"`
	First    documentRun       `json:"first"` // the run without failures
	Runs     []documentRun     `json:"runs"`  // those with failures that ended, the cases with one failure first
	Left     int               `json:"left"`  // how many runs did not come about, because the exploration ended before
}

type documentMessage struct {
	Name        string `json:"name"`
	Command     string `json:"command"`
	Target      string `json:"target"` // such as a database with a collection; may be ""
	Ordinal     int    `json:"ordinal"`
	Write       bool   `json:"write"`
	Session     bool   `json:"session"`
	Transaction bool   `json:"transaction"`
	Cursor      bool   `json:"cursor"`
}

type documentFailure struct {
	Name  string `json:"name"`
	Title string `json:"title"`
}

type documentRun struct {
	Case    string  `json:"case"` // "" for the run without failures
	Words   string  `json:"words,omitempty"`
	Verdict string  `json:"verdict"` // held, broken, not reached, hung, leaked; "" if the run did not come to its end
	Seconds float64 `json:"seconds"`
	// The others are there for a run that shows a mistake: one that is broken, hung or leaked. The first of those have all of them; of the
	// many that may follow only the problems are kept.
	Problems   []string        `json:"problems,omitempty"`
	Log        []string        `json:"log,omitempty"`
	Events     []documentEvent `json:"events,omitempty"`
	Goroutines string          `json:"goroutines,omitempty"`
	Repeat     string          `json:"repeat,omitempty"` // the command line that repeats it alone
}

type documentEvent struct {
	Seconds float64 `json:"seconds"`           // since the begin of the run
	Who     string  `json:"who"`               // program, cluster, or a server
	Message string  `json:"message,omitempty"` // its name; "" if the event is no message
	Words   string  `json:"words"`
	Struck  bool    `json:"struck"`  // the failure happened here
	Changed bool    `json:"changed"` // the server changed data
	Lost    bool    `json:"lost"`    // the request or the reply was lost
}

func (r *Report) document() document {
	d := document{
		Program: r.Program, Failing: r.Failing(), Summary: r.Summary(), Seed: r.Seed, Only: r.Only.String(), Left: r.Left,
		Messages: []documentMessage{}, Failures: []documentFailure{}, First: r.run(&r.First), Runs: []documentRun{},
	}
	for _, m := range r.First.Messages {
		d.Messages = append(d.Messages, documentMessage{
			Name: m.String(), Command: m.Command, Target: m.Target, Ordinal: m.Ordinal,
			Write: m.Write, Session: m.Session, Transaction: m.Transaction, Cursor: m.Cursor,
		})
	}
	for _, f := range r.Failures {
		d.Failures = append(d.Failures, documentFailure{f.Name, f.Title})
	}
	for i := range r.Outcomes {
		d.Runs = append(d.Runs, r.run(&r.Outcomes[i]))
	}
	return d
}

func (r *Report) run(o *explore.Outcome) documentRun {
	d := documentRun{
		Case: o.Case.String(), Words: r.Words(o.Case), Verdict: string(o.Verdict), Seconds: o.Took.Seconds(),
	}
	if !o.Verdict.Failing() {
		return d
	}
	d.Problems, d.Log, d.Goroutines = o.Problems, o.Log, o.Dump
	if o.Case != nil {
		d.Repeat = r.Repeat(o.Case)
	}
	for _, e := range o.Events {
		one := documentEvent{Seconds: e.At.Seconds(), Who: e.Who, Words: e.Words, Struck: e.Struck, Changed: e.Changed, Lost: e.Lost}
		if e.Message != nil {
			one.Message = e.Message.String()
		}
		d.Events = append(d.Events, one)
	}
	return d
}
