package report

import (
	"fmt"
	"strings"

	"github.com/holdfast-db/holdfast/internal/cli/prove"
)

// longestError is the number of characters of an error that a sentence has.
const longestError = 200

// sentence tells an event. It stands after the words "At 1.203 s".
func sentence(s *prove.Story, e *prove.StoryEvent) string {
	switch e.Kind {
	case prove.OperationBegan:
		return fmt.Sprintf("writer %d began operation %s on document %s.", s.Writer, s.Operation, s.Document)
	case prove.CallBegan:
		return fmt.Sprintf("the strategy called the client for the %s (call %d).", e.Step, e.Number)
	case prove.MessageArrived:
		return arrived(e)
	case prove.MessageExecuted:
		return executed(e)
	case prove.ClusterStruck:
		return struck(e)
	case prove.ClusterWritable:
		return phraseOf(e.Fault).writable + "."
	case prove.ClusterRepaired:
		return phraseOf(e.Fault).repaired + "."
	case prove.CallEnded:
		return callEnded(e)
	case prove.OperationEnded:
		return operationEnded(s, e)
	case prove.Swept:
		return "the sweep after the load found the first step of the operation. " + effect(e)
	case prove.EventsOmitted:
	}
	return fmt.Sprintf("more of the same began. This page leaves %d events out here.", e.Number)
}

func arrived(e *prove.StoryEvent) string {
	if delayed(e) {
		return fmt.Sprintf("the client sent message %d, the %s, to %s. The connection broke, and the network held the message back.", e.Number, e.Step, server(e))
	}
	return fmt.Sprintf("message %d, the %s, reached %s. %s", e.Number, e.Step, server(e), effect(e))
}

func executed(e *prove.StoryEvent) string {
	if delayed(e) {
		return fmt.Sprintf("the network delivered message %d, the %s, to %s. %s", e.Number, e.Step, server(e), effect(e))
	}
	return fmt.Sprintf("%s processed message %d, the %s, which had waited. %s", server(e), e.Number, e.Step, effect(e))
}

// delayed reports whether the network delivers the message late.
func delayed(e *prove.StoryEvent) bool { return e.Fault != nil && *e.Fault == prove.RequestDelayed }

func server(e *prove.StoryEvent) string {
	if e.Message.Server < 0 {
		return "the server"
	}
	return fmt.Sprintf("server %d", e.Message.Server)
}

func struck(e *prove.StoryEvent) string {
	strikes := phraseOf(e.Fault).strikes
	switch {
	case e.Number > 0:
		return fmt.Sprintf("%s (message %d: %s).", strikes, e.Number, e.When)
	case e.When != "":
		return fmt.Sprintf("%s (%s).", strikes, e.When)
	}
	return strikes + "."
}

// effect tells what a server did with a message, and what became of the reply.
func effect(e *prove.StoryEvent) string {
	m := &e.Message
	words := []string{effectWords(e)}
	executed := m.Effect != prove.Pending && m.Effect != prove.NotExecuted && m.Effect != prove.Declined
	switch {
	case executed && m.NoReply && e.Kind == prove.MessageArrived:
		words = append(words, "The connection broke before the reply. The client did not get it.")
	case executed && m.NoReply:
		words = append(words, "The client did not get the reply.")
	case executed && e.Error != "":
		words = append(words, fmt.Sprintf("Its reply was an error: %s.", e.Error))
	}
	if m.Lost {
		words = append(words, "Later the cluster lost this change.")
	}
	return strings.Join(words, " ")
}

func effectWords(e *prove.StoryEvent) string {
	switch e.Message.Effect {
	case prove.Pending:
		return "The server did not execute it yet."
	case prove.NotExecuted:
		return notExecuted(e)
	case prove.Declined:
		return fmt.Sprintf("The server refused it: %s.", e.Error)
	case prove.Repeated:
		return "The server had applied this operation before. It answered from its record, and did not apply it again."
	case prove.Unchanged:
		return "The server executed it, and found nothing to change."
	case prove.Changed:
		return "The server executed it. The document changed, but the operation is not applied by this step."
	case prove.Applies:
		return applies(e.Message.Times)
	case prove.EffectUnknown:
	}
	return "The server executed it. This server has no journal, so the page cannot tell the effect."
}

