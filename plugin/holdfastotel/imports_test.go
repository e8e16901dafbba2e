package holdfastotel_test

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// The plugin is made of what clients tell: it needs neither client, and of OpenTelemetry only the API.
func TestWhatThePluginImports(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	const module = "github.com/holdfast-db/holdfast/"
	packages := strings.Fields(string(out))
	for _, p := range packages {
		own := strings.HasPrefix(p, module) && p != module+"plugin/holdfastotel" && p != module+"telemetry"
		if own || strings.HasPrefix(p, "go.opentelemetry.io/otel/sdk") {
			t.Errorf("it imports %s", p)
		}
	}
	if !slices.Contains(packages, module+"telemetry") {
		t.Errorf("it does not import package telemetry: %d packages", len(packages))
	}
}
