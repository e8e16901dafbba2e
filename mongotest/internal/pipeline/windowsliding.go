package pipeline

import "github.com/holdfast-db/holdfast/mongotest/internal/expr"

// slidingAccumulator is the fold of an accumulator over a window that documents leave again.
type slidingAccumulator struct {
	r           *runner
	accumulator *expr.Accumulator
	inputs      *inputs
	state       *expr.Sliding
	err         error // why there is no state
}

// sliding gives the values for windows that documents leave.
func (a *windowAccumulator) sliding(r *runner, part *partition) windowValues {
	s := &slidingAccumulator{r: r, accumulator: a.accumulator, inputs: newInputs(r, a.accumulator, part.docs)}
	next := a.window.folding(r, part, s, s.inputs)
	return func(i int) (Value, error) {
		if err := next(i); err != nil {
			return missing, err
		}
		if s.err != nil {
			return missing, s.err
		}
		return s.state.Result(r.Work)
	}
}

func (s *slidingAccumulator) reset() { s.state, s.err = s.accumulator.Slide(s.r.env) }

func (s *slidingAccumulator) add(j int) error {
	v, err := s.inputs.at(j)
	if err != nil || s.err != nil {
		return err
	}
	return s.state.Add(v)
}

func (s *slidingAccumulator) remove(j int) error {
	if s.err == nil {
		s.state.Remove(s.inputs.values[j])
	}
	return nil
}
