// Runs golden vectors against generated packages.
package main

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"reflect"
)

// suite is a package behind functions of one shape.
type suite struct {
	vectors string
	prefix  func(values map[string]string) (string, error)
	build   func(prefix map[string]string, definition string, values map[string]string) (key, error)
	parse   func(text []byte) (map[string]string, key, bool)
	glob    func(prefix map[string]string, definition string, values map[string]string) (string, error)
	event   func(prefix map[string]string, event string, values map[string]string) ([]string, []string, error)
	former  func(text []byte) (former, bool)
	names   func(prefix map[string]string, definition string, values map[string]string) (read, write []string, err error)
	refused func(err error) (param, reserved string)
}

type former struct {
	migration, phase, definition string
	db                           int
	prefix, values               map[string]string
}

type key struct {
	text       string
	slot       uint16
	definition string
	values     map[string]string
	typed      any
}

type vector struct {
	Definition *string
	Event      string
	Migration  string
	Phase      string
	DB         *int
	Read       []string
	Write      []string
	Params     map[string]text
	Prefix     any
	Key        text
	Slot       uint16
	Glob       string
	Keys       []string
	Globs      []string
	Refused    *string
	Reserved   string
}

// text is a string, bytes that are no text, or half of a surrogate pair, which Go cannot hold.
type text struct {
	bytes     []byte
	surrogate bool
}

func (t *text) UnmarshalJSON(data []byte) error {
	var plain string
	if json.Unmarshal(data, &plain) == nil {
		t.bytes = []byte(plain)
		return nil
	}
	var other struct{ Hex, UTF16 string }
	err := json.Unmarshal(data, &other)
	t.surrogate = other.UTF16 != ""
	if err == nil {
		t.bytes, err = hex.DecodeString(other.Hex)
	}
	return err
}

var (
	suites  []suite
	checked int
	failed  int
)

func main() {
	for _, s := range suites {
		s.run()
	}
	fmt.Printf("checked %d vectors in %d keyspaces\n", checked, len(suites))
	if failed > 0 {
		os.Exit(1)
	}
}

func (s suite) run() {
	data, err := os.ReadFile(s.vectors)
	if err != nil {
		panic(err)
	}
	var document struct {
		Prefix                                              map[string]string
		Prefixes, Build, Parse, Glob, Events, Former, Names []vector
	}
	if err := json.Unmarshal(data, &document); err != nil {
		panic(err)
	}
	for kind, vectors := range map[string][]vector{
		"prefixes": document.Prefixes, "build": document.Build, "parse": document.Parse,
		"glob": document.Glob, "events": document.Events, "former": document.Former, "names": document.Names,
	} {
		for _, v := range vectors {
			s.check(kind, document.Prefix, v)
		}
	}
}

func (s suite) check(kind string, prefix map[string]string, v vector) {
	values := map[string]string{}
	for name, value := range v.Params {
		if value.surrogate {
			return
		}
		values[name] = string(value.bytes)
	}
	checked++
	var problem string
	var err error
	switch kind {
	case "prefixes":
		var made string
		if made, err = s.prefix(values); err == nil {
			problem = same(v.Prefix, made)
		}
	case "build":
		var made key
		if made, err = s.build(prefix, *v.Definition, values); err == nil {
			again, failure := s.build(prefix, *v.Definition, made.values)
			_, parsed, _ := s.parse([]byte(made.text))
			problem = first(same(string(v.Key.bytes), made.text), same(v.Slot, made.slot), same(*v.Definition, made.definition),
				same(nil, failure), same(made.typed, again.typed), same(made.typed, parsed.typed))
		}
	case "parse":
		own, parsed, ok := s.parse(v.Key.bytes)
		switch {
		case !ok && v.Definition == nil:
		case !ok || v.Definition == nil:
			problem = "is read otherwise"
		default:
			again, failure := s.build(own, parsed.definition, parsed.values)
			problem = first(same(*v.Definition, parsed.definition), same(values, parsed.values),
				same(string(v.Key.bytes), again.text), same(nil, failure))
			if expected, ok := v.Prefix.(map[string]any); ok {
				problem = first(problem, same(fmt.Sprint(expected), fmt.Sprint(own)))
			}
		}
	case "former":
		it, ok := s.former(v.Key.bytes)
		switch {
		case !ok && v.Definition == nil:
		case !ok || v.Definition == nil:
			problem = "is read otherwise"
		default:
			db := -1
			if v.DB != nil {
				db = *v.DB
			}
			var expected map[string]string
			if v.Params != nil {
				expected = values
			}
			problem = first(same(*v.Definition, it.definition), same(v.Migration, it.migration), same(v.Phase, it.phase),
				same(db, it.db), same(expected, it.values))
			if len(prefix) > 0 {
				expected, _ := v.Prefix.(map[string]any)
				problem = first(problem, same(fmt.Sprint(expected), fmt.Sprint(it.prefix)))
			}
		}
	case "names":
		var read, write []string
		if read, write, err = s.names(prefix, *v.Definition, values); err == nil {
			problem = first(same(v.Read, read), same(v.Write, write))
		}
	case "glob":
		var made string
		if made, err = s.glob(prefix, *v.Definition, values); err == nil {
			problem = same(v.Glob, made)
		}
	case "events":
		var keys, globs []string
		if keys, globs, err = s.event(prefix, v.Event, values); err == nil {
			problem = first(same(fmt.Sprintf("%q", v.Keys), fmt.Sprintf("%q", keys)), same(fmt.Sprintf("%q", v.Globs), fmt.Sprintf("%q", globs)))
		}
	}
	switch {
	case err != nil && v.Refused == nil:
		problem = "is refused: " + err.Error()
	case err != nil:
		param, reserved := s.refused(err)
		problem = first(same(*v.Refused, param), same(v.Reserved, reserved))
	case v.Refused != nil:
		problem = "is not refused"
	}
	if problem != "" {
		if failed++; failed <= 20 {
			fmt.Printf("%s %s %+v %q: %s\n", s.vectors, kind, v, values, problem)
		}
	}
}

func same(expected, actual any) string {
	if reflect.DeepEqual(expected, actual) {
		return ""
	}
	return fmt.Sprintf("expected %#v, got %#v", expected, actual)
}

func first(problems ...string) string {
	for _, problem := range problems {
		if problem != "" {
			return problem
		}
	}
	return ""
}
