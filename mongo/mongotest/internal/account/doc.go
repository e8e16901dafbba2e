// Package account is the users that a server knows: what it keeps of a name and a password, and how it shows them.
package account
