package shop

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"

	gocb "github.com/couchbase/gocb/v2"
)

// Handler returns the HTTP API of the shop. Bodies are JSON, an import has one product in each line, and the CAS of a product is its
// entity tag.
func Handler(s *Store) http.Handler {
	mux := http.NewServeMux()
	for pattern, f := range map[string]func(http.ResponseWriter, *http.Request) (any, error){
		"GET /health":                  s.getHealth,
		"POST /products":               s.postProduct,
		"GET /products":                s.getProducts,
		"GET /products/{sku}":          s.getProduct,
		"PUT /products/{sku}":          s.putProduct,
		"DELETE /products/{sku}":       s.deleteProduct,
		"GET /products/{sku}/offer":    s.getOffer,
		"GET /products/{sku}/copies":   s.getCopies,
		"POST /products/{sku}/tags":    s.postTag,
		"POST /products/{sku}/recount": s.postRecount,
		"PUT /products/{sku}/picture":  s.putPicture,
		"GET /products/{sku}/picture":  s.getPicture,
		"POST /import":                 s.postImport,
		"POST /carts/{customer}":       s.postCart,
		"GET /carts/{customer}":        s.getCart,
		"POST /orders":                 s.postOrder,
		"GET /orders/{id}":             s.getOrder,
		"GET /customers/{name}":        s.getOrders,
	} {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) { answer(w)(f(w, r)) })
	}
	return mux
}

var errBadRequest = errors.New("bad request")

// status returns the HTTP status of an error.
func status(err error) int {
	for _, c := range []struct {
		code int
		errs []error
	}{
		{http.StatusBadRequest, []error{errBadRequest, gocb.ErrInvalidArgument, gocb.ErrDeltaInvalid}},
		{http.StatusNotFound, []error{gocb.ErrDocumentNotFound, gocb.ErrDocumentUnretrievable}},
		{http.StatusConflict, []error{ErrSoldOut, gocb.ErrDocumentExists, gocb.ErrPathExists}},
		{http.StatusPreconditionFailed, []error{gocb.ErrCasMismatch}},
		{http.StatusLocked, []error{gocb.ErrDocumentLocked}},
		{http.StatusRequestEntityTooLarge, []error{gocb.ErrValueTooLarge}},
		{http.StatusGatewayTimeout, []error{gocb.ErrTimeout, context.DeadlineExceeded}},
	} {
		for _, one := range c.errs {
			if errors.Is(err, one) {
				return c.code
			}
		}
	}
	if err != nil {
		return http.StatusInternalServerError
	}
	return http.StatusOK
}

// problem is the body of an answer that says what failed.
type problem struct {
	Error    string `json:"error"`
	Document string `json:"document,omitempty"`
	Status   int    `json:"status,omitempty"`  // of the key-value protocol
	Retries  uint32 `json:"retries,omitempty"` // of the operation that failed
}

func explain(err error) problem {
	p := problem{Error: err.Error()}
	var kv *gocb.KeyValueError
	if errors.As(err, &kv) {
		p.Document, p.Status, p.Retries = kv.DocumentID, int(kv.StatusCode), kv.RetryAttempts
	}
	var late *gocb.TimeoutError
	if errors.As(err, &late) {
		p.Retries = late.RetryAttempts
	}
	return p
}

