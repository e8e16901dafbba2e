package cloudlogin

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"
	"time"
)

const containerService = "http://169.254.170.2/"

// container asks the ECS agent of a container. Source: Driver Authentication, "ECS endpoint".
type container struct{ client *http.Client }

func (c container) get(ctx context.Context) (Key, error) {
	path := os.Getenv("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI")
	if path == "" {
		return Key{}, errAbsent
	}
	address := containerService + strings.TrimPrefix(path, "/")
	answer, err := fetchShortly(ctx, c.client, http.MethodGet, address, "", "Accept", "application/json")
	if err != nil {
		return Key{}, err
	}
	return parseRoleKeys(containerService, answer)
}

// parseRoleKeys reads the keys of a role as the ECS agent and the metadata service of a machine write them.
func parseRoleKeys(service string, answer []byte) (Key, error) {
	var parsed struct {
		AccessKeyID     string `json:"AccessKeyId"`
		SecretAccessKey string
		Token           string
		Expiration      time.Time
	}
	if err := json.Unmarshal(answer, &parsed); err != nil {
		return Key{}, fmt.Errorf("the answer of %s: %w", service, err)
	}
	return Key{ID: parsed.AccessKeyID, Secret: parsed.SecretAccessKey, SessionToken: parsed.Token, Expires: parsed.Expiration}, nil
}
