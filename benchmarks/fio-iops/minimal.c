/*
 * A short loop that reads at depth 1 through io_uring: one system call and two readings of the clock for each read of
 * 4 KiB, and nothing else. Its CPU time is a comparison for tools that measure latency, and no bound: next to all of it is
 * the kernel's, and depends on how a program waits and sets up its ring.
 *
 * Registered are the file, the buffer and the ring; the ring has SINGLE_ISSUER, DEFER_TASKRUN and, where the kernel
 * has it, NO_SQARRAY. No library: the three system calls are made here.
 *
 *     cc -O2 -o minimal minimal.c && ./minimal FILE SECONDS
 *
 * Prints: reads per second, microseconds of CPU time (user and kernel, of this process) for each read, and the mean
 * latency in microseconds.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/io_uring.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#ifndef IORING_SETUP_SINGLE_ISSUER
#define IORING_SETUP_SINGLE_ISSUER (1U << 12)
#define IORING_SETUP_DEFER_TASKRUN (1U << 13)
#endif
#ifndef IORING_SETUP_NO_SQARRAY
#define IORING_SETUP_NO_SQARRAY (1U << 16)
#endif

enum { BLOCK = 4096, ENTRIES = 2 };

#define WARM_UP_NS 1000000000u

static void fail(const char *what)
{
	fprintf(stderr, "%s: %s\n", what, strerror(errno));
	exit(1);
}

static uint64_t clock_ns(clockid_t which)
{
	struct timespec time;
	clock_gettime(which, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static int set_up(struct io_uring_params *params)
{
	const uint32_t sets[] = {
		IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN | IORING_SETUP_NO_SQARRAY,
		IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN,
		0,
	};
	for (size_t set = 0; set < sizeof sets / sizeof *sets; set++) {
		memset(params, 0, sizeof *params);
		params->flags = sets[set];
		int ring = (int)syscall(SYS_io_uring_setup, ENTRIES, params);
		if (ring >= 0)
			return ring;
	}
	fail("io_uring_setup");
	return -1;
}

static void enlist(int ring, unsigned what, void *argument, unsigned count)
{
	if (syscall(SYS_io_uring_register, ring, what, argument, count) < 0)
		fail("io_uring_register");
}

int main(int argc, char **argv)
{
	if (argc != 3) {
		fprintf(stderr, "usage: minimal FILE SECONDS\n");
		return 2;
	}
	int file = open(argv[1], O_RDONLY | O_DIRECT | O_CLOEXEC);
	if (file < 0)
		fail(argv[1]);
	uint64_t blocks = (uint64_t)lseek(file, 0, SEEK_END) / BLOCK;
	uint64_t length_ns = strtoull(argv[2], NULL, 10) * 1000000000u;

	struct io_uring_params params;
	int ring = set_up(&params);
	enlist(ring, IORING_REGISTER_FILES, &file, 1);
	void *buffer = mmap(NULL, BLOCK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	struct iovec vector = {.iov_base = buffer, .iov_len = BLOCK};
	enlist(ring, IORING_REGISTER_BUFFERS, &vector, 1);
	struct io_uring_rsrc_update handle = {.offset = -1U, .data = (uint64_t)ring};
	enlist(ring, IORING_REGISTER_RING_FDS, &handle, 1);

	size_t entries_bytes = params.sq_entries * sizeof(struct io_uring_sqe);
	size_t ring_bytes = params.cq_off.cqes + params.cq_entries * sizeof(struct io_uring_cqe);
	int shared = MAP_SHARED | MAP_POPULATE, both = PROT_READ | PROT_WRITE;
	char *area = mmap(NULL, ring_bytes, both, shared, ring, IORING_OFF_SQ_RING);
	struct io_uring_sqe *entries = mmap(NULL, entries_bytes, both, shared, ring, IORING_OFF_SQES);
	if (area == MAP_FAILED || (void *)entries == MAP_FAILED || buffer == MAP_FAILED)
		fail("mmap");
	uint32_t *submitted = (uint32_t *)(area + params.sq_off.tail);
	uint32_t *seen = (uint32_t *)(area + params.cq_off.head);
	struct io_uring_cqe *completions = (struct io_uring_cqe *)(area + params.cq_off.cqes);
	if (!(params.flags & IORING_SETUP_NO_SQARRAY))
		for (uint32_t entry = 0; entry < params.sq_entries; entry++)
			((uint32_t *)(area + params.sq_off.array))[entry] = entry;
	for (uint32_t entry = 0; entry < params.sq_entries; entry++)
		entries[entry] = (struct io_uring_sqe){
			.opcode = IORING_OP_READ_FIXED, .flags = IOSQE_FIXED_FILE, .len = BLOCK, .addr = (uint64_t)buffer,
		};

	uint64_t state = clock_ns(CLOCK_MONOTONIC) | 1, reads = 0, latency_ns = 0, now, begin, cpu_ns = 0;
	begin = now = clock_ns(CLOCK_MONOTONIC);
	/* A second under load first, as fio and Outcrop have it: the device and the CPU come up to speed. */
	for (int is_warm = 0; is_warm < 2; is_warm++) {
		uint64_t span_ns = is_warm ? length_ns : WARM_UP_NS;
		reads = latency_ns = 0;
		cpu_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
		begin = now;
		while (now - begin < span_ns) {
			/* xorshift64, and the high half of a product in place of a division. */
			state ^= state << 13, state ^= state >> 7, state ^= state << 17;
			uint32_t tail = *submitted;
			entries[tail & (params.sq_entries - 1)].off =
				(uint64_t)(((__uint128_t)state * blocks) >> 64) * BLOCK;
			__atomic_store_n(submitted, tail + 1, __ATOMIC_RELEASE);
			uint64_t start = clock_ns(CLOCK_MONOTONIC);
			if (syscall(SYS_io_uring_enter, handle.offset, 1, 1,
				    IORING_ENTER_GETEVENTS | IORING_ENTER_REGISTERED_RING, NULL, 0) != 1)
				fail("io_uring_enter");
			int result = completions[*seen & (params.cq_entries - 1)].res;
			__atomic_store_n(seen, *seen + 1, __ATOMIC_RELEASE);
			now = clock_ns(CLOCK_MONOTONIC);
			if (result != BLOCK) {
				errno = result < 0 ? -result : EIO;
				fail("read");
			}
			latency_ns += now - start;
			reads++;
		}
	}
	cpu_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu_ns;
	printf("%.1f %.4f %.2f\n", (double)reads * 1e9 / (double)(now - begin), (double)cpu_ns / 1e3 / (double)reads,
	       (double)latency_ns / 1e3 / (double)reads);
	return 0;
}
