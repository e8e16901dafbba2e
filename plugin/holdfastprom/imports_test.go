package holdfastprom_test

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// The plugin is made of what clients tell: it needs neither client, and of Prometheus only the library for metrics.
func TestWhatThePluginImports(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	const module = "github.com/holdfast-db/holdfast/"
	allowed := []string{module + "plugin/holdfastprom", module + "telemetry", module + "telemetry/metrics"}
	packages := strings.Fields(string(out))
	for _, p := range packages {
		if strings.HasPrefix(p, module) && !slices.Contains(allowed, p) || strings.HasPrefix(p, "github.com/prometheus/prometheus") {
			t.Errorf("it imports %s", p)
		}
	}
	if !slices.Contains(packages, module+"telemetry") {
		t.Errorf("it does not import package telemetry: %d packages", len(packages))
	}
}
