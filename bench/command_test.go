package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

// lines runs the command and gives its JSON lines by name.
func lines(t *testing.T, args ...string) map[string]map[string]any {
	t.Helper()
	var out, diag bytes.Buffer
	require.NoError(t, command(t.Context(), append(args, "-json", "-times", "1"), &out, &diag), diag.String())
	found := map[string]map[string]any{}
	dec := json.NewDecoder(&out)
	for {
		var m map[string]any
		err := dec.Decode(&m)
		if errors.Is(err, io.EOF) {
			return found
		}
		require.NoError(t, err)
		found[m["name"].(string)] = m
	}
}

func TestEveryJobOfTheEngineSuiteAgreesWithItsLoop(t *testing.T) {
	defer goleak.VerifyNone(t)
	one := lines(t, "-suite", "engine", "-n", "120000", "-run", "^(map|tumble_1k|tumble_100k|tumble_str_100k|disorder)$")
	require.Len(t, one, 5)
	assert.Equal(t, one["tumble_100k"]["checksum"], one["tumble_str_100k"]["checksum"], "the keys are the same numbers")
	assert.Positive(t, one["disorder"]["late"])
	assert.Positive(t, one["tumble_100k"]["bytes_per_key"])
	for name, f := range one {
		for _, field := range []string{"rows_per_s", "rows_per_cpu_s", "cpu_ns_per_row", "baseline", "ratio", "rows_out"} {
			assert.Positive(t, f[field], "%s of %s", field, name)
		}
		assert.IsType(t, "", f["checksum"])
		assert.Equal(t, "replay", f["source"])
	}
	two := lines(t, "-p", "2", "-source", "live", "-n", "120000", "-extra", "-run", "^(map|tumble_1k)$")
	require.Len(t, two, 2)
	for name, f := range two {
		assert.Equal(t, one[name]["checksum"], f["checksum"], name)
		assert.Positive(t, f["speedup"], name)
		assert.Equal(t, "live", f["source"])
	}
	assert.Contains(t, two["tumble_1k"]["extra"], "(")
	assert.Positive(t, two["tumble_1k"]["extra_per_column"])
}

func TestSlidingWideAndSkewedJobsAgreeWithTheirLoops(t *testing.T) {
	defer goleak.VerifyNone(t)
	const jobs = "^(slide_10k|slide_max_10k|slide_odd|skew|wide)$"
	one := lines(t, "-n", "60000", "-run", jobs)
	require.Len(t, one, 5)
	for name, f := range one {
		for _, field := range []string{"rows_per_s", "rows_per_cpu_s", "baseline", "ratio", "rows_out"} {
			assert.Positive(t, f[field], "%s of %s", field, name)
		}
	}
	assert.EqualValues(t, 1000, one["wide"]["rows_out"])
	assert.NotEqual(t, one["slide_10k"]["checksum"], one["slide_max_10k"]["checksum"])
	for name, f := range lines(t, "-n", "60000", "-p", "2", "-run", jobs) {
		assert.Equal(t, one[name]["checksum"], f["checksum"], name)
		assert.Positive(t, f["speedup"], name)
	}
	fine := lines(t, "-n", "8193", "-run", "^slide_20ms$")["slide_20ms"]
	assert.Greater(t, fine["rows_out"], 1_000_000.0, "a row is in 500 windows, with some others of its key")
}

func TestBatchesOfOneRowGiveTheSame(t *testing.T) {
	defer goleak.VerifyNone(t)
	f := lines(t, "-n", "10000", "-run", "^one_row$")["one_row"]
	assert.EqualValues(t, 1000, f["rows_out"])
	assert.Greater(t, f["cpu_ns_per_row"], 10.0)
	assert.Equal(t, f["checksum"], lines(t, "-n", "10000", "-run", "^one_row$", "-source", "live", "-p", "2")["one_row"]["checksum"])
}

func TestColdStartEndsAtTheFirstResult(t *testing.T) {
	defer goleak.VerifyNone(t)
	f := lines(t, "-run", "^cold_start$")["cold_start"]
	assert.Positive(t, f["ms"])
	assert.Positive(t, f["rows_out"])
	assert.Equal(t, f["checksum"], lines(t, "-run", "^cold_start$", "-p", "2")["cold_start"]["checksum"])
}

