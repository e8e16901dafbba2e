# The commands of those who work on the code. `make` lists them. Each script of .ci prints the seconds of its steps.

.PHONY: help test fast full scheduled run lint race cost figures mutants

help: ## this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-10s %s\n", $$1, $$2 }' Makefile

test: ## all tests that need only Go: before each commit
	go test ./...

fast: ## these, lint with vet, other platforms, the oldest Go
	.ci/fast

full: ## before a change lands: race, ten mutants, prove, other people's clients, the published suites
	.ci/full

scheduled: ## what takes hours; PARTS="a b" runs some of its parts
	.ci/scheduled $(PARTS)

run: ## all that must hold: downloads, fast and full
	.ci/run

lint: ## golangci-lint, in all modules
	.ci/lint

race: ## the tests of all packages that start goroutines, with the race detector
	.ci/race

cost: ## the CPU seconds of the tests
	.ci/cost

figures: ## measures docs/FIGURES.md anew; NAMES="a b" measures some
	go run ./internal/devtools/figures $(NAMES)

mutants: ## changes lines and looks whether a test notices; PACKAGES="./a ./b"
	go run ./internal/devtools/mutation $(PACKAGES)
