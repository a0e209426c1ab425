package arkflow_test

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow"
	"github.com/arkflow-go/arkflow/codec"
	"github.com/arkflow-go/arkflow/connectors"
	"github.com/arkflow-go/arkflow/connectors/drop"
	"github.com/arkflow-go/arkflow/connectors/file"
	"github.com/arkflow-go/arkflow/connectors/generate"
	"github.com/arkflow-go/arkflow/connectors/memory"
	"github.com/arkflow-go/arkflow/connectors/stdout"
	"github.com/arkflow-go/arkflow/expr"
	"github.com/arkflow-go/arkflow/operator"
	"github.com/arkflow-go/arkflow/window"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
	"gocloud.dev/blob/memblob"
)

func sample(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "specs", name+".yaml"))
	require.NoError(t, err)
	return data
}

var samples = []string{"orders-rollup", "rebalanced-orders", "join-orders-profiles"}

// Every sample is read, and written and read again in both forms, without losing anything.
func TestB5_samplesAreKeptWhole(t *testing.T) {
	for _, name := range samples {
		t.Run(name, func(t *testing.T) {
			data := sample(t, name)
			specs, err := arkflow.LoadSpecs(data)
			require.NoError(t, err)
			require.Len(t, specs, 1)
			assert.Equal(t, name, specs[0].ID)

			text, err := arkflow.FormatSpecs(specs...)
			require.NoError(t, err)
			again, err := arkflow.LoadSpecs(text)
			require.NoError(t, err, "%s", text)
			assert.Equal(t, specs, again)

			js, err := json.Marshal(map[string]any{"jobs": specs})
			require.NoError(t, err)
			again, err = arkflow.LoadSpecs(js)
			require.NoError(t, err, "%s", js)
			assert.Equal(t, specs, again)

			// Nothing that stands in the sample is missing from what is written.
			var given, kept map[string]any
			require.NoError(t, yaml.Unmarshal(data, &given))
			require.NoError(t, yaml.Unmarshal(text, &kept))
			assert.Equal(t, given["jobs"], kept["jobs"])
		})
	}
}

func TestB5_aSpecIsAValueOfJSONAndYAML(t *testing.T) {
	specs, err := arkflow.LoadSpecs(sample(t, "join-orders-profiles"))
	require.NoError(t, err)
	js, err := json.Marshal(specs[0])
	require.NoError(t, err)
	var fromJSON, fromYAML arkflow.JobSpec
	require.NoError(t, json.Unmarshal(js, &fromJSON))
	assert.Equal(t, specs[0], fromJSON)
	y, err := yaml.Marshal(specs[0])
	require.NoError(t, err)
	require.NoError(t, yaml.Unmarshal(y, &fromYAML))
	assert.Equal(t, specs[0], fromYAML)
	require.ErrorContains(t, json.Unmarshal([]byte(`{"id": "a", "versoin": 1}`), &fromJSON), `versoin: unknown field "versoin"; did you mean "version"? (line 1)`)
	require.ErrorContains(t, yaml.Unmarshal([]byte("id: a\nversoin: 1\n"), &fromYAML), `versoin: unknown field "versoin"; did you mean "version"? (line 2)`)
}

func TestB5_samplesSayWhatIsNotRegistered(t *testing.T) {
	for name, want := range map[string][]string{
		"orders-rollup": {
			`state.backend: state backend "embedded_kv" is not registered; registered are ["memory"]`,
			`operator "source": sources[0]: source "kafka" is not registered; registered are ["file" "generate" "memory"]`,
		},
		"join-orders-profiles": {
			`operator "join-orders": operators[2].kind: operator "join" is not registered; there are ["source" "sink" "async" "drop" "filter" "flat_map" "map" "map_batch" "rename" "select" "split" "union" "window" "with_timestamps"]`,
		},
	} {
		specs, err := arkflow.LoadSpecs(sample(t, name))
		require.NoError(t, err)
		_, err = arkflow.FromSpec(nil, specs[0])
		assert.Equal(t, want, messages(t, err))
	}
	specs, err := arkflow.LoadSpecs(sample(t, "rebalanced-orders"))
	require.NoError(t, err)
	j, err := arkflow.FromSpec(arkflow.NewRegistry(), specs[0])
	require.NoError(t, err)
	p, err := j.Compile()
	require.NoError(t, err)
	assert.Equal(t, []string{
		"placement split is ignored: the job runs in this process",
		"rebalance is ignored: the job runs in this process",
	}, p.Warnings())
	back, err := j.Spec()
	require.NoError(t, err)
	assert.Equal(t, specs[0], back)
}

