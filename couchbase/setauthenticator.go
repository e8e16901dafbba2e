package couchbase

// SetAuthenticatorOptions are the options of [Cluster.SetAuthenticator].
type SetAuthenticatorOptions struct {
	// Authenticator has the new credentials. It must be of the kind that the cluster has: a name and a password, a token, or a certificate.
	Authenticator Authenticator
}

// SetAuthenticator replaces the authenticator of the cluster while it runs (RFC 0048, "Credential rotation"). It may be called at any
// time, from any goroutine, and uses no network itself.
//
//   - HTTP requests that begin afterwards have the new name and password, or the new token.
//   - Connections to nodes that are made afterwards log in with the new credential. Those that were refused are tried again at once.
//   - With a token, the connections to nodes that are open log in again with it, in the background and beside the operations that run.
//     One on which the node refuses that, or does not answer it within KVTimeout, is closed, and made anew; its operations fail or are
//     retried as if the node had closed it.
//   - With a name and a password, or a certificate, connections that are open stay as they are.
//   - A certificate is shown on connections that are made afterwards, to nodes and to HTTP services.
//
// An authenticator that Connect would refuse, or of another kind, is an error that matches [ErrInvalidArgument]; then nothing has
// changed. A credential that a server refuses is not an error of SetAuthenticator: the operations that need a new login return
// [ErrAuthenticationFailure].
func (c *Cluster) SetAuthenticator(opts SetAuthenticatorOptions) error {
	if err := c.usable(); err != nil {
		return err
	}
	credentials := c.settings.credentials
	first, err := credentials.accept(opts.Authenticator, "SetAuthenticatorOptions.Authenticator")
	if err != nil {
		return err
	}
	if kind := first.kind(); kind != credentials.kind {
		return invalid("SetAuthenticatorOptions.Authenticator has %s, but the cluster was connected with %s", kind, credentials.kind)
	}
	credentials.current.Store(&opts.Authenticator)
	c.cluster.CredentialChanged(credentials.kind == tokenKind)
	return nil
}
