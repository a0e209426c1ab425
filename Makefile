# Every target is a thin name for what .ci/run or the go command does.

.PHONY: test race lint golden fuzz bench soak check

# All tests.
test:
	go test ./...

# All tests under the race detector.
race:
	go test -race ./...

# gofmt, golangci-lint and staticcheck, built from tools/go.mod at first use.
lint:
	STEPS="format lint" bash .ci/run

# Whole jobs against one expected output, over batch cuts, parallelism, splits, barriers and restores.
golden:
	go test -count 1 ./internal/golden

# Each fuzz target for FUZZTIME (default 30s).
fuzz:
	STEPS=fuzz FUZZTIME=$${FUZZTIME:-30s} bash .ci/run

# A SUITE (default engine) beside its bare loops, over N rows (default: that of each benchmark).
bench:
	go run ./bench -suite $${SUITE:-engine} -n $${N:-0} -p $${P:-1}

# Jobs that are killed KILLS times (default 500) and go on, all tests COUNT times over (default 20; property tests draw new cases each time), then
# long fuzzing.
soak:
	ARKFLOW_KILLS=$${KILLS:-500} go test -count 1 -v -timeout 1h -run Crash ./internal/golden
	go test -count $${COUNT:-20} -timeout 4h ./...
	STEPS=fuzz FUZZTIME=$${FUZZTIME:-5m} bash .ci/run

# What a change must pass.
check:
	bash .ci/run