// A job of a spec runs like one of the builder: the sample that is complete ends at once, having read nothing.
func TestB5_aJobOfASpecRuns(t *testing.T) {
	specs, err := arkflow.LoadSpecs(sample(t, "rebalanced-orders"))
	require.NoError(t, err)
	j, err := arkflow.FromSpec(nil, specs[0])
	require.NoError(t, err)
	require.NoError(t, j.Run(t.Context()))
}

func TestB5_recoveryWithoutABucketWarns(t *testing.T) {
	text := strings.Replace(string(sample(t, "rebalanced-orders")), "    placement: split\n", "    recovery: latest_checkpoint\n    state: {backend: memory, format_version: 1}\n", 1)
	specs, err := arkflow.LoadSpecs([]byte(text))
	require.NoError(t, err)
	j, err := arkflow.FromSpec(nil, specs[0])
	require.NoError(t, err)
	warning := "recovery latest_checkpoint without a bucket: the job starts fresh"
	var log bytes.Buffer
	rt := arkflow.Runtime{Logger: slog.New(slog.NewTextHandler(&log, nil))}
	require.NoError(t, rt.Run(t.Context(), j))
	assert.Contains(t, log.String(), warning)
	log.Reset()
	rt.Bucket = memblob.OpenBucket(nil)
	defer rt.Bucket.Close()
	require.NoError(t, rt.Run(t.Context(), j))
	assert.NotContains(t, log.String(), warning)
}

func TestLoadSpecs_isStrict(t *testing.T) {
	good := string(sample(t, "rebalanced-orders"))
	for name, c := range map[string]struct{ text, want string }{
		"unknown field":         {strings.Replace(good, "placement:", "placment:", 1), `jobs[0].placment: unknown field "placment"; did you mean "placement"? (line 5)`},
		"unknown field below":   {strings.Replace(good, "pressure_streak", "presure_streak", 1), `jobs[0].rebalance.presure_streak: unknown field "presure_streak"; did you mean "pressure_streak"? (line 8)`},
		"foreign job":           {strings.Replace(good, "jobs:", "jobs:\n  - nonsense: 1", 1), `jobs[0].nonsense: unknown field "nonsense"`},
		"unknown top field":     {good + "job: 1\n", `job: unknown field "job"; did you mean "jobs"?`},
		"version one":           {strings.Replace(good, "version: 1", "version: one", 1), `jobs[0].version: want an integer, not "one" (line 4)`},
		"number as ID":          {strings.Replace(good, "id: rebalanced-orders", "id: 5", 1), `jobs[0].id: want a string, not 5 (line 3)`},
		"list as mapping":       {strings.Replace(good, "edges:\n", "edges:\n      a: 1\n#", 1), `(line`},
		"field twice":           {strings.Replace(good, "version: 1", "version: 1\n    version: 2", 1), `jobs[0].version: the field stands twice (line 5)`},
		"job twice":             {good + strings.TrimPrefix(good, "streams: []\njobs:\n"), `jobs[1].id: the job "rebalanced-orders" stands twice (line 27)`},
		"streams":               {strings.Replace(good, "streams: []", "streams: [{id: legacy, input: {}}, 5]", 1), `streams[0]: the stream "legacy" cannot run: the Stream API is not built; write it as a job under jobs: (line 1)`},
		"nothing":               {"", `the document has no jobs; list them under jobs:`},
		"no jobs":               {"streams: []\n", `jobs: the document has no jobs`},
		"a list":                {"- 1\n", `the document has no jobs`},
		"job is text":           {"jobs: [a]\n", `jobs[0]: a job is a mapping (line 1)`},
		"bad YAML":              {"jobs:\n  - {id: a\n", `not YAML`},
		"duration without unit": {strings.Replace(good, "cooldown_ms: 300000", "cooldown_ms: soon", 1), `jobs[0].rebalance.cooldown_ms: want a duration such as 500ms or 2m, not "soon"`},
		"key of numbers":        {strings.Replace(good, "to: sink", "to: sink\n        key: [1]", 1), `jobs[0].edges[0].key: want a column or a list of columns`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := arkflow.LoadSpecs([]byte(c.text))
			require.Error(t, err)
			assert.Contains(t, strings.Join(messages(t, err), "\n"), c.want)
		})
	}
}

