package unified

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// expectedError holds the conditions on an operation's error.
type expectedError struct {
	IsError            bool            `bson:"isError"`
	IsClientError      *bool           `bson:"isClientError"`
	IsTimeoutError     *bool           `bson:"isTimeoutError"`
	ErrorContains      string          `bson:"errorContains"`
	ErrorCode          *int64          `bson:"errorCode"`
	ErrorCodeName      string          `bson:"errorCodeName"`
	ErrorLabelsContain []string        `bson:"errorLabelsContain"`
	ErrorLabelsOmit    []string        `bson:"errorLabelsOmit"`
	ErrorResponse      bson.RawValue   `bson:"errorResponse"`
	ExpectResult       bson.RawValue   `bson:"expectResult"`
	WriteErrors        bson.RawValue   `bson:"writeErrors"`
	WriteConcernErrors []bson.RawValue `bson:"writeConcernErrors"`
}

// matchError returns the first thing that is not true.
func (c *run) matchError(want *expectedError, result any, err error) error {
	server := serverErrorOf(err)
	isClient := server == nil
	if failure := cmp.Or(
		equal("isClientError", want.IsClientError, isClient),
		equal("isTimeoutError", want.IsTimeoutError, mongoIsTimeout(err)),
		matchCodes(want, server),
		matchLabels(want, err),
	); failure != nil {
		return failure
	}
	if !strings.Contains(strings.ToLower(err.Error()), strings.ToLower(want.ErrorContains)) {
		return fmt.Errorf("want a text that contains %q", want.ErrorContains)
	}
	m := matcher{c.entities}
	if want.ErrorResponse.Type != 0 {
		if err := m.matchResponse(want.ErrorResponse, server); err != nil {
			return fmt.Errorf("errorResponse: %w", err)
		}
	}
	if err := m.matchBulkErrors(want, err); err != nil {
		return err
	}
	if want.ExpectResult.Type != 0 {
		if err := c.matchResult(want.ExpectResult, result); err != nil {
			return fmt.Errorf("expectResult: %w", err)
		}
	}
	return nil
}

// serverError is what a server's answers said, in whichever of the client's types it came.
type serverError struct {
	codes     []int
	names     []string
	responses []bson.Raw
}

func (s *serverError) add(code int, name string, raw bson.Raw) {
	s.codes = append(s.codes, code)
	s.names = append(s.names, name)
	if raw != nil {
		s.responses = append(s.responses, raw)
	}
}

// serverErrorOf returns nil if the error comes from the client itself.
func serverErrorOf(err error) *serverError {
	s := new(serverError)
	var command mongoCommandError
	var write mongoWriteException
	var bulk mongoBulkError
	var clientBulk mongoClientBulkError
	if errors.As(err, &command) && (command.Code != 0 || command.Raw != nil) {
		s.add(int(command.Code), command.Name, command.Raw)
	}
	if errors.As(err, &write) {
		for _, e := range write.WriteErrors {
			s.add(e.Code, codeName(e.Code), write.Raw)
		}
		s.addWriteConcernError(write.WriteConcernError, write.Raw)
	}
	if errors.As(err, &bulk) {
		for _, e := range bulk.WriteErrors {
			s.add(e.Code, codeName(e.Code), e.Raw)
		}
		s.addWriteConcernError(bulk.WriteConcernError, nil)
	}
	if errors.As(err, &clientBulk) {
		if e := clientBulk.WriteError; e != nil {
			s.add(e.Code, codeName(e.Code), e.Raw)
		}
	}
	if len(s.codes) == 0 && len(clientBulk.WriteErrors) == 0 && len(clientBulk.WriteConcernErrors) == 0 {
		return nil
	}
	return s
}

func (s *serverError) addWriteConcernError(e *mongoWriteConcernError, response bson.Raw) {
	if e != nil {
		s.add(e.Code, e.Name, response)
	}
}

// codeName names the codes of write errors, for which clients keep no name.
func codeName(code int) string {
	names := map[int]string{
		50: "MaxTimeMSExpired", 112: "WriteConflict", 251: "NoSuchTransaction", 263: "OperationNotSupportedInTransaction",
		11000: "DuplicateKey", 11601: "Interrupted",
	}
	return names[code]
}

