package main

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// checkGiven returns an error for the first flag of a command line that has an empty text as its value, or that is there a second time
// although it has one value only. Flags without effect are not checked.
func checkGiven(parsed *kong.Context) error {
	var seen []*kong.Flag
	for _, p := range parsed.Path {
		if p.Flag == nil || p.Flag.Group != nil && p.Flag.Group.Key == ineffective {
			continue
		}
		err := checkEmpty(p.Flag)
		if err == nil && slices.Contains(seen, p.Flag) && !p.Flag.IsBool() && !p.Flag.IsCumulative() {
			err = errors.New("the flag is there twice; it has one value")
		}
		if err != nil {
			return &flagError{fmt.Errorf("--%s: %w", p.Flag.Name, err), parsed}
		}
		seen = append(seen, p.Flag)
	}
	return nil
}

// flagError is an error about a flag of the command that was parsed.
type flagError struct {
	error

	parsed *kong.Context
}

// checkEmpty returns an error for a flag whose value is an empty text. Without it such a flag would be the same as one that was not
// given.
func checkEmpty(f *kong.Flag) error {
	if v := f.Target; v.Kind() == reflect.String && v.Len() == 0 {
		return errEmpty(f.Value)
	}
	return nil
}

func errEmpty(v *kong.Value) error {
	if v.Flag == nil || v.Flag.PlaceHolder == "" {
		return errors.New("the value is empty")
	}
	return fmt.Errorf("the value is empty; it must be %s", v.Flag.PlaceHolder)
}

// lists decodes flags with a list, each value of a repeated flag by itself, and refuses an empty element. The decoder of
// kong ignores empty elements at the end.
func lists() kong.Option {
	return kong.TypeMapper(reflect.TypeFor[[]string](), kong.MapperFunc(func(ctx *kong.DecodeContext, target reflect.Value) error {
		var text string
		if err := ctx.Scan.PopValueInto("list", &text); err != nil {
			return err
		}
		elements := []string{text}
		if separator := ctx.Value.Tag.Sep; separator != -1 {
			elements = strings.Split(text, string(separator))
		}
		for _, e := range elements {
			if e == "" {
				return errEmpty(ctx.Value)
			}
		}
		target.Set(reflect.AppendSlice(target, reflect.ValueOf(elements)))
		return nil
	}))
}
