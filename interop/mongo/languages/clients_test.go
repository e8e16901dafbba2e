package languages

import (
	"context"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// client is a driver and how its program is made and run. The commands run in the folder dir; in them ${OUT} is a folder
// of the client's own that is kept from one run to the next.
type client struct {
	name string
	dir  string
	// driver is what the driver says of itself in its handshake, or how that begins where the version is the system's.
	driver string
	// crashAtFind has the primary of the fail-over step killed at a find, not at an insert.
	crashAtFind bool
	// ownTrust means that it knows no option of the connection string for authorities. It reads them from a store of its language.
	ownTrust bool
	setup    [][]string
	run      []string
}

// crashAt is the command of the fail-over step at which the primary is killed.
func (c *client) crashAt() string {
	if c.crashAtFind {
		return "find"
	}
	return "insert"
}

func clients() []client {
	return []client{
		golang("go1", "mongo-go-driver 1.17.10", "-tags", "mongo_driver_v1"),
		golang("go2", "mongo-go-driver 2.10.0"),
		node("6.22.0", "mongodb6"),
		node("7.8.0", "mongodb"),
		{
			name: "python", driver: "PyMongo|c 4.20.0", dir: "python",
			setup: [][]string{
				{"sh", "-c", "test -x '${OUT}/bin/pip' || python3 -m venv '${OUT}'"},
				{"${OUT}/bin/pip", "install", "--quiet", "--disable-pip-version-check", "--requirement", "requirements.txt"},
			},
			run: []string{"${OUT}/bin/python", "scenario.py"},
		},
		java("4.11.5"),
		java("5.14.0"),
		{
			name: "c", driver: "mongoc 1.", dir: "c",
			setup: [][]string{{"sh", "-c", "cc -std=gnu11 -Wall -Wextra -Werror -o '${OUT}/scenario' *.c $(pkg-config --cflags --libs libmongoc-1.0)"}},
			run:   []string{"${OUT}/scenario"},
		},
	}
}

func golang(name, driver string, flags ...string) client {
	return client{
		name: name, driver: driver, dir: "golang",
		setup: [][]string{append(append([]string{"go", "build"}, flags...), "-o", "${OUT}/scenario", ".")},
		run:   []string{"${OUT}/scenario"},
	}
}

// node is the Node driver, which package.json has under a name for each of its majors. It does not retry a write whose
// connection broke when its monitor was the first to notice that the server is gone; a read it does.
func node(version, module string) client {
	return client{
		name: "node-" + version, driver: "nodejs " + version, dir: "node", crashAtFind: true,
		setup: [][]string{
			{"cp", "package.json", "package-lock.json", "scenario.mjs", "${OUT}"},
			{"sh", "-c", "cmp -s package-lock.json '${OUT}/installed' || " +
				"{ npm ci --prefix '${OUT}' --silent --prefer-offline --no-audit --no-fund --ignore-scripts && cp package-lock.json '${OUT}/installed'; }"},
		},
		run: []string{"node", "${OUT}/scenario.mjs", module},
	}
}

func java(version string) client {
	return client{
		name: "java-" + version, driver: "mongo-java-driver|sync " + version, dir: "java", ownTrust: true,
		setup: [][]string{
			{"sh", "-c", "test -f '${OUT}/jars/mongodb-driver-sync-" + version + ".jar' || " +
				"mvn --quiet --batch-mode dependency:copy-dependencies -Ddriver=" + version + " -DoutputDirectory='${OUT}/jars'"},
			{"javac", "-Xlint:all", "-Werror", "-d", "${OUT}", "-cp", "${OUT}/jars/*", "Scenario.java"},
		},
		run: []string{"java", "-cp", "${OUT}:${OUT}/jars/*", "Scenario"},
	}
}

// prepare installs what the client needs and builds its program.
func (c *client) prepare(t *testing.T) {
	t.Helper()
	if err := os.MkdirAll(c.out(t), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, words := range c.setup {
		if out, err := c.command(t, words, 5*time.Minute).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", strings.Join(words, " "), err, out)
		}
	}
}

// play runs the client's program against a set and returns what it printed and how it ended.
func (c *client) play(t *testing.T, uri string, environment ...string) (stdout, stderr string, err error) {
	t.Helper()
	var complaints strings.Builder
	cmd := c.command(t, c.run, 2*time.Minute)
	cmd.Env = append(append(os.Environ(), "MONGODB_URI="+uri), environment...)
	cmd.Stderr = &complaints
	out, err := cmd.Output()
	return string(out), complaints.String(), err
}

// trust returns what makes the client trust an authority: options of the connection string, or the environment of its program.
func (c *client) trust(t *testing.T, a *authority) (option string, environment []string) {
	t.Helper()
	if !c.ownTrust {
		return "&tlsCAFile=" + url.QueryEscape(a.file()), nil
	}
	store := filepath.Join(a.folder, "authorities.p12")
	words := []string{"keytool", "-importcert", "-noprompt", "-alias", "authority", "-file", a.file(), "-keystore", store, "-storepass", storePassword}
	if out, err := c.command(t, words, time.Minute).CombinedOutput(); err != nil {
		t.Fatalf("keytool: %v\n%s", err, out)
	}
	return "", []string{"JDK_JAVA_OPTIONS=-Djavax.net.ssl.trustStore=" + store + " -Djavax.net.ssl.trustStorePassword=" + storePassword}
}

const storePassword = "certificates"

func (c *client) command(t *testing.T, words []string, limit time.Duration) *exec.Cmd {
	t.Helper()
	out := c.out(t)
	expanded := make([]string, len(words))
	for i, word := range words {
		expanded[i] = strings.ReplaceAll(word, "${OUT}", out)
	}
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, expanded[0], expanded[1:]...)
	cmd.Dir = c.dir
	return cmd
}

func (c *client) out(t *testing.T) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join(".out", c.name))
	if err != nil {
		t.Fatal(err)
	}
	return path
}
