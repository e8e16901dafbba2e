package explore

import "slices"

// How many stories of runs a report has. The other outcomes keep their case and their verdict, so that a long exploration stays small.
const (
	brokenStories = 50 // of runs that show a mistake
	heldStories   = 1  // of runs that held, for each failure
)

// shelf keeps the stories of the first few runs, in the order of their cases, whatever the order in which they end.
type shelf struct {
	limit int
	kept  []int // places of outcomes, in order
}

// put adds a story. It returns the place of the one that is not kept, or -1.
func (s *shelf) put(at int) (dropped int) {
	i, _ := slices.BinarySearch(s.kept, at)
	s.kept = slices.Insert(s.kept, i, at)
	if len(s.kept) <= s.limit {
		return -1
	}
	last := len(s.kept) - 1
	dropped = s.kept[last]
	s.kept = s.kept[:last]
	return dropped
}

// keep drops the story of an outcome, or that of another one, if there are enough.
func (q *queue) keep(at int) {
	o := &q.outcomes[at]
	shelfName, limit := "", brokenStories
	if !o.Verdict.Failing() {
		limit = heldStories
		if o.Verdict == NotReached {
			limit = 0
		}
		shelfName = string(o.Verdict) + o.Case[len(o.Case)-1].Failure
	}
	if q.shelves[shelfName] == nil {
		q.shelves[shelfName] = &shelf{limit: limit}
	}
	if dropped := q.shelves[shelfName].put(at); dropped >= 0 {
		q.outcomes[dropped].dropStory()
	}
}

// dropStory drops what only tells a run. Problems stay, because each broken case is listed with its first one.
func (o *Outcome) dropStory() {
	o.Events, o.Log, o.Dump = nil, nil, ""
}
