package cluster

import (
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

// Environment is the access to the system that the program runs on. A nil field means that of the process.
type Environment struct {
	Getenv   func(name string) string
	ReadFile func(name string) ([]byte, error)
}

func (e *Environment) setDefaults() {
	if e.Getenv == nil {
		e.Getenv = os.Getenv
	}
	if e.ReadFile == nil {
		e.ReadFile = os.ReadFile
	}
}

// system is the metadata's field "os".
type system struct{ kind, name, architecture, version string }

// system returns the operating system. Only Linux says its name and version.
func (e *Environment) system() system {
	s := system{kind: runtime.GOOS, architecture: runtime.GOARCH}
	if runtime.GOOS != "linux" {
		return s
	}
	release, _ := e.ReadFile("/etc/os-release")
	for line := range strings.Lines(string(release)) {
		if value, ok := strings.CutPrefix(line, "PRETTY_NAME="); ok {
			s.name = strings.Trim(strings.TrimSpace(value), `"'`)
		}
	}
	kernel, _ := e.ReadFile("/proc/sys/kernel/osrelease")
	s.version = strings.TrimSpace(string(kernel))
	return s
}

func (s *system) append(b []byte) []byte {
	at, b := wire.BeginEmbedded(b, "os")
	b = wire.AppendString(b, "type", s.kind)
	b = appendText(b, "name", s.name)
	b = appendText(b, "architecture", s.architecture)
	b = appendText(b, "version", s.version)
	return wire.EndDocument(b, at)
}

// env is the metadata's field "env": the function as a service and the container in which the program runs.
type env struct {
	name, region          string
	timeout, memory       int32 // seconds and megabytes; 0 if unknown
	runtime, orchestrator string
	hasTimeout, hasMemory bool
}

// provider is a function as a service, with the variables that show it and those of its fields.
type provider struct {
	name                    string
	shownBy                 []string
	memory, region, timeout string
}

// providers are the functions as a service of MongoDB Handshake, "client.env".
var providers = []provider{
	{
		name: "aws.lambda", shownBy: []string{"AWS_EXECUTION_ENV", "AWS_LAMBDA_RUNTIME_API"},
		memory: "AWS_LAMBDA_FUNCTION_MEMORY_SIZE", region: "AWS_REGION",
	},
	{name: "azure.func", shownBy: []string{"FUNCTIONS_WORKER_RUNTIME"}},
	{
		name: "gcp.func", shownBy: []string{"K_SERVICE", "FUNCTION_NAME"},
		memory: "FUNCTION_MEMORY_MB", region: "FUNCTION_REGION", timeout: "FUNCTION_TIMEOUT_SEC",
	},
	{name: "vercel", shownBy: []string{"VERCEL"}, region: "VERCEL_REGION"},
}

// env returns the function and the container. Of several functions none is named, but vercel prevails over aws.lambda.
func (e *Environment) env() env {
	var found []provider
	for _, p := range providers {
		if e.shows(&p) {
			found = append(found, p)
		}
	}
	if len(found) == 2 && found[0].name == "aws.lambda" && found[1].name == "vercel" {
		found = found[1:]
	}
	var v env
	if len(found) == 1 {
		p := found[0]
		v.name, v.region = p.name, e.Getenv(p.region)
		v.memory, v.hasMemory = e.number(p.memory)
		v.timeout, v.hasTimeout = e.number(p.timeout)
	}
	if _, err := e.ReadFile("/.dockerenv"); err == nil {
		v.runtime = "docker"
	}
	if e.Getenv("KUBERNETES_SERVICE_HOST") != "" {
		v.orchestrator = "kubernetes"
	}
	return v
}

// InFunction reports whether the program runs as a function as a service.
func (e *Environment) InFunction() bool {
	e.setDefaults()
	return slices.ContainsFunc(providers, func(p provider) bool { return e.shows(&p) })
}

func (e *Environment) shows(p *provider) bool {
	for _, name := range p.shownBy {
		value := e.Getenv(name)
		if value != "" && (name != "AWS_EXECUTION_ENV" || strings.HasPrefix(value, "AWS_Lambda_")) {
			return true
		}
	}
	return false
}

// number returns a variable that is a 32-bit integer.
func (e *Environment) number(name string) (int32, bool) {
	n, err := strconv.ParseInt(e.Getenv(name), 10, 32)
	return int32(n), err == nil
}

func (v *env) append(b []byte) []byte {
	if *v == (env{}) {
		return b
	}
	at, b := wire.BeginEmbedded(b, "env")
	b = appendText(b, "name", v.name)
	if v.hasTimeout {
		b = wire.AppendInt32(b, "timeout_sec", v.timeout)
	}
	if v.hasMemory {
		b = wire.AppendInt32(b, "memory_mb", v.memory)
	}
	b = appendText(b, "region", v.region)
	if v.runtime != "" || v.orchestrator != "" {
		container, rest := wire.BeginEmbedded(b, "container")
		rest = appendText(rest, "runtime", v.runtime)
		b = wire.EndDocument(appendText(rest, "orchestrator", v.orchestrator), container)
	}
	return wire.EndDocument(b, at)
}
