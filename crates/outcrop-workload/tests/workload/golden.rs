//! Golden values: a seed in a record means the same stream in every later version.

use outcrop_measure::Seed;
use outcrop_workload::{AccessPattern, Arrival, BlockSpace, Content, ReadWriteMix};

const SEED: Seed = Seed(0x0B5E55ED);

#[test]
fn the_streams_of_a_seed_never_change() {
    let blocks = |pattern: &str| {
        let space = BlockSpace {
            block_count: 1_000_000,
            block_size_bytes: 4096,
        };
        let pattern: AccessPattern = pattern.parse().unwrap();
        pattern
            .blocks(space, 1, 2, SEED)
            .unwrap()
            .take(5)
            .collect::<Vec<_>>()
    };
    assert_eq!(
        blocks("sequential"),
        [500_000, 500_001, 500_002, 500_003, 500_004]
    );
    assert_eq!(
        blocks("strided:1MiB"),
        [500_000, 500_256, 500_512, 500_768, 501_024]
    );
    assert_eq!(blocks("random"), [117_289, 17_211, 180_946, 557_433, 23_892]);
    assert_eq!(
        blocks("zipfian:0.99"),
        [499_607, 444_223, 220_798, 980_654, 180_750]
    );

    let mut operations = "70:30".parse::<ReadWriteMix>().unwrap().operations(SEED);
    let reads: String = (0..20)
        .map(|_| if operations.next_is_read() { 'r' } else { 'w' })
        .collect();
    assert_eq!(reads, "rrwrrrrrwwrwrrrwwrrw");

    let starts = |arrival: &str| {
        arrival
            .parse::<Arrival>()
            .unwrap()
            .schedule(SEED)
            .unwrap()
            .take(5)
            .collect::<Vec<_>>()
    };
    assert_eq!(starts("constant:3k"), [0, 333_333, 666_666, 1_000_000, 1_333_333]);
    assert_eq!(starts("poisson:3k"), [4166, 189_150, 464_612, 807_483, 1_452_729]);

    let bytes = |content: &str| {
        let mut buffer = [0; 8];
        content.parse::<Content>().unwrap().filler(SEED).fill(&mut buffer);
        buffer
    };
    assert_eq!(bytes("random"), [128, 199, 74, 255, 144, 12, 1, 8]);
    assert_eq!(bytes("entropy:3"), [4, 17, 0, 0, 4, 3, 16, 0]);
    assert_eq!(bytes("compressible:3"), [128, 199, 74, 255, 144, 12, 1, 8]);
}
