package prove

import "slices"

// Backend is a kind of database, with the experiment about it: its strategies, its failures, and the verdicts that theory predicts.
type Backend struct {
	// Title is the name in texts.
	Title string
	// strategies are in the order of the report.
	strategies []Strategy
	failures   []Failure
	// rollbacks are the failures that run only if they are asked for.
	rollbacks []Failure
	// expected has the verdict of each strategy and kind of fault. If there is no entry, it is "right".
	expected map[string]map[FaultKind]Expectation
	// expectedBefore is the same for the failures of the leg before a router.
	expectedBefore map[string]map[FaultKind]Expectation
	settings       Settings
	// document returns the name of an operation's document. At most perDocument operations share one.
	document    func(id OpID, writers int) string
	perDocument int
	// classify counts the flaw of an operation, and returns it.
	classify func(*Counts, fate) Flaw
	// wasteRule means that the rule of the resilience article limits messages, tries and time.
	wasteRule bool
	// refusedAgain means that a message which a member refused because its state had changed is worth another one.
	refusedAgain bool
	// legend explains the report's table, and describe returns its lines about the settings that only this backend has.
	legend   []string
	describe func(Settings) (load, times string)
}

// Backends returns all backends.
func Backends() []*Backend { return []*Backend{MongoDB, Couchbase} }

// Legend returns lines that explain the numbers of a cell.
func (b *Backend) Legend() []string { return slices.Clone(b.legend) }

// DefaultSettings returns the settings of the command. The whole matrix takes less than a minute with them, and has
// enough faults for reliable verdicts.
func (b *Backend) DefaultSettings() Settings { return b.settings }

// Strategies returns all strategies.
func (b *Backend) Strategies() []Strategy { return slices.Clone(b.strategies) }

// StrategiesNamed returns the strategies with these names, or all if names is empty.
func (b *Backend) StrategiesNamed(names []string) ([]Strategy, error) {
	return named("strategy", b.Strategies(), names, func(s Strategy) string { return s.Name })
}

// StrategyNames returns the names of all strategies.
func (b *Backend) StrategyNames() []string {
	return namesOf(b.strategies, func(s Strategy) string { return s.Name })
}

// Failures returns all failures except Rollbacks.
func (b *Backend) Failures() []Failure { return slices.Clone(b.failures) }

// Rollbacks returns the failures of the cluster with write concern 1. The members roll back acknowledged writes there: a
// deployment that keeps them is not as expected. Couchbase has none.
func (b *Backend) Rollbacks() []Failure { return slices.Clone(b.rollbacks) }

// FailuresNamed returns the failures with these names, or Failures if names is empty.
func (b *Backend) FailuresNamed(names []string) ([]Failure, error) {
	if len(names) == 0 {
		return b.Failures(), nil
	}
	return named("failure", slices.Concat(b.failures, b.rollbacks), names, func(f Failure) string { return f.Name })
}

// FailureNames returns the names of Failures and Rollbacks.
func (b *Backend) FailureNames() []string {
	return namesOf(slices.Concat(b.failures, b.rollbacks), func(f Failure) string { return f.Name })
}
