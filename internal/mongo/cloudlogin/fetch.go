package cloudlogin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

const (
	// fetchTime limits one request. Source: Driver Authentication, "ECS endpoint" (it names the ECS and EC2 endpoints).
	fetchTime = 10 * time.Second
	// maxBody limits an answer. Tokens and keys have some thousand bytes.
	maxBody = 1 << 20
)

// statusError is an answer with another status than 200.
type statusError struct {
	host, status, body string
}

func (e *statusError) Error() string {
	return fmt.Sprintf("%s answers with the status %q", e.host, e.status)
}

// fetch sends a request and returns the body of the answer, whose status must be 200. The connection is not kept. Errors show the host
// only: the path can be a secret of a container.
func fetch(ctx context.Context, client *http.Client, method, address, body string, header ...string) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, method, address, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Close = true
	for i := 0; i+1 < len(header); i += 2 {
		request.Header.Set(header[i], header[i+1])
	}
	host := request.URL.Host
	response, err := client.Do(request)
	var failed *url.Error
	switch {
	case errors.As(err, &failed):
		return nil, fmt.Errorf("%s: %w", host, failed.Err)
	case err != nil:
		return nil, err
	}
	defer func() { _ = response.Body.Close() }()
	content, err := io.ReadAll(io.LimitReader(response.Body, maxBody+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: %w", host, err)
	case response.StatusCode != http.StatusOK:
		return nil, &statusError{host: host, status: response.Status, body: string(content)}
	case len(content) > maxBody:
		return nil, fmt.Errorf("%s: the answer has more than %d bytes", host, maxBody)
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