func matchCodes(want *expectedError, got *serverError) error {
	if got == nil {
		if want.ErrorCode != nil || want.ErrorCodeName != "" {
			return errors.New("want an error of the server")
		}
		return nil
	}
	if want.ErrorCode != nil && !slices.Contains(got.codes, int(*want.ErrorCode)) {
		return fmt.Errorf("want the code %d, got %d", *want.ErrorCode, got.codes)
	}
	same := func(name string) bool { return strings.EqualFold(name, want.ErrorCodeName) }
	if want.ErrorCodeName != "" && !slices.ContainsFunc(got.names, same) {
		return fmt.Errorf("want the code's name %s, got %q", want.ErrorCodeName, got.names)
	}
	return nil
}

func matchLabels(want *expectedError, err error) error {
	var labelled mongoLabeledError
	has := func(label string) bool { return errors.As(err, &labelled) && labelled.HasErrorLabel(label) }
	for _, label := range want.ErrorLabelsContain {
		if !has(label) {
			return fmt.Errorf("want the label %s", label)
		}
	}
	for _, label := range want.ErrorLabelsOmit {
		if has(label) {
			return fmt.Errorf("the label %s is not wanted", label)
		}
	}
	return nil
}

func (m *matcher) matchResponse(want bson.RawValue, got *serverError) error {
	failure := errors.New("there is no response of the server")
	if got == nil {
		return failure
	}
	for _, response := range got.responses {
		if failure = m.match(want, documentValue(response), true); failure == nil {
			return nil
		}
	}
	return failure
}

// matchBulkErrors compares the single errors of a client's bulk write.
func (m *matcher) matchBulkErrors(want *expectedError, err error) error {
	if want.WriteErrors.Type == 0 && want.WriteConcernErrors == nil {
		return nil
	}
	var bulk mongoClientBulkError
	if !errors.As(err, &bulk) {
		return fmt.Errorf("want the error of a client's bulk write, got %T", err)
	}
	if doc, ok := want.WriteErrors.DocumentOK(); ok {
		if err := m.matchWriteErrors(doc, bulk.WriteErrors); err != nil {
			return fmt.Errorf("writeErrors: %w", err)
		}
	}
	if want.WriteConcernErrors == nil {
		return nil
	}
	if len(bulk.WriteConcernErrors) != len(want.WriteConcernErrors) {
		return fmt.Errorf("want %d writeConcernErrors, got %v", len(want.WriteConcernErrors), bulk.WriteConcernErrors)
	}
	for i, e := range bulk.WriteConcernErrors {
		if err := m.matchModel(want.WriteConcernErrors[i], e.Code, e.Message, e.Details); err != nil {
			return fmt.Errorf("writeConcernErrors: %d: %w", i, err)
		}
	}
	return nil
}

func (m *matcher) matchWriteErrors(want bson.Raw, got map[int]mongoWriteError) error {
	elements, err := want.Elements()
	if err != nil {
		return err
	}
	if len(elements) != len(got) {
		return fmt.Errorf("want %v, got %v", want, got)
	}
	for _, e := range elements {
		index, err := strconv.Atoi(e.Key())
		if err != nil {
			return err
		}
		one, ok := got[index]
		if !ok {
			return fmt.Errorf("%d: want %v, got %v", index, e.Value(), got)
		}
		if err := m.matchModel(e.Value(), one.Code, one.Message, one.Details); err != nil {
			return fmt.Errorf("%d: %w", index, err)
		}
	}
	return nil
}

// matchModel compares one error of a bulk write.
func (m *matcher) matchModel(want bson.RawValue, code int, message string, details bson.Raw) error {
	model := bson.D{{Key: "code", Value: code}, {Key: "message", Value: message}}
	if details != nil {
		model = append(model, bson.E{Key: "details", Value: details})
	}
	got, err := resultValue(model)
	if err != nil {
		return err
	}
	return m.match(want, got, true)
}
