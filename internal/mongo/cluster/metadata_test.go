package cluster

import (
	"io/fs"
	"maps"
	"runtime"
	"strings"
	"testing"
	"unicode/utf8"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// environmentOf returns an environment with these variables and files.
func environmentOf(variables, files map[string]string) Environment {
	return Environment{
		Getenv: func(name string) string { return variables[name] },
		ReadFile: func(name string) ([]byte, error) {
			if content, ok := files[name]; ok {
				return []byte(content), nil
			}
			return nil, fs.ErrNotExist
		},
	}
}

func emptyEnvironment() Environment { return environmentOf(nil, nil) }

func metadataIn(appName string, e Environment, libraries ...DriverInfo) bson.Raw {
	m := metadata{appName: appName, environment: e}
	m.add(DriverInfo{})
	for _, l := range libraries {
		m.add(l)
	}
	return m.document()
}

// Source: MongoDB Handshake, "client.env", and its prose test "client.env is correct".
func TestTheMetadataNamesTheEnvironment(t *testing.T) {
	docker := map[string]string{"/.dockerenv": ""}
	lambda := map[string]string{
		"AWS_EXECUTION_ENV": "AWS_Lambda_java8", "AWS_REGION": "us-east-2", "AWS_LAMBDA_FUNCTION_MEMORY_SIZE": "1024",
	}
	with := func(base map[string]string, pairs ...string) map[string]string {
		all := maps.Clone(base)
		if all == nil {
			all = map[string]string{}
		}
		for i := 0; i < len(pairs); i += 2 {
			all[pairs[i]] = pairs[i+1]
		}
		return all
	}
	container := func(pairs ...string) bson.E {
		var d bson.D
		for i := 0; i < len(pairs); i += 2 {
			d = append(d, bson.E{Key: pairs[i], Value: pairs[i+1]})
		}
		return bson.E{Key: "container", Value: d}
	}
	for _, c := range []struct {
		name      string
		variables map[string]string
		files     map[string]string
		want      bson.D
	}{
		{"nothing is known", nil, nil, nil},
		{"valid AWS", lambda, nil, bson.D{{Key: "name", Value: "aws.lambda"}, {Key: "memory_mb", Value: int32(1024)}, {Key: "region", Value: "us-east-2"}}},
		{"AWS by its API", with(nil, "AWS_LAMBDA_RUNTIME_API", "x"), nil, bson.D{{Key: "name", Value: "aws.lambda"}}},
		{"valid Azure", with(nil, "FUNCTIONS_WORKER_RUNTIME", "node"), nil, bson.D{{Key: "name", Value: "azure.func"}}},
		{
			"valid GCP",
			with(nil, "K_SERVICE", "servicename", "FUNCTION_MEMORY_MB", "1024", "FUNCTION_TIMEOUT_SEC", "60", "FUNCTION_REGION", "us-central1"),
			nil,
			bson.D{
				{Key: "name", Value: "gcp.func"},
				{Key: "timeout_sec", Value: int32(60)},
				{Key: "memory_mb", Value: int32(1024)},
				{Key: "region", Value: "us-central1"},
			},
		},
		{"GCP by its function's name", with(nil, "FUNCTION_NAME", "f"), nil, bson.D{{Key: "name", Value: "gcp.func"}}},
		{
			"valid Vercel", with(nil, "VERCEL", "1", "VERCEL_REGION", "cdg1"), nil,
			bson.D{{Key: "name", Value: "vercel"}, {Key: "region", Value: "cdg1"}},
		},
		{"invalid: multiple providers", with(lambda, "FUNCTIONS_WORKER_RUNTIME", "node"), nil, nil},
		{"invalid: three providers", with(lambda, "FUNCTIONS_WORKER_RUNTIME", "node", "VERCEL", "1"), nil, nil},
		{"Vercel prevails over AWS", with(lambda, "VERCEL", "1"), nil, bson.D{{Key: "name", Value: "vercel"}}},
		{
			"invalid: a memory that is no number",
			with(nil, "AWS_EXECUTION_ENV", "AWS_Lambda_java8", "AWS_LAMBDA_FUNCTION_MEMORY_SIZE", "big"), nil,
			bson.D{{Key: "name", Value: "aws.lambda"}},
		},
		{
			"invalid: a memory of more than 32 bits",
			with(nil, "AWS_EXECUTION_ENV", "AWS_Lambda_java8", "AWS_LAMBDA_FUNCTION_MEMORY_SIZE", "9999999999"), nil,
			bson.D{{Key: "name", Value: "aws.lambda"}},
		},
		{"invalid: AWS_EXECUTION_ENV does not start with AWS_Lambda_", with(nil, "AWS_EXECUTION_ENV", "EC2"), nil, nil},
		{
			"valid container and FaaS provider", with(lambda, "KUBERNETES_SERVICE_HOST", "1"), docker,
			bson.D{
				{Key: "name", Value: "aws.lambda"},
				{Key: "memory_mb", Value: int32(1024)},
				{Key: "region", Value: "us-east-2"},
				container("runtime", "docker", "orchestrator", "kubernetes"),
			},
		},
		{"a container", nil, docker, bson.D{container("runtime", "docker")}},
		{"an orchestrator", with(nil, "KUBERNETES_SERVICE_HOST", "1"), nil, bson.D{container("orchestrator", "kubernetes")}},
		{"a container and two providers", with(lambda, "K_SERVICE", "s"), docker, bson.D{container("runtime", "docker")}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := metadataIn("", environmentOf(c.variables, c.files)).Lookup("env")
			if c.want == nil {
				if got.Type != 0 {
					t.Errorf("env is %v, want none", got)
				}
				return
			}
			want, err := bson.Marshal(c.want)
			if err != nil {
				t.Fatal(err)
			}
			if string(got.Value) != string(want) {
				t.Errorf("env is %v, want %v", got, bson.Raw(want))
			}
		})
	}
}

