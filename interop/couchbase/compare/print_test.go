package compare

import (
	"encoding/json"
	"fmt"
	"testing"
)

// TestPrint prints one line for each case. swap_test.go runs it with either import.
func TestPrint(*testing.T) {
	for _, print := range []func(){
		printSentinels, printErrorStructs, printReasons, printActions, printTranscoders, printMutationStates, printAuthenticators, printReports,
		printProfiles,
	} {
		print()
	}
}

// line prints the outcome of a case. The names of cases are different from each other.
func line(name, format string, args ...any) {
	fmt.Printf("case %s => %s\n", name, fmt.Sprintf(format, args...))
}

// canonical returns a JSON text with its members in alphabetical order.
func canonical(text string) string {
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		return "not JSON: " + text
	}
	b, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(b)
}

// failed returns "error" or "": the texts of most errors are each client's own.
func failed(err error) string {
	if err != nil {
		return "error"
	}
	return "no error"
}
