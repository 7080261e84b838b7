//! What options say, and which cannot be said.

use super::*;

fn said(pairs: &[(&str, &str)]) -> Workload {
    let mut options = Options::default();
    for (name, value) in pairs {
        options.set(name, value, "x.fio:1");
    }
    Workload::of(&options)
}

#[test]
fn what_is_left_out_is_as_fio_has_it() {
    let workload = said(&[]);
    assert!(workload.problems.is_empty(), "{:?}", workload.problems);
    let values: Vec<&str> = workload.said.iter().map(|said| said.value.as_str()).collect();
    assert_eq!(
        values[..9],
        [
            "sequential",
            "100:0",
            "4KiB",
            "1",
            "1",
            "psync",
            "closed",
            "random",
            "refill"
        ]
    );
}

#[test]
fn options_become_the_values_of_factors() {
    for (pairs, factor, value) in [
        (
            &[("rw", "randrw"), ("rwmixwrite", "30")][..],
            &READ_WRITE_MIX as FactorRef,
            "70:30",
        ),
        (&[("readwrite", "randwrite")], &READ_WRITE_MIX, "0:100"),
        (
            &[("rw", "randread"), ("random_distribution", "zipf:1.2")],
            &ACCESS_PATTERN,
            "zipfian:1.2",
        ),
        (&[("rw", "write"), ("bs", "4k,64k")], &IO_BLOCK_SIZE, "64KiB"),
        (&[("bs", "128KiB"), ("kb_base", "1000")], &IO_BLOCK_SIZE, "128KiB"),
        (&[("ioengine", "sync"), ("iodepth", "32")], &QUEUE_DEPTH, "1"),
        (&[("ioengine", "libaio"), ("iodepth", "32")], &QUEUE_DEPTH, "32"),
        (&[("ioengine", "libaio")], &ENGINE, "libaio"),
        (
            &[
                ("rate_iops", "500"),
                ("numjobs", "4"),
                ("rate_process", "poisson"),
            ],
            &ARRIVAL,
            "poisson:2000",
        ),
        (
            &[("rw", "write"), ("rate_iops", "100,200")],
            &ARRIVAL,
            "constant:200",
        ),
        (
            &[("rw", "write"), ("rate", "8m,4m"), ("numjobs", "2")],
            &ARRIVAL,
            "constant:2048",
        ),
        (&[("bsrange", "4k-4k")], &IO_BLOCK_SIZE, "4KiB"),
        (
            &[("rw", "write"), ("bsrange", "4k-8k,16k-16k")],
            &IO_BLOCK_SIZE,
            "16KiB",
        ),
        (
            &[("numa_cpu_nodes", "1"), ("numa_mem_policy", "bind:1")],
            &NUMA_NODE,
            "1",
        ),
        (
            &[("buffer_compress_percentage", "50")],
            &CONTENT,
            "compressible:2",
        ),
        (&[("zero_buffers", "")], &CONTENT, "zeros"),
        (&[("iodepth_batch_submit", "16")], &SUBMISSION, "batch"),
        (&[("iodepth_batch", "1")], &SUBMISSION, "refill"),
        (&[("iodepth_batch", "0"), ("iodepth", "8")], &SUBMISSION, "batch"),
        (&[("iodepth_batch", "0")], &SUBMISSION, "refill"),
        (
            &[("buffer_compress_percentage", "30")],
            &CONTENT,
            "compressible:1.429",
        ),
        (&[("hipri", "")], &COMPLETIONS, "polled"),
    ] {
        let workload = said(pairs);
        assert_eq!(workload.value(factor), Some(value), "{pairs:?}");
        assert!(workload.problems.is_empty(), "{pairs:?}: {:?}", workload.problems);
    }
}

#[test]
fn what_has_no_counterpart_is_named_with_its_option() {
    for (pairs, option) in [
        (&[("rw", "randtrim")][..], "rw"),
        (&[("rw", "read:-8k")], "rw"),
        (&[("rw", "randrw"), ("rwmixread", "170")], "rwmixread"),
        (&[("rw", "rw"), ("bs", "4k,8k")], "bs"),
        (
            &[("rw", "randread"), ("random_distribution", "pareto:0.9")],
            "random_distribution",
        ),
        (&[("iodepth", "0")], "iodepth"),
        (&[("rw", "rw"), ("rate_iops", "500")], "rate_iops"),
        (&[("rate", "1250")], "rate"),
        (&[("rate", "4m"), ("rate_iops", "100")], "rate"),
        (&[("bsrange", "4k-64k")], "bsrange"),
        (&[("numa_cpu_nodes", "0-1")], "numa_cpu_nodes"),
        (
            &[("numa_cpu_nodes", "0"), ("numa_mem_policy", "interleave:0-1")],
            "numa_cpu_nodes",
        ),
    ] {
        let problems = said(pairs).problems;
        assert_eq!(problems.len(), 1, "{pairs:?}: {problems:?}");
        assert_eq!(problems[0].option, option, "{pairs:?}");
    }
}

#[test]
fn of_two_options_that_set_one_thing_the_later_one_counts() {
    const MIXES: [(&str, &str); 2] = [("rwmixread", "80"), ("rwmixwrite", "50")];
    let mixed = |pairs: [(&'static str, &'static str); 2]| [("rw", "randrw"), pairs[0], pairs[1]];
    let reversed = |[one, other]: [(&'static str, &'static str); 2]| [other, one];
    const PAST_THE_CACHE: [(&str, &str); 2] = [("buffered", "1"), ("direct", "1")];
    for (pairs, factor, value) in [
        (&mixed(MIXES)[..], &READ_WRITE_MIX as FactorRef, "50:50"),
        (&mixed(reversed(MIXES)), &READ_WRITE_MIX, "80:20"),
        (&PAST_THE_CACHE, &ACCESS, "direct"),
        (&reversed(PAST_THE_CACHE), &ACCESS, "buffered"),
        (&[("direct", "0"), ("buffered", "0")], &ACCESS, "direct"),
        (&[("buffered", "0"), ("direct", "0")], &ACCESS, "buffered"),
        (&[("bsrange", "16k-16k"), ("bs", "8k")], &IO_BLOCK_SIZE, "16KiB"),
    ] {
        let workload = said(pairs);
        assert_eq!(workload.value(factor), Some(value), "{pairs:?}");
        assert!(workload.problems.is_empty(), "{pairs:?}: {:?}", workload.problems);
    }
}

#[test]
fn what_writes_contain_does_not_depend_on_the_order_of_the_options() {
    const HALF: (&str, &str) = ("buffer_compress_percentage", "50");
    const NO_SHARE: (&str, &str) = ("buffer_compress_percentage", "0");
    const ZEROS: (&str, &str) = ("zero_buffers", "1");
    const PATTERN: (&str, &str) = ("buffer_pattern", "0xab");
    for (one, other, content) in [
        (HALF, ZEROS, Some("compressible:2")),
        (NO_SHARE, ZEROS, Some("zeros")),
        (("dedupe_percentage", "50"), ZEROS, Some("random")),
        (PATTERN, ZEROS, None),
        (PATTERN, HALF, Some("compressible:2")),
    ] {
        for pairs in [[one, other], [other, one]] {
            assert_eq!(said(&pairs).value(&CONTENT), content, "{pairs:?}");
        }
    }
}
