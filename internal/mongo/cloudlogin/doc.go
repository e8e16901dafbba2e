// Package cloudlogin gets the keys of MONGODB-AWS and the access tokens of MONGODB-OIDC from where a cloud has them: environment
// variables, files, and the metadata services of machines and containers. Package auth uses them.
//
// The rules are those of the Driver Authentication specification, "Obtaining Credentials" and "Built-in OIDC Environment Integrations".
//
// Keys has a function for each place, in the specification's order. A place that is configured and fails ends the search: to go on would
// log the application in as somebody else, for example as the machine instead of the container.
//
// No secret is in an error: requests carry secrets in headers and bodies, and errors show addresses only.
//
// # Files
//
// Begin with keys.go (the search and what it keeps), then environment.go, webidentity.go, container.go and machine.go (the places) and
// sign.go; tokens.go has the token sources, fetch.go the requests.
package cloudlogin
