package cloudlogin

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"
)

// earlier is how long before their end keys are used no more. Source: Driver Authentication, "Caching Credentials".
const earlier = 5 * time.Minute

// Key is an access key of AWS.
type Key struct {
	ID, Secret   string
	SessionToken string    // empty if the key is a permanent one
	Expires      time.Time // zero if it does not expire
}

// String shows nothing of the key.
func (Key) String() string { return "AWS access key" }

// GoString returns the same as String.
func (k Key) GoString() string { return k.String() }

// Format prints the same as String for every verb.
func (k Key) Format(f fmt.State, _ rune) { _, _ = fmt.Fprint(f, k.String()) }

// place is where keys may be. It returns errAbsent if it is not configured.
type place struct {
	name string
	get  func(context.Context) (Key, error)
}

var (
	errAbsent     = errors.New("not configured")
	errIncomplete = errors.New("the access key ID or the secret access key is empty")
)

// Keys searches for keys, and keeps those that expire. It is safe for concurrent use. Logins that find nothing kept search side by
// side: a lock would make the connections of a pool wait for each other.
type Keys struct {
	places []place

	mu   sync.Mutex
	kept Key // empty: none
}

// Provider is the application's own source of keys.
type Provider func(context.Context) (Key, error)

// NewKeys returns the keys of a client: those that were given with the credential, else those of the provider if it is not nil, else
// those of the environment.
func NewKeys(given Key, provider Provider, client *http.Client) *Keys {
	k := &Keys{}
	switch {
	case given.ID != "":
		k.places = []place{{"the credential", func(context.Context) (Key, error) { return given, nil }}}
	case provider != nil:
		k.places = []place{{"AWSCredentialsProvider", provider}}
	default:
		k.places = []place{
			{"the environment", fromEnvironment},
			{"the web identity", webIdentity{client}.get},
			{"the container", container{client}.get},
			{"the machine", machine{client}.get},
		}
	}
	return k
}

// get returns kept keys, or those of the first place that has any.
func (k *Keys) get(ctx context.Context) (Key, error) {
	if kept, ok := k.current(); ok {
		return kept, nil
	}
	for _, place := range k.places {
		found, err := place.get(ctx)
		if errors.Is(err, errAbsent) {
			continue
		}
		if err == nil && (found.ID == "" || found.Secret == "") {
			err = errIncomplete
		}
		if err != nil {
			return Key{}, fmt.Errorf("the AWS keys of %s: %w", place.name, err)
		}
		k.keep(found)
		return found, nil
	}
	return Key{}, errAbsent
}

func (k *Keys) current() (Key, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if time.Until(k.kept.Expires) <= earlier {
		return Key{}, false
	}
	return k.kept, true
}

// keep keeps keys that expire. Others cost nothing to get, and may be changed at any time.
func (k *Keys) keep(found Key) {
	if found.Expires.IsZero() {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.kept = found
}

// Forget drops kept keys.
func (k *Keys) Forget() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.kept = Key{}
}
