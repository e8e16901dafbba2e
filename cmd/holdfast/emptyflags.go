package main

import (
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/alecthomas/kong"
)

// checkEmpty returns an error for the first flag of the command line whose value is an empty text. Without it such a
// flag would be the same as one that was not given. Flags without effect are not checked.
func checkEmpty(path []*kong.Path) error {
	for _, p := range path {
		if p.Flag == nil || p.Flag.Group != nil && p.Flag.Group.Key == ineffective {
			continue
		}
		if v := p.Flag.Target; v.Kind() == reflect.String && v.Len() == 0 {
			return fmt.Errorf("--%s: %w", p.Flag.Name, errEmpty(p.Flag.Value))
		}
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