func TestLoadSpecs_tellsAllFaultsAtOnce(t *testing.T) {
	_, err := arkflow.LoadSpecs([]byte("jobs:\n  - id: 5\n    version: one\n    oops: 1\n  - id: b\n    edges: 7\nstreams: [{id: old}]\n"))
	assert.Equal(t, []string{
		`streams[0]: the stream "old" cannot run: the Stream API is not built; write it as a job under jobs: (line 7)`,
		`jobs[0].id: want a string, not 5 (line 2)`,
		`jobs[0].oops: unknown field "oops"; there are "api", "checkpoint", "edges", "id", "max_parallelism", "node_ids", "operators", "parallelism", "placement", "rebalance", "recovery", "rescale" and 4 more (line 4)`,
		`jobs[0].version: want an integer, not "one" (line 3)`,
		`jobs[1].edges: want a list, not 7 (line 6)`,
	}, messages(t, err))
}

// base is a spec that can run.
func base() arkflow.JobSpec {
	return arkflow.JobSpec{ID: "job", Version: 1,
		Operators: []arkflow.OperatorSpec{{ID: "in", Kind: "source"}, {ID: "out", Kind: "sink"}},
		Edges:     []arkflow.EdgeSpec{{ID: "e", From: "in", To: "out"}},
		Sources:   []arkflow.SourceSpec{{OperatorID: "in", InputType: "memory", Time: &arkflow.TimeSpec{Mode: "processing_time"}}},
		Sinks:     []arkflow.SinkSpec{{OperatorID: "out", OutputType: "drop"}},
	}
}

