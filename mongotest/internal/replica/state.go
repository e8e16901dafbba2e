package replica

// State is a member's state, by the numbers of replSetGetStatus.
type State int32

// StateDown is that of a member of which nothing is heard.
const StateDown State = 8

const (
	stateStartup    State = 0
	statePrimary    State = 1
	stateSecondary  State = 2
	stateRecovering State = 3
	stateArbiter    State = 7
	stateRemoved    State = 10
)

// stateNames is never written to.
var stateNames = map[State]string{
	statePrimary: "PRIMARY", stateSecondary: "SECONDARY", stateArbiter: "ARBITER", StateDown: "(not reachable/healthy)",
	stateStartup: "STARTUP", stateRecovering: "RECOVERING", stateRemoved: "REMOVED",
}

// String returns the state's name in replSetGetStatus.
func (s State) String() string { return stateNames[s] }

// StateLocked returns the state of a member that runs.
func (m *Member) StateLocked() State {
	switch {
	case m.Set.Initiation != Initiated:
		return stateStartup
	case m.Config.Removed:
		return stateRemoved
	case m.Config.Arbiter:
		return stateArbiter
	case m.Role == Primary:
		return statePrimary
	case m.Stale:
		return stateRecovering
	}
	return stateSecondary
}

// StateNameLocked returns the state's name, "DOWN" for a member that does not run.
func (m *Member) StateNameLocked() string {
	if !m.Up {
		return "DOWN"
	}
	return m.StateLocked().String()
}
