# Everything that is done with this project. `make` alone lists it.

VENV  := .venv
BIN   := $(VENV)/bin
CORE  := service/tokencountd/_core.abi3.so
SOURCES := $(shell find rust_core proto -name target -prune -o -type f -print) Cargo.toml Cargo.lock
BUF   := ../$(BIN)/buf
AI_TOKENIZER := benchmarks/accuracy/ai_tokenizer

export TOKENCOUNTD := $(CURDIR)/$(BIN)/tokencountd

.DEFAULT_GOAL := help
.PHONY: help
help: ## List what can be done
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/  make \1|\2/' | column -t -s '|'

# ---- Setting up -------------------------------------------------------------------------------

$(VENV)/.installed: requirements.lock clients/python/pyproject.toml
	python3 -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	$(BIN)/pip install --quiet --disable-pip-version-check --no-build-isolation --no-deps -e clients/python
	touch $@

$(CORE): $(VENV)/.installed pyproject.toml $(SOURCES)
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/pip install --quiet --disable-pip-version-check --no-build-isolation --no-deps -e .
	touch $@

.PHONY: build
build: $(CORE) ## Build the service into .venv

# ---- Using it ---------------------------------------------------------------------------------

.PHONY: run serve
run: build ## Count real requests of every provider on a server of its own
	$(BIN)/python clients/python/examples/tour.py

serve: build ## Serve on 127.0.0.1:50051
	$(BIN)/tokencountd serve

# ---- Checking it ------------------------------------------------------------------------------

.PHONY: test test-rust test-python test-go test-typescript test-java
test: test-rust test-python test-go test-typescript test-java ## Pass every test in every language

test-rust:
	cargo test --quiet

test-python: build
	$(BIN)/pytest
	cd clients/python && ../../$(BIN)/pytest

test-go: build
	cd clients/go && go test -count=1 ./...

test-typescript: build clients/typescript/node_modules
	npm --prefix clients/typescript test

test-java: build
	mvn --quiet --batch-mode --file clients/java/pom.xml verify

clients/typescript/node_modules: clients/typescript/package-lock.json
	npm --prefix clients/typescript ci --silent
	touch $@

.PHONY: fuzz
fuzz: ## Compare a hundred million counts with the reference, some hours; then search for an hour with cargo-fuzz
	cargo test --release -p tokencount-core --test bpe a_hundred_million -- --ignored --nocapture
	cargo +nightly fuzz run --fuzz-dir rust_core/fuzz count -- -max_total_time=3600

.PHONY: test-generated
test-generated: ## Check 10,000 generated prompts of every interface: some minutes
	PROPTEST_CASES=10000 cargo test --release -p tokencount-core --test generated

.PHONY: lint lint-rust lint-python lint-proto lint-go
lint: lint-rust lint-python lint-proto lint-go check-generated ## Check style, types and the contract

lint-rust:
	cargo fmt --check
	cargo clippy --quiet --all-targets --features python -- -D warnings

lint-python: build
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/pyright --pythonpath $(BIN)/python
	cd clients/python && ../../$(BIN)/pyright --pythonpath ../../$(BIN)/python

lint-proto: $(VENV)/.installed
	cd proto && $(BUF) lint
	cd proto && $(BUF) format --diff --exit-code
	cd proto && $(BUF) breaking --against tokencount.binpb

lint-go:
	cd clients/go && test -z "$$(gofmt -l .)" && go vet ./...

# ---- Generated code ---------------------------------------------------------------------------

.PHONY: generate check-generated release-contract lock
generate: ## Write the clients' stubs from the proto files
	clients/generate.sh

check-generated: generate
	test -z "$$(git status --porcelain -- clients)" || { git status -- clients; git diff -- clients; exit 1; }

release-contract: $(VENV)/.installed ## Take the contract as one that later changes must not break
	cd proto && $(BUF) build -o tokencount.binpb

lock: ## Lock the newest versions of the Python packages
	python3 -m venv .work/uv
	.work/uv/bin/pip install --quiet uv==0.13.9
	.work/uv/bin/uv pip compile --quiet --generate-hashes --no-emit-index-url --no-annotate --no-header \
		--upgrade --no-emit-package tokencount --extra telemetry --group dev pyproject.toml -o requirements.lock
	.work/uv/bin/uv pip compile --quiet --generate-hashes --no-emit-index-url --no-annotate --no-header \
		--upgrade clients/generate.in -o clients/generate.txt
	.work/uv/bin/uv pip compile --quiet --generate-hashes --no-emit-index-url --no-annotate --no-header \
		--upgrade benchmarks/peers.in -o benchmarks/peers.txt

# ---- Measuring --------------------------------------------------------------------------------

GHZ := .work/bin/ghz

$(GHZ):
	GOBIN=$(CURDIR)/.work/bin go install github.com/bojand/ghz/cmd/ghz@v0.121.0

.work/peers/.installed: benchmarks/peers.txt
	python3 -m venv .work/peers
	.work/peers/bin/pip install --quiet --disable-pip-version-check --require-hashes -r benchmarks/peers.txt
	touch $@

ECHO := .work/bin/tonic-echo

$(ECHO): $(shell find benchmarks/tonic_echo proto -type f)
	cargo install --quiet --locked --force --root .work --target-dir .work/tonic-echo --path benchmarks/tonic_echo

.PHONY: bench charts soak load bench-bpe accuracy
bench: build $(GHZ) $(ECHO) .work/peers/.installed ## Measure the service beside its peers
	$(BIN)/python -m benchmarks; status=$$?; $(MAKE) --no-print-directory charts && exit $$status

charts: .work/peers/.installed ## Draw the charts of the results again
	.work/peers/bin/python benchmarks/charts.py benchmarks/results

soak: build $(GHZ) ## Hold servers under load and abuse: some twenty minutes
	$(BIN)/python -m benchmarks.soak

load: build $(GHZ) ## Send 10,000 calls of each method to a server, through its reflection
	$(BIN)/python -m benchmarks.load

bench-bpe: ## Measure the counters on the texts in CORPUS
	cargo run --quiet --release --manifest-path benchmarks/bpe/Cargo.toml -- $(CORPUS)

$(AI_TOKENIZER)/node_modules: $(AI_TOKENIZER)/package-lock.json
	npm --prefix $(AI_TOKENIZER) ci --silent
	touch $@

accuracy: build .work/peers/.installed $(AI_TOKENIZER)/node_modules ## Compare counts, ours and others', with recorded bills in DATA
	$(BIN)/python -m benchmarks.accuracy $(DATA) --leave-out repository --leave-out cassette \
		--results benchmarks/results $(FLAGS)