func TestTheMetadataNamesTheSystem(t *testing.T) {
	e := environmentOf(nil, map[string]string{
		"/etc/os-release": "NAME=\"Debian\"\nPRETTY_NAME=\"Debian GNU/Linux 13\"\n", "/proc/sys/kernel/osrelease": "6.1.0\n",
	})
	doc := metadataIn("app", e)
	want := map[string]string{
		"type": runtime.GOOS, "architecture": runtime.GOARCH, "name": "Debian GNU/Linux 13", "version": "6.1.0",
	}
	if runtime.GOOS != "linux" {
		want["name"], want["version"] = "", ""
	}
	for key, value := range want {
		if got, _ := doc.Lookup("os", key).StringValueOK(); got != value {
			t.Errorf("os.%s is %q, want %q", key, got, value)
		}
	}
	if got := doc.Lookup("application", "name").StringValue(); got != "app" {
		t.Errorf("the application is %q", got)
	}
	if _, err := metadataIn("", e).LookupErr("application"); err == nil {
		t.Error("the metadata has an application without a name")
	}
}

// Source: MongoDB Handshake, "Limitations": the fields are left out in this order until the document fits.
func TestTheMetadataFitsItsLimit(t *testing.T) {
	long := strings.Repeat("x", 150)
	env := map[string]string{"VERCEL": "1", "VERCEL_REGION": long}
	files := map[string]string{"/etc/os-release": "PRETTY_NAME=" + long, "/proc/sys/kernel/osrelease": "6.1.0", "/.dockerenv": ""}
	e := environmentOf(env, files)
	small := environmentOf(map[string]string{"VERCEL": "1", "VERCEL_REGION": "r"}, map[string]string{"/proc/sys/kernel/osrelease": "6.1.0"})
	for _, c := range []struct {
		name          string
		environment   Environment
		library       DriverInfo
		kept, dropped []string
		whole         bool // the platform is whole
	}{
		{"nothing is left out of a small document", small, DriverInfo{}, []string{"env.region", "os.version", "env.name"}, nil, true},
		{
			"first the fields of env but its name", e,
			DriverInfo{},
			[]string{"env.name", "os.architecture"},
			[]string{"env.region", "env.container"},
			true,
		},
		{
			"then the fields of os but its type", e,
			DriverInfo{Name: long},
			[]string{"env.name", "os.type"},
			[]string{"env.region", "os.architecture", "os.version", "os.name"},
			true,
		},
		{
			"then env", e, DriverInfo{Name: long, Version: strings.Repeat("v", 210)}, []string{"os.type", "driver.version"}, []string{"env"}, true,
		},
		{
			"then a part of platform", e,
			DriverInfo{Name: long, Platform: strings.Repeat("é", 200)},
			[]string{"os.type", "platform"},
			[]string{"env"},
			false,
		},
		{
			"then the libraries", e,
			DriverInfo{Name: strings.Repeat("n", 400), Version: long, Platform: long},
			[]string{"os.type", "driver.name"},
			[]string{"env", "platform"},
			false,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			doc := metadataIn("app", c.environment, c.library)
			if len(doc) > maxMetadata {
				t.Errorf("the metadata has %d bytes, at most %d are allowed", len(doc), maxMetadata)
			}
			for _, path := range c.kept {
				if _, err := doc.LookupErr(strings.Split(path, ".")...); err != nil {
					t.Errorf("%s was left out", path)
				}
			}
			for _, path := range c.dropped {
				if _, err := doc.LookupErr(strings.Split(path, ".")...); err == nil {
					t.Errorf("%s was not left out", path)
				}
			}
			platform, _ := doc.Lookup("platform").StringValueOK()
			if whole := platform == joined([]DriverInfo{c.library}).Platform; whole != c.whole || !utf8.ValidString(platform) {
				t.Errorf("the platform is %q", platform)
			}
		})
	}
}

