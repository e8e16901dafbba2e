package mongotest

import (
	"errors"
	"fmt"
	"regexp"
	"time"
)

// IdentityProvider is one whose access tokens the servers accept for MONGODB-OIDC.
type IdentityProvider struct {
	// Issuer, ClientID and RequestScopes are what the servers tell a client whose user has to ask a person for a token. A provider
	// without ClientID is for machines.
	Issuer, ClientID string
	RequestScopes    []string
	// MatchPattern is a regular expression: the provider is for the users whose names it matches; for all if it is empty.
	MatchPattern string
	// Accept returns whose token it is, with an error if it is nobody's. A real server checks the signature of the token. It is called
	// for one login at a time of each connection, from several goroutines.
	Accept func(token string) (TokenOwner, error)
}

// TokenOwner is who a token is of.
type TokenOwner struct {
	// Name is the name of the user in $external. One who is not there yet becomes a user with the role root.
	Name string
	// Expires is when the token ends; never if it is zero. A command afterwards is refused with ReauthenticationRequired (391).
	Expires time.Time
}

// OIDC makes the servers accept MONGODB-OIDC with the tokens of the providers. Nobody else is let in who has not authenticated.
func OIDC(providers ...IdentityProvider) Option {
	return deploymentOption(func(c *config) { c.providers = append(c.providers, providers...) })
}

func (c *config) checkOIDC() error {
	for _, p := range c.providers {
		if p.Accept == nil {
			return errors.New("mongotest: OIDC: the Accept of a provider is nil")
		}
		if _, err := regexp.Compile(p.MatchPattern); err != nil {
			return fmt.Errorf("mongotest: OIDC: MatchPattern: %w", err)
		}
	}
	return nil
}

// provider returns the one for a user whose name may be empty, nil if it is not clear which. Only one may be for all users.
func (c *config) provider(name string) *IdentityProvider {
	if name == "" {
		if len(c.providers) == 1 {
			return &c.providers[0]
		}
		return nil
	}
	for i, p := range c.providers {
		if regexp.MustCompile(p.MatchPattern).MatchString(name) {
			return &c.providers[i]
		}
	}
	return nil
}
