// Package account has the users and roles that a server knows: the stored keys of passwords, the privileges of roles, and the form in
// which commands show them.
package account
