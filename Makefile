# The two commands that do everything on a fresh Debian or Ubuntu machine with a Rust toolchain.
# They only set up and hand over: the work is in scripts/setup.sh, `outcrop` and `cargo xtask`.

.PHONY: help profile test

help:
	@echo 'make profile              build outcrop and measure the disk that this folder is on; ends with a report'
	@echo '     ARGS=--quick         at most 90 seconds (any options of `outcrop profile` go in ARGS)'
	@echo '     ARGS=/mnt/data       another filesystem'
	@echo 'make test                 run everything that CI runs (`cargo xtask check`)'

profile:
	@scripts/setup.sh profile
	@cargo build --release --locked --package outcrop
	@$${CARGO_TARGET_DIR:-target}/release/outcrop profile $(ARGS)

test:
	@scripts/setup.sh test
	@cargo xtask check