func answer(w http.ResponseWriter) func(any, error) {
	return func(v any, err error) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status(err))
		if err != nil {
			v = explain(err)
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

func number(name, text string) (int64, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 1 {
		return 0, fmt.Errorf("%w: %s is %q; it must be a number from 1", errBadRequest, name, text)
	}
	return n, nil
}

func setTag(w http.ResponseWriter, cas gocb.Cas) {
	w.Header().Set("ETag", fmt.Sprintf("%q", strconv.FormatUint(uint64(cas), 16)))
}

func (s *Store) getHealth(_ http.ResponseWriter, r *http.Request) (any, error) {
	return s.Health(r.Context())
}

func (s *Store) postProduct(w http.ResponseWriter, r *http.Request) (any, error) {
	p, err := body[Product](r)
	if err != nil {
		return nil, err
	}
	cas, err := s.Add(r.Context(), p)
	setTag(w, cas)
	return p, err
}

func (s *Store) getProducts(_ http.ResponseWriter, r *http.Request) (any, error) {
	return s.Several(r.Context(), r.URL.Query()["sku"])
}

func (s *Store) getProduct(w http.ResponseWriter, r *http.Request) (any, error) {
	p, cas, err := s.Product(r.Context(), r.PathValue("sku"))
	setTag(w, cas)
	return p, err
}

func (s *Store) putProduct(w http.ResponseWriter, r *http.Request) (any, error) {
	p, err := body[Product](r)
	if err != nil {
		return nil, err
	}
	var text string
	if _, err := fmt.Sscanf(r.Header.Get("If-Match"), "%q", &text); err != nil {
		return nil, fmt.Errorf("%w: If-Match: %w", errBadRequest, err)
	}
	cas, err := strconv.ParseUint(text, 16, 64)
	if err != nil {
		return nil, fmt.Errorf("%w: If-Match: %w", errBadRequest, err)
	}
	p.SKU = r.PathValue("sku")
	newest, err := s.Change(r.Context(), p, gocb.Cas(cas))
	setTag(w, newest)
	return p, err
}

func (s *Store) deleteProduct(_ http.ResponseWriter, r *http.Request) (any, error) {
	return "gone", s.Discontinue(r.Context(), r.PathValue("sku"))
}

func (s *Store) getOffer(_ http.ResponseWriter, r *http.Request) (any, error) {
	return s.Offer(r.Context(), r.PathValue("sku"))
}

func (s *Store) getCopies(_ http.ResponseWriter, r *http.Request) (any, error) {
	return s.Copies(r.Context(), r.PathValue("sku"))
}

func (s *Store) postTag(_ http.ResponseWriter, r *http.Request) (any, error) {
	tag, err := body[string](r)
	if err != nil {
		return nil, err
	}
	return tag, s.Tag(r.Context(), r.PathValue("sku"), tag)
}

func (s *Store) postRecount(_ http.ResponseWriter, r *http.Request) (any, error) {
	return "counted", s.Recount(r.Context(), r.PathValue("sku"), func(Product) (int64, error) { return body[int64](r) })
}

func (s *Store) putPicture(_ http.ResponseWriter, r *http.Request) (any, error) {
	data, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	return len(data), s.SetPicture(r.Context(), r.PathValue("sku"), data, r.URL.Query().Has("more"))
}

func (s *Store) getPicture(_ http.ResponseWriter, r *http.Request) (any, error) {
	data, err := s.Picture(r.Context(), r.PathValue("sku"))
	return string(data), err
}

func (s *Store) postImport(_ http.ResponseWriter, r *http.Request) (any, error) {
	var products []Product
	lines := bufio.NewScanner(r.Body)
	lines.Buffer(nil, 32<<20)
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

func (s *Store) postCart(_ http.ResponseWriter, r *http.Request) (any, error) {
	line, err := body[Line](r)
	if err != nil {
		return nil, err
	}
	return s.Choose(r.Context(), r.PathValue("customer"), line.SKU, line.Quantity)
}

func (s *Store) getCart(_ http.ResponseWriter, r *http.Request) (any, error) {
	return s.Cart(r.Context(), r.PathValue("customer"))
}

func (s *Store) postOrder(_ http.ResponseWriter, r *http.Request) (any, error) {
	o, err := body[Order](r)
	if err != nil {
		return nil, err
	}
	return s.Place(r.Context(), o)
}

func (s *Store) getOrder(_ http.ResponseWriter, r *http.Request) (any, error) {
	return s.Order(r.Context(), r.PathValue("id"))
}

func (s *Store) getOrders(_ http.ResponseWriter, r *http.Request) (any, error) {
	limit, err := number("limit", r.URL.Query().Get("limit"))
	if err != nil {
		return nil, err
	}
	return s.OrdersOf(r.Context(), r.PathValue("name"), int(limit))
}