func TestB5_validateTellsWhatIsWrongByPath(t *testing.T) {
	require.NoError(t, base().Validate())
	for name, c := range map[string]struct {
		change func(*arkflow.JobSpec)
		want   string
	}{
		"id":               {func(s *arkflow.JobSpec) { s.ID = "a b" }, `id: job ID "a b" is not allowed`},
		"api":              {func(s *arkflow.JobSpec) { s.API = "v2" }, `api: "v2" is not supported; this is "arkflow/v1"`},
		"version":          {func(s *arkflow.JobSpec) { s.Version = 0 }, `version: 0 is no version`},
		"parallelism":      {func(s *arkflow.JobSpec) { s.Parallelism = -2 }, `parallelism: -2 is out of range`},
		"max_parallelism":  {func(s *arkflow.JobSpec) { s.MaxParallelism = 1 << 20 }, `max_parallelism: 1048576 is out of range`},
		"p over max":       {func(s *arkflow.JobSpec) { s.Parallelism, s.MaxParallelism = 9, 8 }, `parallelism: 9 is more than max_parallelism, which is 8`},
		"placement":        {func(s *arkflow.JobSpec) { s.Placement = "spilt" }, `placement: no placement "spilt"; did you mean "split"?`},
		"recovery":         {func(s *arkflow.JobSpec) { s.Recovery = "latest" }, `recovery: no recovery "latest"; did you mean "latest_checkpoint"?`},
		"rebalance":        {func(s *arkflow.JobSpec) { s.Rebalance = &arkflow.RebalanceSpec{Mode: "on"} }, `rebalance.mode: no mode "on"`},
		"rebalance pinned": {func(s *arkflow.JobSpec) { s.NodeIDs, s.Rebalance = []string{"n"}, &arkflow.RebalanceSpec{Mode: "auto"} }, `rebalance.mode: auto cannot be combined with node_ids`},
		"checkpoint":       {func(s *arkflow.JobSpec) { s.Checkpoint = &arkflow.CheckpointSpec{Interval: -1} }, `checkpoint.interval_ms: -1ns is negative`},
		"format version":   {func(s *arkflow.JobSpec) { s.State = &arkflow.StateSpec{FormatVersion: 2} }, `state.format_version: 2 is not supported`},
		"backend":          {func(s *arkflow.JobSpec) { s.State = &arkflow.StateSpec{Backend: "rocks"} }, `state.backend: state backend "rocks" is not registered`},
		"operator id":      {func(s *arkflow.JobSpec) { s.Operators[0].ID = "" }, `operators[0].id: operator ID is empty`},
		"operator twice":   {func(s *arkflow.JobSpec) { s.Operators[1].ID = "in" }, `operators[1].id: the ID "in" is used twice`},
		"no kind":          {func(s *arkflow.JobSpec) { s.Operators[1].Kind = "" }, `operators[1].kind: there is no kind`},
		"on_error":         {func(s *arkflow.JobSpec) { s.Operators[1].OnError = &arkflow.ErrorSpec{Then: "ignore"} }, `operators[1].on_error: no error policy "ignore"`},
		"config of source": {func(s *arkflow.JobSpec) { s.Operators[0].Config = map[string]any{} }, `operators[0].config: a source has its config under sources`},
		"no source":        {func(s *arkflow.JobSpec) { s.Sources = nil }, `operators[0]: the source "in" is not described; add it under sources`},
		"unknown source":   {func(s *arkflow.JobSpec) { s.Sources[0].OperatorID = "inn" }, `sources[0].operator_id: no source operator "inn"; did you mean "in"?`},
		"sink as source":   {func(s *arkflow.JobSpec) { s.Sources[0].OperatorID = "out" }, `sources[0].operator_id: operator "out" is of kind "sink"`},
		"two sections":     {func(s *arkflow.JobSpec) { s.Sinks = append(s.Sinks, s.Sinks[0]) }, `sinks[1].operator_id: operator "out" has two sections`},
		"no input type":    {func(s *arkflow.JobSpec) { s.Sources[0].InputType = "" }, `sources[0].input_type: there is no input_type`},
		"config.type":      {func(s *arkflow.JobSpec) { s.Sinks[0].Config = map[string]any{"type": "stdout"} }, `sinks[0].config.type: "stdout" is not the output_type, which is "drop"`},
		"no time":          {func(s *arkflow.JobSpec) { s.Sources[0].Time = nil }, `sources[0].time.mode: the time mode is missing`},
		"time mode":        {func(s *arkflow.JobSpec) { s.Sources[0].Time.Mode = "event-time" }, `sources[0].time.mode: no time mode "event-time"; did you mean "event_time"?`},
		"no field":         {func(s *arkflow.JobSpec) { s.Sources[0].Time.Mode = "event_time" }, `sources[0].time.timestamp_field: is missing`},
		"needless field":   {func(s *arkflow.JobSpec) { s.Sources[0].Time.TimestampField = "ts" }, `sources[0].time.timestamp_field: means nothing with mode processing_time`},
		"strategy": {func(s *arkflow.JobSpec) {
			s.Sources[0].Time = &arkflow.TimeSpec{Mode: "event_time", TimestampField: "ts", Watermark: &arkflow.WatermarkSpec{Strategy: "perfect", OutOfOrderness: -time.Second}}
		}, `sources[0].time.watermark.out_of_orderness_ms: -1s is negative`},
		"port":      {func(s *arkflow.JobSpec) { s.Edges[0].Port = "lat" }, `edges[0].port: no port "lat"; did you mean "late"?`},
		"edge id":   {func(s *arkflow.JobSpec) { s.Edges[0].ID = "a b" }, `edges[0].id: edge ID "a b" is not allowed`},
		"edge away": {func(s *arkflow.JobSpec) { s.Edges[0].To = "oot" }, `no operator "oot"; did you mean "out"?`},
		"edge twice": {func(s *arkflow.JobSpec) { s.Edges = append(s.Edges, s.Edges[0]) },
			`edges[1].id: the edge ID "e" is used twice`},
		"cycle": {func(s *arkflow.JobSpec) {
			s.Operators = append(s.Operators, arkflow.OperatorSpec{ID: "a", Kind: "filter"}, arkflow.OperatorSpec{ID: "b", Kind: "filter"})
			s.Edges = append(s.Edges, arkflow.EdgeSpec{From: "a", To: "b"}, arkflow.EdgeSpec{From: "b", To: "a"})
		}, `operator "b": is part of a cycle: b -> a -> b`},
	} {
		t.Run(name, func(t *testing.T) {
			s := base()
			c.change(&s)
			assert.Contains(t, strings.Join(messages(t, s.Validate()), "\n"), c.want)
			_, err := arkflow.FromSpec(nil, s)
			assert.Contains(t, strings.Join(messages(t, err), "\n"), c.want)
		})
	}
}

