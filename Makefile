# The commands that do everything on a fresh Debian or Ubuntu machine with a Rust toolchain.
# They only set up and hand over: the work is in scripts/setup.sh, `outcrop` and `cargo xtask`.

.PHONY: help profile test portable

help:
	@echo 'make profile              build outcrop and measure the disk that this folder is on; ends with a report'
	@echo '     ARGS=--quick         at most 90 seconds (any options of `outcrop profile` go in ARGS)'
	@echo '     ARGS=/mnt/data       another filesystem'
	@echo 'make test                 run the checks and tests that CI runs (`cargo xtask check`)'
	@echo 'make portable             build target/portable/outcrop for every Linux with glibc 2.28 or newer'

profile:
	@scripts/setup.sh profile
	@cargo build --release --locked --package outcrop
	@$${CARGO_TARGET_DIR:-target}/release/outcrop profile $(ARGS)

test:
	@scripts/setup.sh test
	@cargo xtask check

portable:
	@scripts/setup.sh test
	@cargo xtask portable
