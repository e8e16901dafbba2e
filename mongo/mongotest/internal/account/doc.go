// Package account has the users that a server knows: the stored keys of their passwords, and the form in which commands show
// them.
package account