// What Validate, the registry, the components and the schemas have to say comes back from one call.
func TestB5_fromSpecTellsAllFaultsAtOnce(t *testing.T) {
	s := base()
	s.Version = 0
	s.Sources[0].Config = map[string]any{"rows": []any{map[string]any{"a": int64(1), "ts": int64(0)}}}
	s.Operators = append(s.Operators,
		arkflow.OperatorSpec{ID: "f", Kind: "filtr"},
		arkflow.OperatorSpec{ID: "w", Kind: "window", Config: map[string]any{"size_ms": int64(-5), "oops": int64(1), "aggregates": []any{map[string]any{"function": "count"}}}},
		arkflow.OperatorSpec{ID: "d", Kind: "drop", Config: map[string]any{"columns": []any{"tss"}}},
		arkflow.OperatorSpec{ID: "m", Kind: "map", Config: map[string]any{"function": "score/v1"}},
		arkflow.OperatorSpec{ID: "out2", Kind: "sink"}, arkflow.OperatorSpec{ID: "out3", Kind: "sink"},
	)
	s.Sinks = append(s.Sinks, arkflow.SinkSpec{OperatorID: "out2", OutputType: "dorp"}, arkflow.SinkSpec{OperatorID: "out3", OutputType: "stdout", Config: map[string]any{"formt": "x"}})
	s.Edges = append(s.Edges, arkflow.EdgeSpec{From: "in", To: "f"}, arkflow.EdgeSpec{From: "f", To: "w"}, arkflow.EdgeSpec{From: "w", To: "out2"},
		arkflow.EdgeSpec{From: "in", To: "d"}, arkflow.EdgeSpec{From: "d", To: "m"}, arkflow.EdgeSpec{From: "m", To: "out3"})
	_, err := arkflow.FromSpec(nil, s)
	got := strings.Join(messages(t, err), "\n")
	for _, want := range []string{
		`version: 0 is no version`,
		`operator "f": operators[2].kind: operator "filtr" is not registered; did you mean "filter"?`,
		`operator "w": operators[3].config`,
		`operator "d": columns[0]: no column "tss"; did you mean "ts"?`,
		`operator "m": operators[5].config.function: function "score/v1" is not registered; no function is registered at all`,
		`operator "out2": sinks[1]: sink "dorp" is not registered; did you mean "drop"?`,
		`operator "out3": sinks[2]`,
	} {
		assert.Contains(t, got, want)
	}
}

func TestB5_keyOfAnEdge(t *testing.T) {
	window := map[string]any{"size_ms": int64(1000), "aggregates": []any{map[string]any{"function": "count"}}}
	keyed := map[string]any{"size_ms": int64(1000), "aggregates": []any{map[string]any{"function": "count"}}, "key": "b"}
	rows := func(columns ...string) map[string]any {
		row := map[string]any{"ts": int64(1)}
		for _, c := range columns {
			row[c] = "x"
		}
		return map[string]any{"rows": []any{row}}
	}
	for name, c := range map[string]struct {
		rows, config map[string]any
		edge         arkflow.EdgeSpec
		want         string
	}{
		"of the edge":     {rows("a", "b"), window, arkflow.EdgeSpec{Key: arkflow.SpecKey{"a", "b"}, Partitioned: true}, "from in: hash by a, b, pre-aggregated where it pays\n"},
		"edge wins":       {rows("a", "b"), keyed, arkflow.EdgeSpec{Key: arkflow.SpecKey{"a"}}, "from in: hash by a, pre-aggregated where it pays\n"},
		"of the operator": {rows("a", "b"), keyed, arkflow.EdgeSpec{}, "from in: hash by b, pre-aggregated where it pays\n"},
		"meta":            {rows("a", "__meta_key"), window, arkflow.EdgeSpec{Partitioned: true}, "from in: hash by __meta_key, pre-aggregated where it pays\n"},
		"none":            {rows("a"), map[string]any{}, arkflow.EdgeSpec{Partitioned: true}, "from in: rebalance\n"},
	} {
		t.Run(name, func(t *testing.T) {
			s := base()
			s.Parallelism = 2
			s.Sources[0].Config = c.rows
			s.Sources[0].Time = &arkflow.TimeSpec{Mode: "event_time", TimestampField: "ts"}
			if len(c.config) > 0 {
				s.Operators = append(s.Operators, arkflow.OperatorSpec{ID: "w", Kind: "window", Config: c.config})
				c.edge.From, c.edge.To = "in", "w"
				s.Edges = []arkflow.EdgeSpec{c.edge, {From: "w", To: "out"}}
			} else {
				c.edge.From, c.edge.To = "in", "out"
				s.Edges = []arkflow.EdgeSpec{c.edge}
			}
			j, err := arkflow.FromSpec(nil, s)
			require.NoError(t, err)
			p, err := j.Compile()
			require.NoError(t, err)
			assert.Contains(t, p.Explain(), c.want)
			if name == "none" {
				assert.Equal(t, []string{`edge "in" -> "out" is partitioned without a key: rows are dealt in turn`}, p.Warnings())
			}
		})
	}
}

