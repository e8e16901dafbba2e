package shop

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Handler returns the HTTP API of the shop. Bodies are JSON, an import has one product in each line, and the feed sends one change
// in each line.
func Handler(s *Store) http.Handler {
	mux := http.NewServeMux()
	for pattern, f := range map[string]func(*http.Request) (any, error){
		"GET /health":              s.getHealth,
		"POST /products":           s.postProduct,
		"GET /products":            s.getProducts,
		"GET /products/{sku}":      s.getProduct,
		"PUT /products/{sku}":      s.putPrice,
		"DELETE /products/{sku}":   s.deleteProduct,
		"POST /import":             s.postImport,
		"GET /categories":          s.getCategories,
		"POST /categories/{name}":  s.postDiscount,
		"POST /orders":             s.postOrder,
		"GET /customers/{name}":    s.getOrders,
		"POST /orders/{id}/cancel": s.postCancel,
		"GET /report":              s.getReport,
	} {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) { answer(w)(f(r)) })
	}
	mux.HandleFunc("GET /feed", s.serveFeed)
	return mux
}

var errBadRequest = errors.New("bad request")

// status returns the HTTP status of an error.
func status(err error) int {
	switch {
	case err == nil:
		return http.StatusOK
	case errors.Is(err, errBadRequest):
		return http.StatusBadRequest
	case errors.Is(err, mongo.ErrNoDocuments):
		return http.StatusNotFound
	case errors.Is(err, ErrSoldOut), errors.Is(err, ErrStale), mongo.IsDuplicateKeyError(err):
		return http.StatusConflict
	case mongo.IsTimeout(err):
		return http.StatusGatewayTimeout
	case mongo.IsNetworkError(err):
		return http.StatusServiceUnavailable
	}
	var refused mongo.WriteException
	if errors.As(err, &refused) && refused.HasErrorCode(codeInvalid) {
		return http.StatusUnprocessableEntity
	}
	return http.StatusInternalServerError
}

const codeInvalid = 121 // DocumentValidationFailure

func answer(w http.ResponseWriter) func(any, error) {
	return func(v any, err error) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status(err))
		if err != nil {
			v = map[string]string{"error": err.Error()}
		}
		_ = json.NewEncoder(w).Encode(v) // the client has gone
	}
}

func body[T any](r *http.Request) (T, error) {
	var v T
	if err := json.NewDecoder(r.Body).Decode(&v); err != nil {
		return v, fmt.Errorf("%w: %w", errBadRequest, err)
	}
	return v, nil
}

func (s *Store) getHealth(r *http.Request) (any, error) { return "well", s.Healthy(r.Context()) }

func (s *Store) postProduct(r *http.Request) (any, error) {
	p, err := body[Product](r)
	if err != nil {
		return nil, err
	}
	return p, s.Add(r.Context(), p)
}

func (s *Store) getProducts(r *http.Request) (any, error) {
	q := r.URL.Query()
	size, err := strconv.ParseInt(q.Get("size"), 10, 64)
	if err != nil || size < 1 {
		return nil, fmt.Errorf("%w: size is %q; it must be a number from 1", errBadRequest, q.Get("size"))
	}
	return s.List(r.Context(), q.Get("category"), q.Get("after"), size)
}

func (s *Store) getProduct(r *http.Request) (any, error) {
	return s.Product(r.Context(), r.PathValue("sku"))
}

func (s *Store) putPrice(r *http.Request) (any, error) {
	p, err := body[Product](r)
	if err != nil {
		return nil, err
	}
	return s.Reprice(r.Context(), r.PathValue("sku"), p.Version, p.Cents)
}

func (s *Store) deleteProduct(r *http.Request) (any, error) {
	return s.Discontinue(r.Context(), r.PathValue("sku"))
}

func (s *Store) postImport(r *http.Request) (any, error) {
	var products []Product
	lines := bufio.NewScanner(r.Body)
	for lines.Scan() {
		var p Product
		if err := json.Unmarshal(lines.Bytes(), &p); err != nil {
			return nil, fmt.Errorf("%w: line %d: %w", errBadRequest, len(products)+1, err)
		}
		products = append(products, p)
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	return s.Import(r.Context(), products)
}

func (s *Store) getCategories(r *http.Request) (any, error) { return s.Categories(r.Context()) }

func (s *Store) postDiscount(r *http.Request) (any, error) {
	percent, err := strconv.Atoi(r.URL.Query().Get("percent"))
	if err != nil || percent < 1 || percent > 99 {
		return nil, fmt.Errorf("%w: percent must be a number from 1 to 99", errBadRequest)
	}
	return s.Discount(r.Context(), r.PathValue("name"), percent)
}

func (s *Store) postOrder(r *http.Request) (any, error) {
	o, err := body[Order](r)
	if err != nil {
		return nil, err
	}
	return s.Place(r.Context(), o.Customer, o.Lines)
}

func (s *Store) getOrders(r *http.Request) (any, error) {
	return s.OrdersOf(r.Context(), r.PathValue("name"), 100)
}

func (s *Store) postCancel(r *http.Request) (any, error) {
	id, err := bson.ObjectIDFromHex(r.PathValue("id"))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errBadRequest, err)
	}
	return cancelled, s.Cancel(r.Context(), id)
}

func (s *Store) getReport(r *http.Request) (any, error) { return s.Report(r.Context()) }

func (s *Store) serveFeed(w http.ResponseWriter, r *http.Request) {
	flush := func() { _ = http.NewResponseController(w).Flush() }
	send := json.NewEncoder(w)
	err := s.Feed(r.Context(), r.URL.Query().Get("after"), flush, func(c Change) error {
		defer flush()
		return send.Encode(c)
	})
	if err != nil && r.Context().Err() == nil {
		_ = send.Encode(map[string]string{"error": err.Error()}) // the client has gone
	}
}
