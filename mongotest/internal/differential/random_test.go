package differential

import (
	"flag"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
)

var (
	commands = flag.Int("commands", 5_000, "how many random commands are compared; the figures are over 100,000")
	seed     = flag.Uint64("seed", 1, "what the random commands are made from")
	only     = flag.String("kind", "", "make only sequences of this symbol of the grammar")
	// testdata/grammar-wide makes commands some of which are still answered otherwise: it is there to find what to mend next.
	grammarFolder = flag.String("grammar", "testdata/grammar", "the folder of the grammar that random commands are made by")
	noShrink      = flag.Bool("noshrink", false, "do not look for a shorter case of a difference")
)

const (
	workers     = 4
	perSequence = 60
	// atLeast is how often each operator must be in 100,000 commands.
	atLeast = 200
	// shown is how many differences are made shorter and shown, of one kind and in all.
	shownOfAKind, shownInAll = 3, 40
)

// campaign is one run of random commands.
type campaign struct {
	t       *testing.T
	grammar grammar
	coverage

	next, asked, fine  atomic.Int64
	differing, passing atomic.Int64 // differences, and those that did not show again
	ended              atomic.Int64 // sequences during which the real server ended, each time that they were asked
	kindsMu            sync.Mutex
	kinds              map[string]int
}

func TestRandomCommands(t *testing.T) {
	c := newCampaign(t)
	c.compare(*commands, newPair)
	c.report()
}

func newCampaign(t *testing.T) *campaign {
	t.Helper()
	return &campaign{t: t, grammar: readGrammar(t), coverage: coverage{counts: make(map[string]int)}, kinds: make(map[string]int)}
}

// compare asks pairs of servers at least n random commands.
func (c *campaign) compare(n int, pairOf func(testing.TB, string) *pair) {
	var wg sync.WaitGroup
	for w := range workers {
		p := pairOf(c.t, fmt.Sprint(w))
		wg.Go(func() {
			for stream := c.next.Add(1); stream <= 1+int64(n)/perSequence; stream = c.next.Add(1) {
				if err := c.sequence(p, uint64(stream)); err != nil {
					c.t.Logf("not compared, since the real server ended: %v", err)
					c.ended.Add(1)
				}
			}
		})
	}
	wg.Wait()
}

// report prints the figures and checks the requirements on the commands themselves.
func (c *campaign) report() {
	asked, fine := c.asked.Load(), c.fine.Load()
	for _, problem := range c.problems() {
		c.t.Error(problem)
	}
	rarest := c.rarest(supported(c.t, c.grammar))
	name, least := rarest[0], c.counts[rarest[0]]
	fmt.Printf("figure differential-commands %d\n", asked)
	fmt.Printf("figure differential-succeeded-percent %.1f\n", 100*float64(fine)/float64(asked))
	fmt.Printf("figure differential-rarest-operator %d\n", least)
	fmt.Printf("figure differential-unexplained %d\n", c.differing.Load())
	for _, name := range rarest[:20] {
		c.t.Logf("seldom: %s, %d times", name, c.counts[name])
	}
	c.t.Logf("%d differences did not show again", c.passing.Load())
	if asked >= 100_000 && least < atLeast { // fewer commands may leave out a rare operator
		c.t.Errorf("%s is in only %d of %d commands", name, least, asked)
	}
}

// problems are why the run fails, but for the operators that it has too seldom: no difference is permitted.
func (c *campaign) problems() []string {
	var list []string
	asked, fine := c.asked.Load(), c.fine.Load()
	if differing := c.differing.Load(); differing > 0 {
		list = append(list, fmt.Sprintf("%d commands are answered otherwise by the real server", differing))
	}
	if passing := c.passing.Load(); passing*20_000 > max(asked, 100_000) {
		list = append(list, fmt.Sprintf("%d differences did not show again", passing))
	}
	if ended := c.ended.Load(); ended*50*perSequence > max(asked, 100_000) {
		list = append(list, fmt.Sprintf("the real server ended during %d sequences", ended))
	}
	if fine*2 < asked {
		list = append(list, fmt.Sprintf("only %d of %d commands succeeded", fine, asked))
	}
	return list
}

// TestOneDifferenceFailsARandomRun checks that nothing but the grammar keeps a difference out.
func TestOneDifferenceFailsARandomRun(t *testing.T) {
	for _, c := range []struct {
		rule                                   string
		asked, fine, differing, passing, ended int64
		problems                               int
	}{
		{"no difference", 100_000, 80_000, 0, 0, 0, 0},
		{"one difference in 100,000 commands", 100_000, 80_000, 1, 0, 0, 1},
		{"differences that did not show again, one in 20,000 commands", 100_000, 80_000, 0, 5, 0, 0},
		{"more of them", 100_000, 80_000, 0, 6, 0, 1},
		{"the real server ended during one sequence in fifty", 100_000, 80_000, 0, 0, 33, 0},
		{"more often", 100_000, 80_000, 0, 0, 34, 1},
		{"most commands are refused", 100_000, 49_999, 0, 0, 0, 1},
	} {
		var run campaign
		run.asked.Store(c.asked)
		run.fine.Store(c.fine)
		run.differing.Store(c.differing)
		run.passing.Store(c.passing)
		run.ended.Store(c.ended)
		if got := run.problems(); len(got) != c.problems {
			t.Errorf("%s: the problems are %q, want %d", c.rule, got, c.problems)
		}
	}
}

// sequence asks one random sequence of commands, and again where the real server goes away: it is being started anew.
func (c *campaign) sequence(p *pair, stream uint64) error {
	s := newSource(c.grammar, *seed, stream)
	list := s.sequence(kindOf(stream))
	var err error
	for range 4 {
		if err = c.run(p, list); err == nil {
			return nil
		}
	}
	return err
}

