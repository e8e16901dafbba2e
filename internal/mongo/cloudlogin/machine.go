package cloudlogin

import (
	"context"
	"net/http"
	"net/url"
	"strings"
)

const (
	machineService = "http://169.254.169.254/latest/"
	roles          = machineService + "meta-data/iam/security-credentials/"
	sessionHeader  = "X-aws-ec2-metadata-token"
	sessionSeconds = "30"
)

// machine asks the metadata service of an EC2 machine, in its second version. Source: Driver Authentication, "EC2 endpoint".
type machine struct{ client *http.Client }

func (m machine) get(ctx context.Context) (Key, error) {
	session, err := fetchShortly(ctx, m.client, http.MethodPut, machineService+"api/token", "", sessionHeader+"-ttl-seconds", sessionSeconds)
	if err != nil {
		return Key{}, err
	}
	role, err := fetchShortly(ctx, m.client, http.MethodGet, roles, "", sessionHeader, string(session))
	if err != nil {
		return Key{}, err
	}
	address := roles + url.PathEscape(strings.TrimSpace(string(role)))
	answer, err := fetchShortly(ctx, m.client, http.MethodGet, address, "", sessionHeader, string(session))
	if err != nil {
		return Key{}, err
	}
	return parseRoleKeys(roles, answer)
}
