package prove

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
)

// Schedule has the planned faults of one failure. They are the same in each run with the seed, and for each strategy.
type Schedule struct {
	Failure string         `json:"failure"`
	Faults  []PlannedFault `json:"faults"` // in the order of the operations
	// Outage means that the load ends with an outage, which begins with the first message after all other goals are reached.
	Outage bool `json:"outage,omitempty"`
}

// PlannedFault is the fault of one operation. It strikes the first message of its step; a command error strikes each of them.
type PlannedFault struct {
	Operation string    `json:"operation"`
	Fault     FaultKind `json:"fault"`
	// Step is the step of a strategy with two steps. With any other strategy the fault is for the only one. Couchbase's have no second step
	// that applies something.
	Step   Step   `json:"step_of_two,omitempty"`
	Moment string `json:"moment"`
	Code   int32  `json:"code,omitempty"` // of a command error
	// AfterRetry means that the fault waits for the end of another operation that is sent again.
	AfterRetry bool `json:"after_a_retry,omitempty"`
}

// ScheduleOf returns the planned faults of the first operations of a failure's cells. The plan goes on for ever; a cell ends when its
// goals are reached.
func (b *Backend) ScheduleOf(f Failure, s Settings, operations int) Schedule {
	twoSteps := slices.ContainsFunc(b.strategies, func(s Strategy) bool { return s.twoSteps })
	p := s.plan(f)
	list := Schedule{Failure: f.Name, Faults: []PlannedFault{}, Outage: f.has(Outage)}
	for n := range operations {
		id := OpID{Writer: n % s.Size.Writers, Index: n / s.Size.Writers}
		if fault, ok := p.of(id); ok {
			list.Faults = append(list.Faults, fault.scheduled(id, twoSteps))
		}
	}
	return list
}

// plan returns the plan of a failure's cells.
func (s Settings) plan(f Failure) plan { return newPlan(s.Seed, f, s.Size.every(f), s.Size.Writers) }

func (f planned) scheduled(id OpID, twoSteps bool) PlannedFault {
	one := PlannedFault{Operation: id.String(), Fault: f.kind, Moment: f.moment.String(), AfterRetry: f.follows}
	switch {
	case twoSteps && f.second:
		one.Step = SecondStep
	case twoSteps:
		one.Step = FirstStep
	}
	if f.kind == CommandRefused {
		one.Code = f.code
	}
	return one
}

// WriteSchedule writes the schedules of all failures of a matrix, as text or as JSON.
func (m Matrix) WriteSchedule(w io.Writer, asJSON bool) error {
	operations := m.Settings.Size.Operations
	schedules := make([]Schedule, len(m.Failures))
	for i, f := range m.Failures {
		schedules[i] = m.Deployment.Backend().ScheduleOf(f, m.Settings, operations)
	}
	var err error
	if asJSON {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		err = e.Encode(struct {
			Backend    string     `json:"backend"`
			Seed       uint64     `json:"seed"`
			Writers    int        `json:"writers"`
			Operations int        `json:"operations"`
			Schedules  []Schedule `json:"schedules"`
		}{m.Deployment.Backend().Title, m.Settings.Seed, m.Settings.Size.Writers, operations, schedules})
	} else {
		err = writeSchedules(w, m.Settings, operations, schedules)
	}
	if err != nil {
		return fmt.Errorf("writing the schedule: %w", err)
	}
	return nil
}

func writeSchedules(w io.Writer, s Settings, operations int, schedules []Schedule) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "The planned faults of the first %d operations of each cell; seed %d, %d writers. A fault strikes the first\n"+
		"message of its step, a command error each of them; a strategy with one step has the fault there. A fault is left out if\n"+
		"the cluster is not whole; one of the cluster also if its kind has happened often enough.\n", operations, s.Seed, s.Size.Writers)
	for _, one := range schedules {
		fmt.Fprintf(t, "\n%s\n", one.Failure)
		for _, f := range one.Faults {
			fmt.Fprintf(t, "  %s\t%s\t%s%s%s\n", f.Operation, f.Fault, f.step(), f.Moment, f.more())
		}
		if one.Outage {
			fmt.Fprint(t, "  all servers are unreachable from the first message after all other goals are reached\n")
		}
	}
	return t.Flush()
}

// step returns the cell of the table for the step.
func (f PlannedFault) step() string {
	if f.Step == 0 {
		return ""
	}
	return fmt.Sprintf("step %d of 2\t", f.Step)
}

// more returns the parts of the fault that few have.
func (f PlannedFault) more() string {
	switch {
	case f.AfterRetry:
		return ", at the end of another operation that is sent again"
	case f.Code != 0:
		return fmt.Sprintf(", code %d", f.Code)
	}
	return ""
}