func (c *campaign) run(p *pair, list []statement) error {
	if err := p.clear(); err != nil {
		return err
	}
	var history []bson.D
	for _, s := range list {
		command, err := parseCommand(s.text, p.db)
		if err != nil {
			return err
		}
		command = withoutRepeats(command).(bson.D)
		a, err := p.ask(command)
		if err != nil {
			return err
		}
		history = append(history, command)
		c.add(s)
		c.asked.Add(1)
		if a.succeeded {
			c.fine.Add(1)
		}
		if a.same() || a.sameButForAlias() {
			continue
		}
		if !p.differsAgain(history) {
			c.passing.Add(1)
			return nil
		}
		c.differing.Add(1)
		c.show(p, history, &a)
		return nil
	}
	return nil
}

// asAlias gives an error of $replaceRoot the words of one of $replaceWith.
var asAlias = strings.NewReplacer("'newRoot' expression", "'replacement document'")

// sameButForAlias reports whether the replies are the same but for the name that an error gives to $replaceWith. The real server calls it
// $replaceRoot where it has optimised the pipeline.
func (a *answer) sameButForAlias() bool {
	return asAlias.Replace(a.ours.text) == asAlias.Replace(a.theirs.text)
}

// differsAgain reports whether the last command of several is answered otherwise also when they are asked again, twice if need be.
// A difference that does not come again depends on the time that something took.
func (p *pair) differsAgain(history []bson.D) bool {
	for range 2 {
		a, n, err := p.replay(history)
		if err == nil && n == len(history) && !a.same() {
			return true
		}
	}
	return false
}

// show reports a difference, as short as it can be made, unless enough of its kind have been.
func (c *campaign) show(p *pair, history []bson.D, a *answer) {
	kind := a.kind()
	c.kindsMu.Lock()
	c.kinds[kind]++
	enough := c.kinds[kind] > shownOfAKind || len(c.kinds) > shownInAll
	c.kindsMu.Unlock()
	if enough {
		return
	}
	if !*noShrink {
		history = shrink(history, 60, func(h []bson.D) bool {
			b, n, err := p.replay(h)
			return err == nil && n == len(h) && !b.same() && b.kind() == kind
		})
		if b, n, err := p.replay(history); err == nil && n == len(history) {
			a = &b
		}
	}
	var b strings.Builder
	for _, command := range history {
		b.WriteString(p.show(command) + "\n")
	}
	got, want := apart(a.ours.text, a.theirs.text)
	c.t.Logf("%s\n%sgot  %s\nwant %s", kind, b.String(), got, want)
}

// apart cuts off what two texts begin with in common, but for the last of it.
func apart(a, b string) (string, string) {
	i := 0
	for i < min(len(a), len(b)) && a[i] == b[i] {
		i++
	}
	i = max(0, i-60)
	return a[i:], b[i:]
}

// sequenceKinds are the symbols of which whole sequences are made, and how many in twenty; one in a hundred is of what describes
// collections, three are of searches, and two each of references and of time series.
var sequenceKinds = []struct {
	symbol string
	share  uint64
}{{"command", 12}, {"indexed", 3}, {"optional", 1}, {"viewed", 1}, {"collated", 1}, {"defaulted", 1}, {"collections", 1}}

// kindOf returns of what the sequence with a number is made.
func kindOf(stream uint64) string {
	if *only != "" {
		return *only
	}
	if stream%100 == 99 {
		return "described"
	}
	if stream%50 == 12 {
		return "referenced"
	}
	if stream%50 == 37 {
		return "timed"
	}
	if stream%25 == 24 {
		return "searched"
	}
	n := stream % 20
	for _, k := range sequenceKinds {
		if n < k.share {
			return k.symbol
		}
		n -= k.share
	}
	panic("the shares are not twenty in all")
}

// sequence returns commands that begin with an empty database.
func (s *source) sequence(symbol string) []statement {
	list := []statement{s.insertion("c", 8), s.insertion("d", 4)}
	for len(list) < perSequence {
		one := s.statement(symbol, 5+s.IntN(5))
		list = append(list, one)
		if strings.HasPrefix(one.text, `{"find"`) && strings.Contains(one.text, `"batchSize"`) {
			list = append(list, s.statement("cursor", 4))
		}
	}
	return list
}

// insertion returns an insert of n documents.
func (s *source) insertion(collection string, n int) statement {
	docs := make([]string, n)
	for i := range docs {
		docs[i] = fmt.Sprintf(`{"_id": %d, %s}`, i, s.statement("fields", 6).text)
	}
	return statement{text: fmt.Sprintf(`{"insert": %q, "documents": [%s]}`, collection, strings.Join(docs, ", "))}
}

var (
	vague      = regexp.MustCompile(`[0-9]+|"[a-zA-Z]"|\[.*\]|\{.*\}`)
	firstStage = regexp.MustCompile(`"\$(setWindowFields|densify|fill|graphLookup|lookup|bucket\w*|facet|redact|group|project|set|addFields|unset|replace\w*)"`)
)

// kind tells differences of one cause from others, as far as commands and replies do.
func (a *answer) kind() string {
	k := errorKind(a.ours.text) + " | " + errorKind(a.theirs.text)
	if k == "ok | ok" {
		b, _ := bson.MarshalExtJSON(a.command, false, false)
		k += " " + a.command[0].Key + firstStage.FindString(string(b))
	}
	return k
}

func errorKind(reply string) string {
	_, text, failed := strings.Cut(reply, `"errmsg": `)
	if !failed {
		return "ok"
	}
	text = vague.ReplaceAllString(text, "")
	if i := strings.LastIndex(text, ":: caused by ::"); i >= 0 {
		text = text[i:]
	}
	return text
}
