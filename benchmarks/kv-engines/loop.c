/* Reads and updates on RocksDB's C interface, written by hand: what the driver of outcrop-kv is compared with.
 *
 *   loop DIRECTORY RECORDS SECONDS READ_PERCENT [look]
 *
 * It opens the database, which `rocksdb_speed` has loaded with RECORDS records of 1000 B under YCSB's keys, and runs uniform requests for
 * SECONDS with the options of outcrop-kv: statistics on, LZ4, blocks of 4 KiB, 10 bits of bloom filter. It times nothing but the whole and
 * verifies nothing; with `look` it adds up the bytes of each value that it reads, as a program does that reads a value for a reason.
 * It prints operations per second, and per second of CPU time of its thread.
 */
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <rocksdb/c.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { VALUE_BYTES = 1000, POOL_BYTES = 4 << 20 };

static uint64_t state = 7;

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
  return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static double now(void) { return read_clock(CLOCK_MONOTONIC); }
static double cpu_time(void) { return read_clock(CLOCK_THREAD_CPUTIME_ID); }

static void check(char *error) {
  if (error == NULL) return;
  fprintf(stderr, "%s\n", error);
  exit(3);
}

int main(int argc, char **argv) {
  int looks = argc == 6 && strcmp(argv[5], "look") == 0;
  if (argc != 5 + looks) {
    fprintf(stderr, "usage: loop DIRECTORY RECORDS SECONDS READ_PERCENT [look]\n");
    return 2;
  }
  uint64_t records = strtoull(argv[2], NULL, 10), reads = strtoull(argv[4], NULL, 10);
  double seconds = atof(argv[3]);
  rocksdb_options_t *options = rocksdb_options_create();
  rocksdb_options_enable_statistics(options);
  rocksdb_options_set_stats_dump_period_sec(options, 0);
  rocksdb_options_set_compression(options, rocksdb_lz4_compression);
  rocksdb_options_set_write_buffer_size(options, 64 << 20);
  rocksdb_block_based_table_options_t *blocks = rocksdb_block_based_options_create();
  rocksdb_block_based_options_set_block_size(blocks, 4096);
  rocksdb_block_based_options_set_block_cache(blocks, rocksdb_cache_create_lru(32 << 20));
  rocksdb_block_based_options_set_filter_policy(blocks, rocksdb_filterpolicy_create_bloom_full(10));
  rocksdb_options_set_block_based_table_factory(options, blocks);
  char *error = NULL;
  rocksdb_t *db = rocksdb_open(options, argv[1], &error);
  check(error);
  rocksdb_readoptions_t *read_options = rocksdb_readoptions_create();
  rocksdb_writeoptions_t *write_options = rocksdb_writeoptions_create();

  /* Half of every value is random and half is zeros. */
  char *pool = calloc(1, POOL_BYTES + VALUE_BYTES), key[32];
  for (size_t at = 0; at < POOL_BYTES; at += 1000)
    for (size_t byte = 0; byte < 500; byte++) pool[at + byte] = (char)draw();

  uint64_t operations = 0, bytes = 0;
  double start = now(), end = start + 0.5, cpu_start = 0;
  int is_measured = 0;
  for (;;) {
    if ((operations & 63) == 0 && now() >= end) {
      if (is_measured) break;
      is_measured = 1, operations = 0, start = now(), end = start + seconds, cpu_start = cpu_time();
    }
    size_t length = key_of(draw() % records, key);
    if (draw() % 100 < reads) {
      rocksdb_pinnableslice_t *value = rocksdb_get_pinned(db, read_options, key, length, &error);
      check(error);
      size_t size = 0;
      const char *start = rocksdb_pinnableslice_value(value, &size);
      bytes += size;
      for (size_t at = 0; looks && at + 8 <= size; at += 8) {
        uint64_t word;
        memcpy(&word, start + at, 8);
        bytes += word;
      }
      rocksdb_pinnableslice_destroy(value);
    } else {
      rocksdb_put(db, write_options, key, length, pool + draw() % POOL_BYTES, VALUE_BYTES, &error);
      check(error);
    }
    operations++;
  }
  printf("%.0f %.0f\n", (double)operations / (now() - start), (double)operations / (cpu_time() - cpu_start));
  rocksdb_close(db);
  return bytes == 1;
}
