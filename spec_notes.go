package arkflow

// specNote is what the schema says of a field beyond its type.
type specNote struct {
	text     string
	least    *int // the least value of a number
	id       bool // an ID of a job, operator or edge
	required bool // though its tag says omitempty
}

// specNotes describes every field of a JobSpec, named by struct and field. SpecSchema fails over a field that is not here.
func specNotes() map[string]specNote {
	zero, one := new(int), new(int)
	*one = 1
	return map[string]specNote{
		"JobSpec.api":             {text: "version of the format"},
		"JobSpec.id":              {text: "the job's name", id: true},
		"JobSpec.version":         {text: "version of the job, 1 or more", least: one},
		"JobSpec.parallelism":     {text: "tasks of each operator that sets none; defaults to 1", least: zero},
		"JobSpec.max_parallelism": {text: "number of key groups; defaults to 128", least: zero},
		"JobSpec.rescale":         {text: "recovery may redistribute state"},
		"JobSpec.placement":       {text: "colocated (default) or split; a local run ignores it"},
		"JobSpec.node_ids":        {text: "where to place the job; a local run ignores it"},
		"JobSpec.rebalance":       {text: "whether a fleet may move the job; a local run ignores it"},
		"JobSpec.checkpoint":      {text: "how often an epoch is taken"},
		"JobSpec.operators":       {text: "sources, operators and sinks"},
		"JobSpec.edges":           {text: "which operator's rows go where"},
		"JobSpec.sources":         {text: "what each operator of kind source reads"},
		"JobSpec.sinks":           {text: "where each operator of kind sink writes"},
		"JobSpec.state":           {text: "where keyed state lives"},
		"JobSpec.recovery":        {text: "where the job starts: latest_checkpoint or none"},

		"OperatorSpec.id":          {text: "unique in the job", id: true},
		"OperatorSpec.kind":        {text: "source, sink or a registered kind of operator"},
		"OperatorSpec.config":      {text: "configuration of the kind; of a source or sink it stands under sources or sinks"},
		"OperatorSpec.parallelism": {text: "number of tasks; defaults to the job's", least: zero},
		"OperatorSpec.on_error":    {text: "what happens to rows in error; defaults to fail"},

		"ErrorSpec.retry":            {text: "further tries; defaults to none", least: zero},
		"ErrorSpec.backoff_ms":       {text: "time before the first further try; doubles with each, up to a minute", least: zero},
		"ErrorSpec.then":             {text: "what happens after the tries: fail (default), skip or dead_letter"},
		"ErrorSpec.dead_letter":      {text: "the sink of rows in error, with then: dead_letter"},
		"DeadLetterSpec.output_type": {text: "a registered kind of sink"},
		"DeadLetterSpec.config":      {text: "configuration of the kind"},
		"DeadLetterSpec.codec":       {text: "format of the rows, by its type"},

		"EdgeSpec.id":          {text: "unique in the job", id: true},
		"EdgeSpec.from":        {text: "ID of the operator whose rows are taken", id: true},
		"EdgeSpec.to":          {text: "ID of the operator that gets them", id: true},
		"EdgeSpec.port":        {text: "which rows: main (default), late, or the tag of an output"},
		"EdgeSpec.partitioned": {text: "rows of one key go to one task"},
		"EdgeSpec.key":         {text: "columns of the key; defaults to config.key of the operator that it leads to"},

		"SourceSpec.operator_id":  {text: "ID of the operator of kind source", id: true},
		"SourceSpec.input_type":   {text: "a registered kind of source"},
		"SourceSpec.config":       {text: "configuration of the kind; its type, where given, is the input_type"},
		"SourceSpec.codec":        {text: "format of the records, by its type"},
		"SourceSpec.time":         {text: "where the event time of rows comes from", required: true},
		"SourceSpec.max_rate":     {text: "rows a second, over all tasks; 0: no limit", least: zero},
		"SourceSpec.max_drift_ms": {text: "how far a split may be ahead of the slowest; 0: no limit", least: zero},

		"TimeSpec.mode":                     {text: "event_time, ingestion_time or processing_time"},
		"TimeSpec.timestamp_field":          {text: "with event_time: the Int64 (milliseconds) or timestamp column of the event time"},
		"TimeSpec.watermark":                {text: "with event_time: how watermarks follow from it"},
		"WatermarkSpec.strategy":            {text: "bounded_out_of_orderness, the default"},
		"WatermarkSpec.out_of_orderness_ms": {text: "how far rows may be behind without being late; defaults to 0", least: zero},
		"WatermarkSpec.idle_timeout_ms":     {text: "after so long without a row a split holds nobody back; 0: never", least: zero},
		"WatermarkSpec.max_future_skew_ms":  {text: "rows further ahead of the clock do not move the watermark; 0: no limit", least: zero},

		"SinkSpec.operator_id": {text: "ID of the operator of kind sink", id: true},
		"SinkSpec.output_type": {text: "a registered kind of sink"},
		"SinkSpec.config":      {text: "configuration of the kind; its type, where given, is the output_type"},
		"SinkSpec.codec":       {text: "format of the rows, by its type"},
		"SinkSpec.max_rate":    {text: "rows a second, over all tasks; 0: no limit", least: zero},

		"StateSpec.backend":             {text: "a registered state backend; defaults to memory"},
		"StateSpec.format_version":      {text: "version of the state format; this is 1", least: zero},
		"CheckpointSpec.interval_ms":    {text: "time from one epoch to the next; defaults to 10 s", least: zero},
		"RebalanceSpec.mode":            {text: "off (default) or auto"},
		"RebalanceSpec.pressure_streak": {text: "number of pressed samples before a move", least: zero},
		"RebalanceSpec.cooldown_ms":     {text: "time between two moves", least: zero},
	}
}