func notExecuted(e *prove.StoryEvent) string {
	if e.Fault != nil && *e.Fault == prove.RequestLost {
		return "The connection broke before the server executed it."
	}
	return "The server did not execute it."
}

func applies(times int) string {
	if times < 2 {
		return "The server applied the operation."
	}
	return fmt.Sprintf("The server applied the operation again. It has applied it %s now.", often(times))
}

func often(times int) string {
	switch times {
	case 0:
		return "never"
	case 1:
		return "once"
	case 2:
		return "twice"
	}
	return fmt.Sprintf("%d times", times)
}

func callEnded(e *prove.StoryEvent) string {
	if e.Error == "" {
		return fmt.Sprintf("the client returned success (call %d).", e.Number)
	}
	told := "The error leaves open whether the server applied the " + e.Step + "."
	if e.Claim == prove.NotApplied {
		told = "The error says that the server did not apply the " + e.Step + "."
	}
	return fmt.Sprintf("the client returned an error (call %d): “%s”. %s", e.Number, shortened(e.Error), told)
}

func operationEnded(s *prove.Story, e *prove.StoryEvent) string {
	switch {
	case e.Error == "":
		return fmt.Sprintf("the strategy reported success to writer %d. For the writer the outcome is settled: applied.", s.Writer)
	case e.Claim == prove.NotApplied:
		return fmt.Sprintf("the strategy reported an error to writer %d. For the writer the outcome is settled: not applied.", s.Writer)
	}
	return fmt.Sprintf("the strategy reported an error to writer %d. The writer does not know the outcome.", s.Writer)
}

// shortened returns an error without the details that gocb's texts have after their words, and not more than longestError of it.
func shortened(text string) string {
	text, _, _ = strings.Cut(text, " | {")
	runes := []rune(text)
	if len(runes) <= longestError {
		return text
	}
	return strings.TrimSpace(string(runes[:longestError])) + " …"
}

// flawWords tell a flaw: in a heading after the operation's name, and in a sentence of its own.
type flawWords struct{ heading, told string }

func wordsOf(f prove.Flaw, applied int) flawWords {
	switch f {
	case prove.FlawMissing:
		return flawWords{"is missing", "The count is too low."}
	case prove.FlawExtra:
		return flawWords{"was applied " + often(applied), "The count is too high."}
	case prove.FlawMisreported:
		return flawWords{"was misreported", "The report to the writer was wrong."}
	case prove.FlawWasteful:
		return flawWords{"was wasteful", "The strategy used more calls, messages or time than the rule allows."}
	case prove.FlawLost:
		return flawWords{"was lost", "The writer had not asked for durability, so this loss is a limit and no fault of the strategy."}
	case prove.FlawDurableLost:
		return flawWords{"was lost although it was durable", "The writer had asked for durability, so the server broke its promise."}
	case prove.FlawAmbiguous:
		return flawWords{"has an unknown outcome", "The error says so, which is honest. The application must read the document."}
	}
	return flawWords{"has the flaw “" + string(f) + "”", ""}
}

// fate tells what the document has in the end, and the judgement on that.
func fate(s *prove.Story) string {
	list := []string{fmt.Sprintf("At the end the document has the operation %s.", often(s.Applied))}
	if s.Applied == 0 {
		list[0] = "At the end the document does not have the operation."
	}
	if s.Lost > 0 {
		list = append(list, fmt.Sprintf("The cluster applied it and then lost that %s.", often(s.Lost)))
	}
	list = append(list, report(s))
	for _, f := range s.Flaws {
		list = append(list, wordsOf(f, s.Applied).told)
	}
	if len(s.Flaws) == 0 {
		list = append(list, "The count is right.")
	}
	return strings.Join(list, " ")
}

// report tells what the writer was told.
func report(s *prove.Story) string {
	switch {
	case !s.Failed:
		return "The writer was told that it was applied."
	case s.Claim == prove.NotApplied:
		return "The writer was told that it was not applied."
	}
	return "The writer was told of an error that leaves the outcome open."
}