// Source: MongoDB Handshake, "Metadata updates after MongoClient initialization", and its prose tests.
func TestLibrariesAreAppendedToTheMetadata(t *testing.T) {
	library := DriverInfo{"library", "1.2", "Library Platform"}
	framework := DriverInfo{"framework", "2.0", "Framework Platform"}
	own := joined(nil)
	for _, c := range []struct {
		name      string
		libraries []DriverInfo
		want      DriverInfo // after the client's own
	}{
		{"none", nil, DriverInfo{}},
		{"one", []DriverInfo{library}, DriverInfo{"|library", "|1.2", "|Library Platform"}},
		{"a name only", []DriverInfo{{Name: "library"}}, DriverInfo{"|library", "", ""}},
		{"an empty one", []DriverInfo{{}}, DriverInfo{}},
		{"the same one twice", []DriverInfo{library, library}, DriverInfo{"|library", "|1.2", "|Library Platform"}},
		{
			"two",
			[]DriverInfo{library, framework},
			DriverInfo{"|library|framework", "|1.2|2.0", "|Library Platform|Framework Platform"},
		},
		{
			"the first one again after a second",
			[]DriverInfo{library, framework, library},
			DriverInfo{"|library|framework", "|1.2|2.0", "|Library Platform|Framework Platform"},
		},
		{
			"each library has its version and platform",
			[]DriverInfo{library, {"framework", "1.2", "Library Platform"}},
			DriverInfo{"|library|framework", "|1.2|1.2", "|Library Platform|Library Platform"},
		},
		{
			"empty fields add nothing",
			[]DriverInfo{library, {"framework", "", ""}},
			DriverInfo{"|library|framework", "|1.2", "|Library Platform"},
		},
		{
			"a field that was empty is filled",
			[]DriverInfo{{Name: "library"}, framework},
			DriverInfo{"|library|framework", "|2.0", "|Framework Platform"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			doc := metadataIn("", emptyEnvironment(), c.libraries...)
			for _, f := range []struct{ own, want, got string }{
				{own.Name, c.want.Name, doc.Lookup("driver", "name").StringValue()},
				{own.Version, c.want.Version, doc.Lookup("driver", "version").StringValue()},
				{own.Platform, c.want.Platform, doc.Lookup("platform").StringValue()},
			} {
				if f.got != f.own+f.want {
					t.Errorf("%q, want %q", f.got, f.own+f.want)
				}
			}
		})
	}
}