func TestSeveralWindowsAgreeToo(t *testing.T) {
	f := lines(t, "-n", "600000", "-run", "^tumble_1k$")["tumble_1k"] // and 1,200,000: two windows
	assert.EqualValues(t, 1000, f["rows_out"])
}

func TestJSONLinesFromFileToFile(t *testing.T) {
	defer goleak.VerifyNone(t)
	f := lines(t, "-n", "20000", "-run", "^json_e2e$")["json_e2e"]
	require.NotNil(t, f)
	assert.EqualValues(t, 1000, f["rows_out"])
	assert.Equal(t, lines(t, "-n", "20000", "-run", "^tumble_1k$")["tumble_1k"]["checksum"], f["checksum"])
}

func TestTrickleMeasuresFromTheDueTime(t *testing.T) {
	defer goleak.VerifyNone(t)
	f := lines(t, "-n", "450", "-run", "^trickle$")["trickle"]
	require.NotNil(t, f)
	assert.EqualValues(t, 50, f["rows_out"], "5 windows of 10 keys")
	assert.Positive(t, f["p50_ms"])
	assert.GreaterOrEqual(t, f["max_ms"], f["p50_ms"])
}

func TestLatencyCountsTheWindowsThatRowsEnd(t *testing.T) {
	defer goleak.VerifyNone(t)
	for n, want := range map[string]any{"100000": 4.0, "100001": 5.0, "7": nil} {
		f := lines(t, "-suite", "latency", "-n", n)["slide_20ms"]
		assert.Equal(t, want, f["firings"], "%s rows at 1,000 a ms", n)
		if want != nil {
			assert.Positive(t, f["p50_ms"])
			assert.GreaterOrEqual(t, f["max_ms"], f["p999_ms"])
			assert.GreaterOrEqual(t, f["p999_ms"], f["p50_ms"])
		}
		assert.Positive(t, f["rows_out"])
	}
}

func TestCodecsReadWhatTheStandardLibraryReads(t *testing.T) {
	defer goleak.VerifyNone(t)
	f := lines(t, "-suite", "codec", "-n", "5000")
	require.Len(t, f, 2)
	assert.Equal(t, f["json_6cols"]["checksum"], f["csv_6cols"]["checksum"])
	for name, c := range f {
		assert.EqualValues(t, 5000, c["rows_out"], name)
		assert.Positive(t, c["ratio"], name)
	}
}

func TestEveryKernelAgreesWithItsPlainForm(t *testing.T) {
	f := lines(t, "-suite", "kernel", "-n", "200000")
	assert.Len(t, f, len(kernelSuite()))
	for name, k := range f {
		assert.Positive(t, k["ratio"], name)
	}
}

func TestTheTableIsForPeople(t *testing.T) {
	var out, diag bytes.Buffer
	require.NoError(t, command(t.Context(), []string{"-suite", "kernel", "-n", "100000", "-run", "hash", "-times", "1"}, &out, &diag))
	printed := strings.Split(strings.TrimSpace(out.String()), "\n")
	require.Len(t, printed, 3)
	assert.Contains(t, printed[0], "rows/cpu-s")
	assert.True(t, strings.HasPrefix(printed[1], "hash_int64 "))
}

func TestTheCommandSaysWhatIsWrong(t *testing.T) {
	for arg, want := range map[string]string{
		"-suite=none":      `no suite "none": there are ` + strings.Join(suiteNames(), ", "),
		"-run=nothing":     `-run "nothing" matches nothing in suite "engine": there are map, tumble_1k`,
		"-run=(":           "-run: error parsing regexp",
		"-source=file":     `-source "file": give replay or live`,
		"-n=-1":            "-n -1, -p 1, -times 3: give n >= 0",
		"-p=0":             "-p 0",
		"tumble":           `unexpected argument "tumble"`,
		"-no-such-flag":    "flag provided but not defined",
		"-help":            flag.ErrHelp.Error(),
		"-times=three":     "invalid value",
		"-suite=engine -x": `no suite "engine -x"`,
	} {
		var out, diag bytes.Buffer
		require.ErrorContains(t, command(t.Context(), []string{arg}, &out, &diag), want)
		assert.Empty(t, out.String())
	}
}
