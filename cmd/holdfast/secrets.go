package main

import "regexp"

// The secrets of a connection string: the password, with or without a scheme before the user, and the options that have one.
var (
	userAndPassword = regexp.MustCompile(`((?:[a-zA-Z][a-zA-Z0-9+.-]*://)?[^\s:/@"']+):\S+@`)
	secretOptions   = regexp.MustCompile(`(?i)(tlsCertificateKeyFilePassword=|sslClientCertificateKeyPassword=|AWS_SESSION_TOKEN:)[^\s&,"']+`)
)

// withoutSecrets returns a text in which *** stands for each password.
func withoutSecrets(text string) string {
	return secretOptions.ReplaceAllString(userAndPassword.ReplaceAllString(text, "${1}:***@"), "${1}***")
}
