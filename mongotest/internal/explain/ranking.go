package explain

import "github.com/holdfast-db/holdfast/mongotest/internal/store"

// https://www.mongodb.com/docs/manual/core/query-plans/

// trial is a candidate that runs beside the others until one of them is found the best.
type trial struct {
	candidate *candidate
	stage     stage
	results   []*store.Record
	score     float64
	then      []byte // what it had done when the trial ended
}

const (
	enoughResults = 101   // end a trial
	enoughWork    = 10000 // of each candidate ends a trial
)

// chosen runs the winner of a trial on: it gives the results that the trial had first.
type chosen struct {
	stage
	results []*store.Record
}

func (s *chosen) eof() bool { return len(s.results) == 0 && s.stage.eof() }

func (s *chosen) step() (state, *store.Record) {
	if len(s.results) > 0 {
		r := s.results[0]
		s.results = s.results[1:]
		return advanced, r
	}
	return work(s.stage)
}

// counts of the choice itself are nobody's.
func (s *chosen) counts() *counters { return &counters{} }

// compete runs candidates side by side and puts the best first.
func (p *planner) compete(list []*candidate) []*trial {
	all := make([]*trial, len(list))
	for i, c := range list {
		all[i] = &trial{candidate: c, stage: p.stages(c)}
	}
	if len(all) == 1 {
		return all
	}
	p.run(all)
	best := 0
	for i, t := range all {
		t.score = t.rate()
		if t.score > all[best].score {
			best = i
		}
	}
	for i, t := range all {
		t.then = document(func(dst []byte) []byte { return p.appendOutcome(dst, t, i == best) })
	}
	all[0], all[best] = all[best], all[0]
	return all
}

func (p *planner) run(all []*trial) {
	enough := enoughResults
	if p.Limit > 0 && p.Limit < enoughResults {
		enough = int(p.Limit)
	}
	for range max(enoughWork, len(p.Records)*3/10) {
		over := false
		for _, t := range all {
			st, r := work(t.stage)
			if st == advanced {
				t.results = append(t.results, r)
			}
			over = over || st == ended || len(t.results) >= enough || st == advanced && t.stage.eof()
		}
		if over {
			return
		}
	}
}

// rate is the score of a plan: how many results its work had, more if it has come to its end, and a little more if it needs no
// documents or no sort.
func (t *trial) rate() float64 {
	c := t.stage.counts()
	works := float64(max(c.works, 1))
	little := min(1/(10*works), 1e-4)
	more := little // no indexes are intersected
	if !has(t.stage, "FETCH") {
		more += little
	}
	if !has(t.stage, "SORT") {
		more += little
	}
	score := 1 + float64(c.advanced)/works + more
	if t.stage.eof() {
		score++
	}
	return score
}

func has(s stage, name string) bool {
	if s.name() == name {
		return true
	}
	for _, each := range s.inputs() {
		if has(each, name) {
			return true
		}
	}
	return false
}