func TestB5_lateEdges(t *testing.T) {
	s := base()
	s.Sources[0].Config = map[string]any{"rows": []any{map[string]any{"ts": int64(1), "k": "x"}}}
	s.Sources[0].Time = &arkflow.TimeSpec{Mode: "event_time", TimestampField: "ts"}
	s.Operators = append(s.Operators, arkflow.OperatorSpec{ID: "w", Kind: "window", Config: map[string]any{"size_ms": int64(1000), "key": []any{"k"},
		"aggregates": []any{map[string]any{"function": "count"}}}}, arkflow.OperatorSpec{ID: "late", Kind: "sink"})
	s.Sinks = append(s.Sinks, arkflow.SinkSpec{OperatorID: "late", OutputType: "drop"})
	s.Edges = []arkflow.EdgeSpec{{From: "in", To: "w"}, {From: "w", To: "out"}, {From: "w", To: "late", Port: "late"}}
	j, err := arkflow.FromSpec(nil, s)
	require.NoError(t, err, "a late edge chooses the policy route")
	p, err := j.Compile()
	require.NoError(t, err)
	assert.Contains(t, p.Explain(), "from w (late rows): fused")

	s.Operators[2].Config["late_policy"] = "drop"
	_, err = arkflow.FromSpec(nil, s)
	assert.Equal(t, []string{`operator "w": operators[2].config.late_policy: is drop, but an edge reads the late rows; write route, or remove the edge`}, messages(t, err))

	s.Operators[2].Config["late_policy"] = "route"
	s.Edges, s.Operators, s.Sinks = s.Edges[:2], s.Operators[:3], s.Sinks[:1]
	_, err = arkflow.FromSpec(nil, s)
	assert.Equal(t, []string{`operator "w": operators[2].config.late_policy: is route, but no edge reads the late rows; add an edge with port: late, or write drop`}, messages(t, err))
}

type scored struct {
	TS    int64
	Score float64
}

func score(o order) scored { return scored{o.TS, o.Amount} }

func isPaid(o order) bool { return o.Status == "paid" }

var negatives = operator.Side[scored]("negatives")

func bothScores(o order, emit func(scored), to *operator.Sides) error {
	emit(score(o))
	negatives.Emit(to, scored{o.TS, -o.Amount})
	return nil
}

func sameBatch(in arrow.RecordBatch) (arrow.RecordBatch, error) { in.Retain(); return in, nil }

func asyncScore(_ context.Context, o order) (scored, error) { return score(o), nil }

