package scalar

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// checkPattern compares a machine with package regexp.
func checkPattern(t require.TestingT, m *machine, text string, s []byte) {
	std, err := regexp.Compile(text)
	p, err2 := compilePattern(text)
	require.Equal(t, err == nil, err2 == nil, text)
	if err != nil || strings.Contains(text, "\uFFFD") || strings.Contains(strings.ToLower(text), "fffd") {
		return // package regexp does not agree with itself on texts that are no UTF-8
	}
	want := std.FindSubmatchIndex(s)
	require.Equal(t, want != nil, m.find(p, s, 0), "%q in %q", text, s)
	found := m.find(p, s, p.groups+1)
	require.Equal(t, want != nil, found, "%q in %q", text, s)
	if found {
		require.Equal(t, want, m.caps, "%q in %q", text, s)
	}
}

func TestMachineFindsWhatPackageRegexpFinds(t *testing.T) {
	m := &machine{}
	texts := []string{"", "a", "ab", "aab", "abcabd", "x=1&channel_id=42&channel_id=7", "channel_id=&", "https://a.b/c?channel_id=1", "line\nline two\n", "é\xff\xc3(", "ÀÉ", "_word word_", "\x00", "aaaaaaaaaaaaaaaaaaaaaaaaab", "foofoobar"}
	for _, p := range []string{"", "a", "^a", "a$", "(a)(b)?", "(a|ab)(c|bcd)?", "(&|^)channel_id=([^&]*)", `\bword\b`, `\Bword`, "(?m)^line$", "(?s).*", ".*", "(?i)é", "[^a]", "(a*)*", "(a*)+b", "(a|b)*?c", "(|a)+",
		`(?:foo){2}bar`, `(foo)+bar`, `^$`, `\z`, `(a){0}b`, `x{2,3}`, `[[:alpha:]]+`, `\pL+`, `(?U)a+`, "((a)|(b))*", "channel_id=(\\d+)$", "a.c|b", "(^|x)a", "(?:^|/)c", "b(?:$|\\n)"} {
		for _, s := range texts {
			checkPattern(t, m, p, []byte(s))
		}
	}
	long := []byte(strings.Repeat("ab ", 100000) + "channel_id=5") // more than a machine holds
	checkPattern(t, m, "(a|b)+ (c.*)=", long)
	checkPattern(t, m, "(a|b)+ c.*=", long)
}

func TestRequiredLiteral(t *testing.T) {
	for text, want := range map[string]struct {
		literal string
		before  int
	}{
		"(&|^)channel_id=([^&]*)": {"channel_id=", 4}, "abc": {"abc", 0}, "a*bc": {"bc", -1}, "(?i)abc": {"", 0}, "a|b": {"", 0}, "x(abc)+y": {"abc", 4}, "(abc)?de": {"de", 12},
	} {
		p, err := compilePattern(text)
		require.NoError(t, err)
		require.Equal(t, want.literal, string(p.literal), text)
		require.Equal(t, want.before, p.before, text)
	}
}

func FuzzMachine(f *testing.F) {
	f.Add("(&|^)channel_id=([^&]*)", []byte("x=1&channel_id=42"))
	f.Add("(a|ab)(c|bcd)*", []byte("abcd\xff"))
	f.Add(`(?i)\bx+?$`, []byte("aXx\n"))
	f.Fuzz(func(t *testing.T, text string, s []byte) {
		if len(text) > 60 || len(s) > 200 {
			return
		}
		checkPattern(t, &machine{}, text, s)
	})
}
