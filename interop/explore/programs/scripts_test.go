package programs

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/holdfast-db/holdfast/interop/internal/holdfastprocess"
)

// scripts are the programs in another language, in their folder. The commands run there; ${OUT} is a folder that is kept from one run to
// the next.
type scripts struct {
	folder  string
	install string
	run     func(out, program string) []string
}

var node = scripts{
	folder: "node",
	install: `cp *.mjs package.json package-lock.json "$OUT" && { cmp -s package-lock.json "$OUT/installed" ||
		{ npm ci --prefix "$OUT" --silent --prefer-offline --no-audit --no-fund --ignore-scripts && cp package-lock.json "$OUT/installed"; }; }`,
	run: func(out, program string) []string { return []string{"node", filepath.Join(out, program+".mjs")} },
}

var python = scripts{
	folder: "python",
	install: `{ test -x "$OUT/bin/pip" || python3 -m venv "$OUT"; } && { cmp -s requirements.txt "$OUT/installed" ||
		{ "$OUT/bin/pip" install --quiet --disable-pip-version-check --requirement requirements.txt && cp requirements.txt "$OUT/installed"; }; }`,
	run: func(out, program string) []string { return []string{filepath.Join(out, "bin/python"), program + ".py"} },
}

// TestInstall installs the drivers. The folders are kept, so the other tests download nothing afterwards.
func TestInstall(t *testing.T) {
	t.Run("node", node.prepare)
	t.Run("python", python.prepare)
}

// explore explores a program with the command: two failures at each message, since a process takes so long.
func (s scripts) explore(t *testing.T, p *program, twin string) {
	t.Helper()
	if !*every && p.name != "increment" {
		t.Skip("only with -every: it takes minutes")
	}
	s.prepare(t)
	program := s.run(s.out(t), p.name)
	words := []string{
		string(holdfastprocess.Build(t, "../../..")), "explore", "--failures", "request-lost,reply-lost", "--check", strings.Join(append(slices.Clone(program), check), " "), "--",
	}
	if code, text := s.execute(t, append(append(words, program...), twin)); code != 0 {
		t.Error(text)
	}
}

func (s scripts) prepare(t *testing.T) {
	if err := os.MkdirAll(s.out(t), 0o755); err != nil {
		t.Fatal(err)
	}
	if code, text := s.execute(t, []string{"sh", "-c", s.install}, "OUT="+s.out(t)); code != 0 {
		t.Fatal(text)
	}
}

// execute runs a command in the folder, and returns its exit code and its output.
func (s scripts) execute(t *testing.T, words []string, environment ...string) (code int, text string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), words[0], words[1:]...)
	cmd.Dir = s.folder
	cmd.Env = append(os.Environ(), environment...)
	out, err := cmd.CombinedOutput()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Error(err)
		return -1, err.Error()
	}
	return cmd.ProcessState.ExitCode(), string(out)
}

func (s scripts) out(t *testing.T) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join(".out", s.folder))
	if err != nil {
		t.Error(err)
	}
	return path
}
