package explorereport

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/holdfast-db/holdfast/internal/explore"
)

// The elements of JUnit XML, as its many readers understand them.
type (
	junitSuites struct {
		XMLName xml.Name   `xml:"testsuites"`
		Suite   junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name     string      `xml:"name,attr"`
		Tests    int         `xml:"tests,attr"`
		Failures int         `xml:"failures,attr"`
		Errors   int         `xml:"errors,attr"`
		Skipped  int         `xml:"skipped,attr"`
		Time     string      `xml:"time,attr"` // in seconds
		Cases    []junitCase `xml:"testcase"`
	}
	junitCase struct {
		Class   string      `xml:"classname,attr"`
		Name    string      `xml:"name,attr"`
		Time    string      `xml:"time,attr"`
		Failure *junitCause `xml:"failure"`
		Error   *junitCause `xml:"error"`
		Skipped *junitCause `xml:"skipped"`
	}
	junitCause struct {
		Message string `xml:"message,attr"`
		Type    string `xml:"type,attr,omitempty"`
		Text    string `xml:",cdata"`
	}
)

// WriteJUnit writes the report as JUnit XML: a test for each case, with its first message as the class. A case that was not reached is
// skipped. If runs did not come about, that is one more test, with an error.
func (r *Report) WriteJUnit(w io.Writer) error {
	s := junitSuite{Name: "holdfast explore: " + r.Program}
	var took time.Duration
	if r.First.Verdict != "" {
		s.add(r.junitCase(&r.First))
		took += r.First.Took
	}
	for i := range r.Outcomes {
		s.add(r.junitCase(&r.Outcomes[i]))
		took += r.Outcomes[i].Took
	}
	if r.Left > 0 {
		cause := &junitCause{Message: fmt.Sprintf("the exploration ended before %d runs", r.Left)}
		s.add(junitCase{Class: "exploration", Name: "all runs", Time: junitTime(0), Error: cause})
	}
	s.Time = junitTime(took)
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return written(err)
	}
	e := xml.NewEncoder(w)
	e.Indent("", "  ")
	if err := e.Encode(junitSuites{Suite: s}); err != nil {
		return written(err)
	}
	_, err := io.WriteString(w, "\n")
	return written(err)
}

func junitTime(d time.Duration) string { return fmt.Sprintf("%.3f", d.Seconds()) }

func (s *junitSuite) add(c junitCase) {
	s.Tests++
	switch {
	case c.Failure != nil:
		s.Failures++
	case c.Error != nil:
		s.Errors++
	case c.Skipped != nil:
		s.Skipped++
	}
	s.Cases = append(s.Cases, c)
}

func (r *Report) junitCase(o *explore.Outcome) junitCase {
	c := junitCase{Class: "exploration", Name: "without failures", Time: junitTime(o.Took)}
	repeat := ""
	if len(o.Case) > 0 {
		c.Class, c.Name = o.Case[0].Message.String(), o.Case[0].Failure
		repeat = "repeat it alone:\n    " + r.Repeat(o.Case) + "\n"
	}
	if len(o.Case) > 1 {
		c.Name += "+" + o.Case[1:].String()
	}
	switch {
	case o.Verdict.Failing():
		c.Failure = &junitCause{Message: o.Short(), Type: string(o.Verdict), Text: valid(r.Words(o.Case) + "\n" + o.Text() + repeat)}
	case o.Verdict == explore.NotReached:
		c.Skipped = &junitCause{Message: "the run never sent a message of the case, so it says nothing about the case"}
	}
	return c
}

// valid replaces what XML does not allow, such as the bytes with which a program chooses colours.
func valid(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\t' && r != '\n' || r == '\uFFFE' || r == '\uFFFF' {
			return '\uFFFD'
		}
		return r
	}, text)
}
