package programs

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/holdfast-db/holdfast/mongotest"
)

// language has the programs in its folder. The commands run there; in the environment ${OUT} is a folder that is kept
// from one run to the next.
type language struct {
	folder  string
	install string
	run     func(out, program string) []string
}

var languages = []language{
	{
		folder: "node",
		install: `cp *.mjs package.json package-lock.json "$OUT" && { cmp -s package-lock.json "$OUT/installed" ||
			{ npm ci --prefix "$OUT" --silent --prefer-offline --no-audit --no-fund --ignore-scripts && cp package-lock.json "$OUT/installed"; }; }`,
		run: func(out, program string) []string { return []string{"node", filepath.Join(out, program+".mjs")} },
	},
	{
		folder: "python",
		install: `{ test -x "$OUT/bin/pip" || python3 -m venv "$OUT"; } &&
			"$OUT/bin/pip" install --quiet --disable-pip-version-check --requirement requirements.txt`,
		run: func(out, program string) []string { return []string{filepath.Join(out, "bin/python"), program + ".py"} },
	},
}

// TestInstall installs the drivers. The folders are kept, so TestLanguages downloads nothing afterwards.
func TestInstall(t *testing.T) {
	for _, l := range languages {
		t.Run(l.folder, l.prepare)
	}
}

func TestLanguages(t *testing.T) {
	for _, l := range languages {
		t.Run(l.folder, func(t *testing.T) {
			l.prepare(t)
			for _, p := range programs {
				t.Run(p.name, func(t *testing.T) {
					if checked, text := l.play(t, p.name, "mistake", none); checked != 0 {
						t.Errorf("the mistake, without a failure: %s", text)
					}
					if checked, text := l.play(t, p.name, "mistake", p.failure); checked != 1 {
						t.Errorf("the failure does not show the mistake: %s", text)
					}
					if checked, text := l.play(t, p.name, "mended", p.failure); checked != 0 {
						t.Errorf("mended: %s", text)
					}
				})
			}
		})
	}
}

// play runs a program, in which one message fails, and then its check. It returns the exit code of the check, and what
// both printed.
func (l language) play(t *testing.T, program, twin string, f failure) (code int, text string) {
	t.Helper()
	set := mongotest.RunReplicaSetT(t, 3, mongotest.ElectionTimeout(500*time.Millisecond))
	happened := f.arrange(set)
	run := append(l.run(l.out(t), program), twin)
	said, text := l.execute(t, []string{"MONGODB_URI=" + set.URI()}, run)
	if !happened() {
		t.Error("the failure did not happen")
	}
	heal(t, set)
	run[len(run)-1] = "check"
	code, checked := l.execute(t, []string{"MONGODB_URI=" + set.URI(), "HOLDFAST_EXIT_CODE=" + strconv.Itoa(said)}, run)
	return code, text + checked
}

func (l language) prepare(t *testing.T) {
	if err := os.MkdirAll(l.out(t), 0o755); err != nil {
		t.Fatal(err)
	}
	if code, text := l.execute(t, []string{"OUT=" + l.out(t)}, []string{"sh", "-c", l.install}); code != 0 {
		t.Fatal(text)
	}
}

// execute runs a command in the folder, and returns its exit code and its output.
func (l language) execute(t *testing.T, environment, words []string) (code int, text string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), words[0], words[1:]...)
	cmd.Dir = l.folder
	cmd.Env = append(os.Environ(), environment...)
	out, err := cmd.CombinedOutput()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), string(out)
}

func (l language) out(t *testing.T) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join(".out", l.folder))
	if err != nil {
		t.Fatal(err)
	}
	return path
}
