package mongotest

import (
	"errors"
	"fmt"
)

// AWSIdentity is somebody whom Amazon's Security Token Service knows, with an access key.
type AWSIdentity struct {
	// ARN is the Amazon Resource Name. It is the name of the user in $external.
	ARN string
	// AccessKeyID and SecretAccessKey are the access key.
	AccessKeyID, SecretAccessKey string
	// SessionToken belongs to a temporary key; empty if the key is a permanent one.
	SessionToken string
}

// AWS makes the servers accept MONGODB-AWS from clients with the key of one of the identities. The servers check the signature
// themselves, in place of the Security Token Service; a request that is more than 15 minutes old is refused, as there. Each identity
// becomes a user with the role root, and nobody else is let in who has not authenticated.
func AWS(identities ...AWSIdentity) Option {
	return deploymentOption(func(c *config) {
		c.awsIdentities = append(c.awsIdentities, identities...)
	})
}

func (c *config) checkAWS() error {
	for _, i := range c.awsIdentities {
		switch {
		case i.ARN == "":
			return errors.New("mongotest: AWS: the ARN of an identity is empty")
		case i.AccessKeyID == "" || i.SecretAccessKey == "":
			return fmt.Errorf("mongotest: AWS: the access key of %s is empty", i.ARN)
		}
	}
	return nil
}
