package cloudlogin

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/holdfast-db/holdfast/internal/base/shortanswer"
)

const (
	// fetchTime limits one request. Source: Driver Authentication, "ECS endpoint" (it names the ECS and EC2 endpoints).
	fetchTime = 10 * time.Second
	// maxBody limits an answer. Tokens and keys have some thousand bytes.
	maxBody = 1 << 20
)

// fetch sends a request and returns the body of the answer, whose status must be 200. The connection is not kept. Errors show the host
// only: the path can be a secret of a container.
func fetch(ctx context.Context, client *http.Client, method, address, body string, header ...string) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, method, address, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	for i := 0; i+1 < len(header); i += 2 {
		request.Header.Set(header[i], header[i+1])
	}
	content, err := shortanswer.Get(client, request, maxBody)
	var status *shortanswer.StatusError
	var failed *url.Error
	switch {
	case errors.As(err, &status):
		return nil, err
	case errors.As(err, &failed):
		return nil, fmt.Errorf("%s: %w", request.URL.Host, failed.Err)
	case err != nil:
		return nil, fmt.Errorf("%s: %w", request.URL.Host, err)
	}
	return content, nil
}

// fetchShortly is fetch with a time limit of its own.
func fetchShortly(ctx context.Context, client *http.Client, method, address, body string, header ...string) ([]byte, error) {
	limited, cancel := context.WithTimeout(ctx, fetchTime)
	defer cancel()
	content, err := fetch(limited, client, method, address, body, header...)
	if err != nil && ctx.Err() == nil && errors.Is(limited.Err(), context.DeadlineExceeded) {
		return nil, fmt.Errorf("no answer within %v: %w", fetchTime, err)
	}
	return content, err
}
