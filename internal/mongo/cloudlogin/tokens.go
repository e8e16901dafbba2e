package cloudlogin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"

	"github.com/holdfast-db/holdfast/internal/base/shortanswer"
	"github.com/holdfast-db/holdfast/internal/mongo/auth"
)

// Azure returns the tokens of the metadata service of an Azure machine, for a resource. clientID names a managed identity; it may be
// empty.
func Azure(client *http.Client, resource, clientID string) auth.TokenSource {
	query := url.Values{"api-version": {"2018-02-01"}, "resource": {resource}}
	if clientID != "" {
		query.Set("client_id", clientID)
	}
	address := "http://169.254.169.254/metadata/identity/oauth2/token?" + query.Encode()
	return func(ctx context.Context, _ auth.TokenRequest) (auth.Token, error) {
		answer, err := fetchToken(ctx, client, address, "Accept", "application/json", "Metadata", "true")
		if err != nil {
			return auth.Token{}, err
		}
		var parsed struct {
			AccessToken string `json:"access_token"`
		}
		if err := json.Unmarshal(answer, &parsed); err != nil {
			return auth.Token{}, fmt.Errorf("the answer of %s: %w", address, err)
		}
		return auth.Token{Access: parsed.AccessToken}, nil
	}
}

// GCP returns the tokens of the metadata service of a Google Cloud machine, for a resource.
func GCP(client *http.Client, resource string) auth.TokenSource {
	address := "http://metadata/computeMetadata/v1/instance/service-accounts/default/identity?" + url.Values{"audience": {resource}}.Encode()
	return func(ctx context.Context, _ auth.TokenRequest) (auth.Token, error) {
		answer, err := fetchToken(ctx, client, address, "Metadata-Flavor", "Google")
		return auth.Token{Access: strings.TrimSpace(string(answer))}, err
	}
}

// fetchToken is fetch with the body of the answer in the error, as the specification demands.
func fetchToken(ctx context.Context, client *http.Client, address string, header ...string) ([]byte, error) {
	answer, err := fetch(ctx, client, http.MethodGet, address, "", header...)
	var status *shortanswer.StatusError
	if errors.As(err, &status) {
		return nil, fmt.Errorf("%w: %s", err, status.Body)
	}
	return answer, err
}

// Kubernetes returns the token of the service account of a pod.
func Kubernetes(context.Context, auth.TokenRequest) (auth.Token, error) {
	file := "/var/run/secrets/kubernetes.io/serviceaccount/token"
	for _, variable := range []string{"AZURE_FEDERATED_TOKEN_FILE", "AWS_WEB_IDENTITY_TOKEN_FILE"} {
		if path := os.Getenv(variable); path != "" {
			file = path
			break
		}
	}
	return readToken(file)
}

// File returns the token in the file that OIDC_TOKEN_FILE names: the environment "test" of the specification.
func File(context.Context, auth.TokenRequest) (auth.Token, error) {
	return readToken(os.Getenv("OIDC_TOKEN_FILE"))
}

func readToken(file string) (auth.Token, error) {
	content, err := os.ReadFile(file)
	return auth.Token{Access: strings.TrimSpace(string(content))}, err
}
