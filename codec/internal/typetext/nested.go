package typetext

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow"
)

// within names the type of an element or field, with its question mark.
func within(f arrow.Field) string {
	if f.Nullable {
		return Name(f.Type) + "?"
	}
	return Name(f.Type)
}

// fieldName is the name of a struct's field: in quotes where it is more than a word.
func fieldName(name string) string {
	word := func(r rune) bool {
		return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' || r == '-' || r == '.'
	}
	if name == "" || !utf8.ValidString(name) || strings.ContainsFunc(name, func(r rune) bool { return !word(r) }) {
		return strconv.Quote(name)
	}
	return name
}

// element reads what within gives.
func element(name, text string) (arrow.Field, error) {
	text, nullable := strings.CutSuffix(text, "?")
	t, err := parse(text)
	if err != nil {
		return arrow.Field{}, err
	}
	if t.ID() == arrow.DICTIONARY {
		return arrow.Field{}, fmt.Errorf("a nested column holds no dictionary")
	}
	return arrow.Field{Name: name, Type: t, Nullable: nullable}, nil
}

// nested reads a list, a map or a struct.
func nested(word string, args []string) (arrow.DataType, error) {
	switch word {
	case "struct":
		return structOf(args)
	case "map":
		if len(args) != 2 {
			return nil, fmt.Errorf("want map[key,value]")
		}
		key, err := element("key", args[0])
		if err != nil {
			return nil, err
		}
		value, err := element("value", args[1])
		if err != nil {
			return nil, err
		}
		if key.Nullable {
			return nil, fmt.Errorf("the key of a map is never null")
		}
		m := arrow.MapOf(key.Type, value.Type)
		m.SetItemNullable(value.Nullable)
		return m, nil
	}
	if len(args) != 1 {
		return nil, fmt.Errorf("want %s[element]", word)
	}
	e, err := element("item", args[0])
	if err != nil {
		return nil, err
	}
	if word == "large_list" {
		return arrow.LargeListOfField(e), nil
	}
	return arrow.ListOfField(e), nil
}

func structOf(args []string) (arrow.DataType, error) {
	fields := make([]arrow.Field, 0, len(args))
	seen := map[string]bool{}
	for _, a := range args {
		name, text, ok := strings.Cut(a, ":")
		if strings.HasPrefix(a, `"`) {
			quoted, err := strconv.QuotedPrefix(a)
			if err != nil || !strings.HasPrefix(a[len(quoted):], ":") {
				return nil, fmt.Errorf("want name:type, not %q", a)
			}
			text, ok = a[len(quoted)+1:], true
			if name, err = strconv.Unquote(quoted); err != nil {
				return nil, fmt.Errorf("want name:type, not %q", a)
			}
		}
		if !ok {
			return nil, fmt.Errorf("want name:type, not %q", a)
		}
		if seen[name] {
			return nil, fmt.Errorf("two fields are named %q", name)
		}
		seen[name] = true
		f, err := element(name, strings.TrimSpace(text))
		if err != nil {
			return nil, err
		}
		fields = append(fields, f)
	}
	return arrow.StructOf(fields...), nil
}
