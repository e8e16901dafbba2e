package inspect

import (
	"crypto/tls"
	"crypto/x509"
	"time"
)

// Certificates that end within these times are a problem, or worth a warning.
const (
	certificateProblem = 7 * 24 * time.Hour
	certificateWarning = 30 * 24 * time.Hour
)

func (c *judge) certificates() {
	for _, s := range c.facts.Servers {
		switch {
		case s.CertificateErr != nil:
			c.notChecked(idCertificate, s.Address, s.CertificateErr)
		case !s.CertificateEnd.IsZero():
			c.certificate(s.Address, "its", s.CertificateEnd)
		}
	}
	if cfg := c.facts.Options.TLSConfig; cfg != nil {
		for i := range cfg.Certificates {
			if own := leaf(&cfg.Certificates[i]); own != nil {
				c.certificate("", "the client's", own.NotAfter)
			}
		}
	}
}

// certificate checks the end of one certificate.
func (c *judge) certificate(subject, whose string, end time.Time) {
	at, left := end.UTC().Format(time.RFC3339), end.Sub(c.facts.At)
	if left < 0 {
		c.add(idCertificate, Problem, subject, "%s certificate ended at %s", whose, at)
		return
	}
	level := levelIf(left < certificateWarning, Warning)
	if left < certificateProblem {
		level = Problem
	}
	c.add(idCertificate, level, subject, "%s certificate ends in %s, at %s", whose, counted(int(left.Hours()/24), "day"), at)
}

// leaf returns the certificate itself, nil if it cannot be parsed.
func leaf(c *tls.Certificate) *x509.Certificate {
	if c.Leaf != nil || len(c.Certificate) == 0 {
		return c.Leaf
	}
	parsed, err := x509.ParseCertificate(c.Certificate[0])
	if err != nil {
		return nil
	}
	return parsed
}