// builtins is a job for each built-in component.
func builtins(dir string) map[string]func(j *arkflow.Job) {
	generated := generate.Source{Context: `{"ts": 1, "customer_id": "c", "status": "paid", "amount": 1.5}`, Interval: 500 * time.Millisecond, BatchSize: 2, Count: 10}
	orders := func(j *arkflow.Job) arkflow.Stream {
		return j.Source("in", generated, arkflow.EventTime("ts", arkflow.OutOfOrderness(1500*time.Microsecond), arkflow.IdleTimeout(time.Minute)))
	}
	return map[string]func(j *arkflow.Job){
		"memory": func(j *arkflow.Job) {
			j.Source("in", memory.Source{}, arkflow.IngestionTime(), arkflow.OnError(arkflow.Skip())).Sink("out", memory.NewSink())
		},
		"generate": func(j *arkflow.Job) {
			orders(j).Sink("out", drop.Sink{}, arkflow.Tasks(2), arkflow.OnError(arkflow.Skip()))
		},
		"file": func(j *arkflow.Job) {
			j.Source("in", file.Source{URL: filepath.Join(dir, "*.jsonl"), Format: codec.JSONOf[order](), InOrder: true}, arkflow.EventTime("ts")).
				Sink("out", file.Sink{URL: filepath.Join(dir, "out.jsonl")})
		},
		"file without schema": func(j *arkflow.Job) {
			j.Source("in", file.Source{URL: filepath.Join(dir, "*.jsonl"), Format: codec.JSON(nil)}, arkflow.ProcessingTime()).Sink("out", stdout.Sink{})
		},
		"filter": func(j *arkflow.Job) {
			orders(j).Filter("f", status.Eq("paid").And(amount.Gt(0).Or(amount.IsNull()))).Sink("out", stdout.Sink{})
		},
		"select": func(j *arkflow.Job) {
			orders(j).Select("s", "ts", expr.Col("status"), amount.Mul(2).As("double")).Sink("out", drop.Sink{})
		},
		"rename": func(j *arkflow.Job) { orders(j).Rename("r", map[string]string{"ts": "time"}).Sink("out", drop.Sink{}) },
		"drop":   func(j *arkflow.Job) { orders(j).Drop("d", "status", "ts").Sink("out", drop.Sink{}) },
		"map": func(j *arkflow.Job) {
			orders(j).Apply("m", operator.Map(score).Named("score/v1")).Sink("out", drop.Sink{})
		},
		"window": func(j *arkflow.Job) {
			w := orders(j).KeyBy("customer_id", "status").
				Window("w", window.Tumbling(time.Minute).Offset(time.Second).MaxBufferedKeys(10).OnFull(window.Fail),
					window.Count(), window.Count("amount").As("n"), window.Sum("amount"), window.Min("ts"), window.Max("ts"), window.Avg("amount").As("mean")).
				With(arkflow.Tasks(3), arkflow.OnError(arkflow.Skip()))
			w.Sink("out", drop.Sink{})
			w.Late().Sink("late", drop.Sink{})
		},
		"filter function": func(j *arkflow.Job) {
			arkflow.As[order](orders(j).Select("s", "ts", "customer_id", "status", "amount")).Filter("f", isPaid).Named("paid/v1").Stream().Sink("out", drop.Sink{})
		},
		"flat_map": func(j *arkflow.Job) {
			twice := orders(j).Apply("f", operator.FlatMapSides(bothScores, negatives).Named("both/v1"))
			twice.Sink("out", drop.Sink{})
			twice.Side("negatives").Sink("other", drop.Sink{})
		},
		"map_batch": func(j *arkflow.Job) {
			orders(j).Apply("m", operator.MapBatch(nil, sameBatch).Named("same/v1")).Sink("out", drop.Sink{})
		},
		"union": func(j *arkflow.Job) {
			s := orders(j)
			s.Union("u", s.Filter("f", amount.Gt(0))).Sink("out", drop.Sink{})
		},
		"split": func(j *arkflow.Job) {
			b := orders(j).Split("s", arkflow.When("paid", status.Eq("paid")), arkflow.When("large", amount.Gt(9)), arkflow.Otherwise("rest"))
			b.Branch("rest").Sink("out", drop.Sink{})
			b.Branch("paid").Drop("d", "status").Sink("paid-out", drop.Sink{})
			b.Branch("large").Sink("large-out", drop.Sink{})
		},
		"async": func(j *arkflow.Job) {
			orders(j).Apply("a", operator.Async(asyncScore, operator.AsyncConfig{InFlight: 7, Unordered: true, Timeout: time.Second, Retries: 2, Backoff: time.Millisecond}).
				Named("ask/v1")).Sink("out", drop.Sink{})
		},
		"with_timestamps": func(j *arkflow.Job) {
			orders(j).WithTimestamps("t", "ts", arkflow.OutOfOrderness(time.Minute), arkflow.MaxFutureSkew(1500*time.Microsecond)).Sink("out", drop.Sink{})
		},
		"fan-out": func(j *arkflow.Job) {
			s := orders(j)
			s.Sink("a", drop.Sink{})
			s.Sink("b", drop.Sink{})
			s.Drop("in-a", "ts").Sink("c", drop.Sink{})
		},
	}
}

// A job, its spec, the spec in YAML and JSON, and the job made of it again are one graph.
func TestB5_builderSpecAndBackGiveOnePlan(t *testing.T) {
	reg := arkflow.NewRegistry()
	for name, f := range map[string]operator.Operator{"score/v1": operator.Map(score), "paid/v1": operator.FilterFunc(isPaid), "both/v1": operator.FlatMapSides(bothScores, negatives),
		"same/v1": operator.MapBatch(nil, sameBatch), "ask/v1": operator.Async(asyncScore, operator.AsyncConfig{})} {
		require.NoError(t, reg.RegisterFunction(name, f))
	}
	for name, build := range builtins(t.TempDir()) {
		t.Run(name, func(t *testing.T) {
			j := arkflow.NewJob("job", arkflow.Parallelism(2), arkflow.MaxParallelism(64), arkflow.CheckpointEvery(3*time.Second))
			build(j)
			want, err := j.Compile()
			require.NoError(t, err)
			spec, err := j.Spec()
			require.NoError(t, err)
			assert.Equal(t, arkflow.SpecAPI, spec.API)
			require.NoError(t, spec.Validate())
			text, err := arkflow.FormatSpecs(spec)
			require.NoError(t, err)
			specs, err := arkflow.LoadSpecs(text)
			require.NoError(t, err, "%s", text)
			js, err := json.Marshal(spec)
			require.NoError(t, err)
			var viaJSON arkflow.JobSpec
			require.NoError(t, json.Unmarshal(js, &viaJSON))
			assert.Equal(t, specs[0], viaJSON)
			for _, s := range []arkflow.JobSpec{spec, specs[0]} {
				back, err := arkflow.FromSpec(reg, s)
				require.NoError(t, err, "%s", text)
				got, err := back.Compile()
				require.NoError(t, err)
				assert.Equal(t, want.Explain(), got.Explain(), "%s", text)
				again, err := back.Spec()
				require.NoError(t, err)
				assert.Equal(t, s, again)
			}
		})
	}
}

