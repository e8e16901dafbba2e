package mongo

import (
	"fmt"
	"strings"
	"testing"
)

// FuzzConnectionString gives arbitrary connection strings to all that Connect does before any network use. An error never
// shows the password, which begins with a known text.
func FuzzConnectionString(f *testing.F) {
	const secret = "S3CR3T"
	for _, rest := range []string{
		"@localhost/", "@localhost/db?authMechanism=SCRAM-SHA-1&authSource=a", "%zz@localhost/", "/", "", "?x@localhost/?nonsense=1", ":27017/", "@h1,h2/?tls=true",
		"@localhost/?authMechanism=MONGODB-X509", "@localhost/?authMechanism=PLAIN&tls=yes", "@[::1]:99999/", "@%2Ftmp%2Fa.sock/", "%00@localhost",
		"@localhost/?tlsInsecure=true&tlsAllowInvalidHostnames=true", "@localhost/?tlsCAFile=%00", "@@/", ",b:1/", "]@[::1",
	} {
		f.Add(rest)
	}
	f.Fuzz(func(t *testing.T, rest string) {
		_, err := understand("mongodb://user:" + secret + rest)
		if err == nil {
			return
		}
		if text := fmt.Sprintf("%v %+v %#v", err, err, err); strings.Contains(text, secret) {
			t.Errorf("the error shows the password: %s", text)
		}
	})
}
