package main

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
)

// fileFlag is a flag whose value is the name of a file.
type fileFlag struct{ flag, path string }

// serverTLS returns the TLS configuration of a server with the certificate and the key of a file. With authorities clients need a certificate
// of one of them. TLS 1.2 is the least version. An error names the flag.
func serverTLS(certificate, authorities fileFlag) (*tls.Config, error) {
	pair, err := tls.LoadX509KeyPair(certificate.path, certificate.path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", certificate.flag, err)
	}
	config := &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}
	if authorities.path == "" {
		return config, nil
	}
	text, err := os.ReadFile(authorities.path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", authorities.flag, err)
	}
	config.ClientCAs, config.ClientAuth = x509.NewCertPool(), tls.RequireAndVerifyClientCert
	if !config.ClientCAs.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("%s: there is no certificate in %s", authorities.flag, authorities.path)
	}
	return config, nil
}
