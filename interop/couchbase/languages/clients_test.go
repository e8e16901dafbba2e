package languages

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// client is an SDK and how its program is made and run. The commands run in the folder dir; in them ${OUT} is a folder of
// the client's own that is kept from one run to the next.
type client struct {
	name, dir string
	setup     [][]string
	run       []string
}

var clients = []client{
	{
		name: "python", dir: "python",
		setup: [][]string{
			{"sh", "-c", "test -x '${OUT}/bin/pip' || python3 -m venv '${OUT}'"},
			{"${OUT}/bin/pip", "install", "--quiet", "--disable-pip-version-check", "--requirement", "requirements.txt"},
		},
		run: []string{"${OUT}/bin/python", "scenario.py"},
	},
	{
		name: "node", dir: "node",
		setup: [][]string{
			{"cp", "package.json", "package-lock.json", "scenario.cjs", "${OUT}"},
			{"sh", "-c", "cmp -s package-lock.json '${OUT}/installed' || " +
				"{ npm ci --prefix '${OUT}' --silent --prefer-offline --no-audit --no-fund --ignore-scripts && cp package-lock.json '${OUT}/installed'; }"},
		},
		run: []string{"node", "${OUT}/scenario.cjs"},
	},
	{
		name: "java", dir: "java",
		setup: [][]string{
			{"sh", "-c", "cmp -s pom.xml '${OUT}/pom.xml' || " +
				"{ mvn --quiet --batch-mode dependency:copy-dependencies -DoutputDirectory='${OUT}/jars' && cp pom.xml '${OUT}'; }"},
			{"javac", "-Xlint:all", "-Werror", "-d", "${OUT}", "-cp", "${OUT}/jars/*", "Scenario.java"},
		},
		run: []string{"java", "-Dorg.slf4j.simpleLogger.defaultLogLevel=off", "-cp", "${OUT}:${OUT}/jars/*", "Scenario"},
	},
}

// prepare installs what the client needs.
func (c *client) prepare(t *testing.T) {
	t.Helper()
	if err := os.MkdirAll(out(t, c.name), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, words := range c.setup {
		if text, err := c.command(t, words, 5*time.Minute).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", strings.Join(words, " "), err, text)
		}
	}
}

// play runs the client's program against a mock, and returns what it printed and how it ended.
func (c *client) play(t *testing.T, m *mock) (stdout, stderr string, err error) {
	t.Helper()
	var complaints strings.Builder
	cmd := c.command(t, c.run, 2*time.Minute)
	cmd.Env = append(os.Environ(), "CONNECTION_STRING="+m.ConnectionString, "USERNAME="+m.Username, "PASSWORD="+m.Password, "CONTROL="+m.Control)
	cmd.Stderr = &complaints
	text, err := cmd.Output()
	return string(text), complaints.String(), err
}

func (c *client) command(t *testing.T, words []string, limit time.Duration) *exec.Cmd {
	t.Helper()
	expanded := make([]string, len(words))
	for i, word := range words {
		expanded[i] = strings.ReplaceAll(word, "${OUT}", out(t, c.name))
	}
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, expanded[0], expanded[1:]...)
	cmd.Dir = c.dir
	return cmd
}

func out(t *testing.T, name string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join(".out", name))
	if err != nil {
		t.Fatal(err)
	}
	return path
}
