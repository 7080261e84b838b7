/* Reads and updates on RocksDB's C interface, written by hand: what the driver of outcrop-kv is compared with.
 *
 * A shared library that stands for RocksDB: the driver finds it as $OUTCROP_ROCKSDB_LIB, and all of its functions but one are RocksDB's.
 * `rocksdb_open` remembers the database, so that `slice_by_hand` works on the same one as the driver, with the same block cache and levels,
 * in the same process. Two processes with a copy each differ by up to 10 % in either direction, which hides what is asked. The loop has
 * records that the driver does not touch, as many and under keys between the driver's, because the driver verifies what it reads.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <inttypes.h>
#include <rocksdb/c.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { VALUE_BYTES = 1000, POOL_BYTES = 4 << 20 };

static const double WARM_UP_S = 0.02;

static rocksdb_t *db;
static uint64_t state = 7;
/* Keeps the compiler from leaving out what nobody reads. */
volatile uint64_t seen;

rocksdb_t *rocksdb_open(const rocksdb_options_t *options, const char *name, char **error) {
  rocksdb_t *(*open)(const rocksdb_options_t *, const char *, char **);
  *(void **)&open = dlsym(RTLD_NEXT, "rocksdb_open");
  return db = open(options, name, error);
}

static uint64_t draw(void) {
  uint64_t word = (state += 0x9e3779b97f4a7c15u);
  word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9u;
  word = (word ^ (word >> 27)) * 0x94d049bb133111ebu;
  return word ^ (word >> 31);
}

static size_t key_of(uint64_t id, char *key) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (int octet = 0; octet < 8; octet++, id >>= 8) hash = (hash ^ (id & 0xff)) * 0x100000001b3u;
  int64_t folded = (int64_t)hash;
  return (size_t)sprintf(key, "user%" PRIu64, (uint64_t)(folded < 0 ? -folded : folded));
}

static double read_clock(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static void check(char *error) {
  if (error == NULL) return;
  fprintf(stderr, "%s\n", error);
  exit(3);
}

static rocksdb_writeoptions_t *write_options;
static char *pool;

static void put(uint64_t id) {
  char *error = NULL, key[32];
  size_t length = key_of(id, key);
  rocksdb_put(db, write_options, key, length, pool + draw() % POOL_BYTES, VALUE_BYTES, &error);
  check(error);
}

/* Stores the loop's records. Half of every value is random and half is zeros. */
void fill_by_hand(uint64_t records) {
  write_options = rocksdb_writeoptions_create();
  pool = calloc(1, POOL_BYTES + VALUE_BYTES);
  for (size_t at = 0; at < POOL_BYTES; at += 1000)
    for (size_t byte = 0; byte < 500; byte++) pool[at + byte] = (char)draw();
  for (uint64_t id = records; id < 2 * records; id++) put(id);
  /* The driver's load ends with a flush. */
  char *error = NULL;
  rocksdb_flushoptions_t *options = rocksdb_flushoptions_create();
  rocksdb_flush(db, options, &error);
  check(error);
  rocksdb_flushoptions_destroy(options);
}

/* Uniform requests for a slice. It times nothing but the whole and verifies nothing; with `looks` it adds up the bytes of each value that it
 * reads, as a program does that reads a value for a reason. Into `told` go the operations, the nanoseconds, and the nanoseconds of CPU time
 * of this thread. */
void slice_by_hand(uint64_t records, double seconds, uint64_t reads, int looks, double told[3]) {
  rocksdb_readoptions_t *read_options = rocksdb_readoptions_create();
  char *error = NULL, key[32];
  uint64_t operations = 0, bytes = 0;
  state = 7; /* The driver draws the same requests in each slice, too. */
  double start = 0, cpu_start = 0, end = read_clock(CLOCK_MONOTONIC) + WARM_UP_S * 1e9;
  for (int is_measured = 0;; operations++) {
    if ((operations & 63) == 0 && read_clock(CLOCK_MONOTONIC) >= end) {
      if (is_measured) break;
      is_measured = 1, operations = 0, cpu_start = read_clock(CLOCK_THREAD_CPUTIME_ID);
      start = read_clock(CLOCK_MONOTONIC), end = start + seconds * 1e9;
    }
    uint64_t id = records + draw() % records;
    if (draw() % 100 >= reads) {
      put(id);
      continue;
    }
    size_t length = key_of(id, key);
    rocksdb_pinnableslice_t *value = rocksdb_get_pinned(db, read_options, key, length, &error);
    check(error);
    size_t size = 0;
    const char *read = rocksdb_pinnableslice_value(value, &size);
    bytes += size;
    for (size_t at = 0; looks && at + 8 <= size; at += 8) {
      uint64_t word;
      memcpy(&word, read + at, 8);
      bytes += word;
    }
    rocksdb_pinnableslice_destroy(value);
  }
  told[0] = (double)operations;
  told[1] = read_clock(CLOCK_MONOTONIC) - start;
  told[2] = read_clock(CLOCK_THREAD_CPUTIME_ID) - cpu_start;
  seen = bytes;
  rocksdb_readoptions_destroy(read_options);
}