func TestB5_whatHasNoNameCannotBeWritten(t *testing.T) {
	j := arkflow.NewJob("job")
	j.Source("in", memory.Of([]order{{}}), arkflow.EventTime("ts")).
		Apply("m", operator.Map(score)).
		Apply("own", ownOperator{}).Sink("out", ownSink{})
	_, err := j.Compile()
	require.NoError(t, err)
	_, err = j.Spec()
	got := messages(t, err)
	require.Len(t, got, 4)
	assert.Contains(t, got[0], `operator "in": config: rows that are given in Go cannot be written in a spec`)
	assert.Contains(t, got[1], `operator "m": config.function: the function has no name`)
	assert.Contains(t, got[2], `operator "own": a arkflow_test.ownOperator cannot be written in a spec: it has no method Config`)
	assert.Contains(t, got[3], `operator "out": a arkflow_test.ownSink cannot be written in a spec: it has no method Config`)
}

type ownOperator struct{}

func (ownOperator) Kind() string { return "own" }
func (ownOperator) Bind(in []operator.Stream) (operator.Bound, error) {
	return operator.Drop("Score").Bind(in)
}

type ownSink struct{ operator.Sink }

func (ownSink) Kind() string                { return "own" }
func (ownSink) Check(operator.Stream) error { return nil }

func TestNewRegistry_holdsTheBuiltIns(t *testing.T) {
	r := arkflow.NewRegistry()
	assert.Equal(t, []string{"async", "drop", "filter", "flat_map", "map", "map_batch", "rename", "select", "split", "union", "window", "with_timestamps"}, r.OperatorKinds())
	_, err := r.Source("?", connectors.Params{})
	require.ErrorContains(t, err, `registered are ["file" "generate" "memory"]`)
	_, err = r.Sink("?", connectors.Params{})
	require.ErrorContains(t, err, `registered are ["drop" "file" "memory" "stdout"]`)
	require.NoError(t, r.RegisterSink("mine", func(connectors.Params) (operator.Sink, error) { return drop.Sink{}, nil }))
	_, err = arkflow.NewRegistry().Sink("mine", connectors.Params{})
	require.Error(t, err, "each registry is its own")
}

func TestFromSpec_seesThroughBrokenComponents(t *testing.T) {
	r := arkflow.NewRegistry()
	require.NoError(t, r.RegisterSink("nothing", func(connectors.Params) (operator.Sink, error) { return nil, nil }))
	s := base()
	s.Sinks[0].OutputType = "nothing"
	_, err := arkflow.FromSpec(r, s)
	assert.Equal(t, []string{`operator "out": sinks[0]: the registered function of "nothing" made nothing; this is a bug of the component`}, messages(t, err))
}

func FuzzLoadSpecs(f *testing.F) {
	for _, name := range samples {
		data, err := os.ReadFile(filepath.Join("testdata", "specs", name+".yaml"))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte(`{"jobs": [{"id": "a", "version": 1, "operators": [{"id": "x", "kind": "source"}], "edges": [{"from": "x", "to": "x", "key": "k"}]}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		specs, err := arkflow.LoadSpecs(data)
		if err != nil {
			return
		}
		text, err := arkflow.FormatSpecs(specs...)
		if err != nil {
			t.Fatal(err)
		}
		again, err := arkflow.LoadSpecs(text)
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		assert.Equal(t, specs, again)
		for _, s := range specs {
			j, err := arkflow.FromSpec(nil, s)
			if err != nil {
				if j != nil || err.Error() == "" {
					t.Fatal("an error without text, or with a job")
				}
				_ = s.Validate()
				continue
			}
			if _, err := j.Compile(); err != nil {
				t.Fatalf("FromSpec takes what Compile refuses: %v", err)
			}
			if err := s.Validate(); err != nil {
				t.Fatalf("FromSpec takes what Validate refuses: %v", err)
			}
		}
	})
}
