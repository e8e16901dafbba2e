package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/alecthomas/kong"
)

// settingsFlags are the flags that a settings file cannot have.
var settingsFlags = []string{"settings", "help"}

// withSettings returns the command with the settings of its file, and with its flags, which take precedence. The settings are read as flags
// are, so they obey the same rules.
func (c *routerCommand) withSettings(s *session) (*routerCommand, error) {
	text, err := os.ReadFile(c.Settings)
	if err != nil {
		return nil, fmt.Errorf("--settings: %w", err)
	}
	list, err := parseSettings(text)
	if err != nil {
		return nil, fmt.Errorf("--settings %s: %w", c.Settings, err)
	}
	var args []string
	for _, one := range list {
		flags, err := one.flags()
		if err == nil {
			_, err = parseRouter(flags)
		}
		if err != nil {
			return nil, fmt.Errorf("--settings %s: %w", c.Settings, err)
		}
		if !slices.ContainsFunc(s.given, func(f *kong.Flag) bool { return f.Name == one.name }) {
			args = append(args, flags...)
		}
	}
	return parseRouter(append(args, s.args[1:]...))
}

// parseRouter parses flags of the command.
func parseRouter(args []string) (*routerCommand, error) {
	c := new(routerCommand)
	parser, err := kong.New(c, lists(), kong.Exit(func(int) {}))
	if err != nil {
		return nil, err
	}
	parsed, err := parser.Parse(args)
	if err == nil {
		err = checkGiven(parsed)
	}
	return c, err
}

// setting is one field of a settings file.
type setting struct {
	name  string
	value any
}

// parseSettings reads the fields of a JSON object, in their order.
func parseSettings(text []byte) ([]setting, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		return nil, errors.New("it must be a JSON object")
	}
	var list []setting
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, fmt.Errorf("it must be a JSON object: %w", err)
		}
		one := setting{name: key.(string)}
		if err := d.Decode(&one.value); err != nil {
			return nil, fmt.Errorf("%s: %w", one.name, err)
		}
		if slices.ContainsFunc(list, func(s setting) bool { return s.name == one.name }) {
			return nil, fmt.Errorf("%s is there twice; it must be there once", one.name)
		}
		list = append(list, one)
	}
	if _, err := d.Token(); err != nil {
		return nil, fmt.Errorf("it must be a JSON object: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("there is something after the JSON object; it must be the only one")
	}
	return list, nil
}

// flags returns the setting as flags of the command line.
func (s *setting) flags() ([]string, error) {
	f, err := settingFlag(s.name)
	if err != nil {
		return nil, err
	}
	values, err := s.texts(f.Target.Type())
	for i, v := range values {
		values[i] = "--" + s.name + "=" + v
	}
	return values, err
}

// settingFlag returns the flag of a setting.
func settingFlag(name string) (*kong.Flag, error) {
	parser, err := kong.New(new(routerCommand), lists())
	if err != nil {
		return nil, err
	}
	var known []string
	for _, f := range parser.Model.Flags {
		switch {
		case slices.Contains(settingsFlags, f.Name):
		case f.Name == name:
			return f, nil
		default:
			known = append(known, f.Name)
		}
	}
	return nil, fmt.Errorf("there is no setting %q; known are: %s", name, strings.Join(known, ", "))
}

var (
	durations = reflect.TypeFor[time.Duration]()
	textLists = reflect.TypeFor[[]string]()
)

// texts returns the value, or the values of a list, as a command line has them.
func (s *setting) texts(of reflect.Type) ([]string, error) {
	isNumber := of != durations && (of.Kind() == reflect.Int || of.Kind() == reflect.Int64)
	wanted := "a text"
	switch {
	case isNumber:
		wanted = "a number"
	case of.Kind() == reflect.Bool:
		wanted = "true or false"
	case of == durations:
		wanted = `a duration such as "20s"`
	case of == textLists:
		wanted = "a list of texts"
	}
	switch v := s.value.(type) {
	case json.Number:
		if isNumber {
			return []string{v.String()}, nil
		}
	case bool:
		if of.Kind() == reflect.Bool {
			return []string{strconv.FormatBool(v)}, nil
		}
	case string:
		if !isNumber && of != textLists && of.Kind() != reflect.Bool {
			return []string{v}, nil
		}
	case []any:
		if texts, ok := textsOf(v); ok && of == textLists {
			return texts, nil
		}
	}
	text, _ := json.Marshal(s.value)
	return nil, fmt.Errorf("%s is %s; it must be %s", s.name, text, wanted)
}

func textsOf(list []any) (texts []string, ok bool) {
	for _, v := range list {
		text, ok := v.(string)
		if !ok {
			return nil, false
		}
		texts = append(texts, text)
	}
	return texts, true
}
