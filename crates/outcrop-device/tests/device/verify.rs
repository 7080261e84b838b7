//! Verified writes on real files: each planted fault is found, named and placed, and nothing else is.

use std::collections::BTreeMap;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::atomic::AtomicBool;

use outcrop_device::{
    EngineKind, Fault, FaultyBlock, ReadOnlyTarget, Target, VerifyReport, VerifySpec, WritableDevice,
    check_verified, write_verified,
};
use proptest::prelude::*;

use crate::stage::{LoopDevice, SEED, folder, open_file, scratch};

const BLOCK: u64 = 4096;
const BLOCKS: u64 = 256;

fn spec(engine: EngineKind) -> VerifySpec {
    VerifySpec {
        engine,
        io_block_size_bytes: BLOCK,
        queue_depth: if engine == EngineKind::Psync { 1 } else { 8 },
        span_bytes: None,
        passes: 2,
        seed: SEED,
    }
}

fn write(target: &Target, spec: &VerifySpec) -> VerifyReport {
    write_verified(target, spec, &AtomicBool::new(false), &mut |_, _| {}).unwrap()
}

fn check(target: &Target, spec: &VerifySpec) -> VerifyReport {
    check_verified(target, spec, &AtomicBool::new(false), &mut |_, _| {}).unwrap()
}

/// A file with both passes, the file, and what the first pass alone would have left.
struct Written {
    target: Target,
    file: File,
    first_pass: Vec<u8>,
    second_pass: Vec<u8>,
    _folder: tempfile::TempDir,
}

impl Written {
    fn new() -> Self {
        let folder = folder();
        let scratch = scratch(folder.path(), BLOCKS * BLOCK);
        let path = open_file(&scratch);
        let file = File::options().read(true).write(true).open(&path).unwrap();
        let target = Target::Scratch(scratch);
        let spec = spec(EngineKind::IoUring);
        write(
            &target,
            &VerifySpec {
                passes: 1,
                ..spec.clone()
            },
        );
        let first_pass = std::fs::read(&path).unwrap();
        let report = write(&target, &spec);
        assert!(report.blocks_written > BLOCKS * 5 / 4 && report.blocks_written < BLOCKS * 7 / 4);
        let second_pass = std::fs::read(&path).unwrap();
        Self {
            target,
            file,
            first_pass,
            second_pass,
            _folder: folder,
        }
    }

    fn overwritten(&self, index: u64) -> bool {
        Self::block(&self.first_pass, index) != Self::block(&self.second_pass, index)
    }

    /// The n-th block that the second pass wrote over, or that it left.
    fn pick(&self, overwritten: bool, n: usize) -> u64 {
        let mut all = (0..BLOCKS).filter(|index| self.overwritten(*index) == overwritten);
        all.nth(n).unwrap()
    }

    fn block(bytes: &[u8], index: u64) -> &[u8] {
        &bytes[(index * BLOCK) as usize..][..BLOCK as usize]
    }

    fn plant(&self, at: u64, bytes: &[u8]) {
        self.file.write_all_at(bytes, at).unwrap();
        self.file.sync_all().unwrap();
    }

    fn faults(&self) -> Vec<FaultyBlock> {
        let report = check(&self.target, &spec(EngineKind::IoUring));
        assert_eq!(
            (report.blocks_checked, report.fault_count as usize),
            (BLOCKS, report.faults.len())
        );
        report.faults
    }
}

#[test]
fn what_every_engine_wrote_every_engine_finds_whole() {
    let folder = folder();
    let engines = [EngineKind::IoUring, EngineKind::Libaio, EngineKind::Psync];
    for writer in engines {
        let target = Target::Scratch(scratch(folder.path(), BLOCKS * BLOCK));
        let before = check(&target, &spec(writer));
        assert_eq!(before.fault_count, BLOCKS, "nothing of it is ours yet");
        assert!(before.faults.iter().all(|block| block.fault.kind() == "foreign"));
        assert_eq!(write(&target, &spec(writer)).fault_count, 0);
        for reader in engines {
            let report = check(&target, &spec(reader));
            assert_eq!(
                (report.blocks_checked, report.faults),
                (BLOCKS, Vec::new()),
                "{writer} {reader}"
            );
        }
        let other_seed = VerifySpec {
            seed: outcrop_measure::seed::Seed(99),
            ..spec(writer)
        };
        let foreign = check(&target, &other_seed).faults;
        assert!(
            foreign[0].fault.to_string().contains("another run"),
            "{}",
            foreign[0].fault
        );
    }
}

#[test]
fn a_lost_write_is_stale() {
    let written = Written::new();
    let index = written.pick(true, 3);
    written.plant(index * BLOCK, Written::block(&written.first_pass, index));
    let stale = Fault::Stale {
        expected: 2,
        found: 1,
    };
    assert_eq!(
        written.faults(),
        [FaultyBlock {
            offset: index * BLOCK,
            fault: stale
        }]
    );
}

#[test]
fn a_write_that_was_done_in_part_is_torn() {
    let written = Written::new();
    let index = written.pick(true, 5);
    let old = &Written::block(&written.first_pass, index)[2560..];
    written.plant(index * BLOCK + 2560, old);
    let torn = Fault::Torn {
        stale_sectors: 3,
        sectors: 8,
        first: 2560,
    };
    assert_eq!(
        written.faults(),
        [FaultyBlock {
            offset: index * BLOCK,
            fault: torn
        }]
    );
}

#[test]
fn a_write_that_went_elsewhere_is_misdirected_there_and_lost_where_it_belongs() {
    let written = Written::new();
    let (from, to) = (written.pick(true, 2), written.pick(false, 7));
    written.plant(to * BLOCK, Written::block(&written.second_pass, from));
    written.plant(from * BLOCK, Written::block(&written.first_pass, from));
    let found: BTreeMap<u64, Fault> = written
        .faults()
        .into_iter()
        .map(|block| (block.offset, block.fault))
        .collect();
    let expected = BTreeMap::from([
        (
            to * BLOCK,
            Fault::Misdirected {
                sectors: 8,
                first: 0,
                belongs_at: from * BLOCK,
            },
        ),
        (
            from * BLOCK,
            Fault::Stale {
                expected: 2,
                found: 1,
            },
        ),
    ]);
    assert_eq!(found, expected);
}

#[test]
fn flipped_bits_are_counted_and_placed() {
    let written = Written::new();
    let index = written.pick(false, 1);
    let mut block = Written::block(&written.second_pass, index).to_vec();
    block[1030] ^= 0b1000;
    written.plant(index * BLOCK, &block);
    let one = Fault::Flipped {
        bits: 1,
        byte: 1030,
        bit: 3,
    };
    assert_eq!(
        written.faults(),
        [FaultyBlock {
            offset: index * BLOCK,
            fault: one
        }]
    );
    block[1031] ^= 0b11;
    written.plant(index * BLOCK, &block);
    let three = Fault::Flipped {
        bits: 3,
        byte: 1030,
        bit: 3,
    };
    assert_eq!(
        written.faults(),
        [FaultyBlock {
            offset: index * BLOCK,
            fault: three
        }]
    );
}

#[test]
fn bytes_that_nobody_wrote_are_foreign() {
    let written = Written::new();
    written.plant(9 * BLOCK + 1024, &[0; 512]);
    let foreign = Fault::Foreign {
        sectors: 1,
        first: 1024,
        is_of_another_run: false,
    };
    assert_eq!(
        written.faults(),
        [FaultyBlock {
            offset: 9 * BLOCK,
            fault: foreign
        }]
    );
}

#[test]
fn several_faults_of_one_block_are_all_named() {
    let written = Written::new();
    let (index, other) = (written.pick(true, 4), written.pick(true, 9));
    let mut block = Written::block(&written.second_pass, index).to_vec();
    block[..512].copy_from_slice(&Written::block(&written.first_pass, index)[..512]);
    block[512..1024].copy_from_slice(&Written::block(&written.second_pass, other)[512..1024]);
    block[1024] ^= 1;
    block[1536..2048].fill(0xff);
    written.plant(index * BLOCK, &block);
    let faults = written.faults();
    let kinds: Vec<&str> = faults.iter().map(|block| block.fault.kind()).collect();
    assert_eq!(kinds, ["torn", "misdirected", "flipped", "foreign"]);
    assert!(faults.iter().all(|block| block.offset == index * BLOCK));
}

#[test]
fn what_cannot_be_read_is_named_and_the_rest_is_checked() {
    let device = LoopDevice::new(BLOCKS * BLOCK);
    let name = device.image.canonicalize().unwrap();
    let spec = spec(EngineKind::IoUring);
    {
        let target = Target::Device(WritableDevice::open(&device.node, name.to_str().unwrap()).unwrap());
        assert_eq!(write(&target, &spec).fault_count, 0);
    }
    // Another process, after a power failure say: half of what is behind the device is gone.
    File::options()
        .write(true)
        .open(&device.image)
        .unwrap()
        .set_len(BLOCKS * BLOCK / 2)
        .unwrap();
    let report = check(
        &Target::ReadOnly(ReadOnlyTarget::open(&device.node).unwrap()),
        &spec,
    );
    assert_eq!((report.blocks_checked, report.fault_count), (BLOCKS, BLOCKS / 2));
    for (index, block) in (BLOCKS / 2..).zip(&report.faults) {
        assert_eq!((block.offset, block.fault.kind()), (index * BLOCK, "unreadable"));
        assert!(block.fault.to_string().contains("error"), "{}", block.fault);
    }
}

#[test]
fn only_what_is_ours_is_written_and_a_raised_flag_ends_it() {
    let folder = folder();
    let path = folder.path().join("theirs");
    std::fs::write(&path, vec![7; (BLOCKS * BLOCK) as usize]).unwrap();
    let target = Target::ReadOnly(ReadOnlyTarget::open(&path).unwrap());
    let spec = spec(EngineKind::IoUring);
    let stop = AtomicBool::new(false);
    let message = write_verified(&target, &spec, &stop, &mut |_, _| {})
        .unwrap_err()
        .to_string();
    assert!(message.contains("only reads it"), "{message}");
    assert_eq!(std::fs::read(&path).unwrap(), vec![7; (BLOCKS * BLOCK) as usize]);
    let stopped = check_verified(&target, &spec, &AtomicBool::new(true), &mut |_, _| {}).unwrap();
    assert!(stopped.is_interrupted && stopped.blocks_checked < BLOCKS);
    let noop = VerifySpec {
        engine: EngineKind::Noop,
        ..spec
    };
    assert!(check_verified(&target, &noop, &stop, &mut |_, _| {}).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn any_size_depth_and_number_of_passes_verifies(
        size_log2 in 9_u32..17, blocks in 1_u64..40, queue_depth in 1_u32..20, passes in 1_u32..5,
    ) {
        let io_block_size_bytes = 1_u64 << size_log2;
        let folder = folder();
        let span = blocks * io_block_size_bytes;
        let target = Target::Scratch(scratch(folder.path(), span.max(4096)));
        let spec = VerifySpec {
            engine: EngineKind::Libaio,
            io_block_size_bytes,
            queue_depth,
            span_bytes: Some(span),
            passes,
            seed: SEED,
        };
        prop_assert_eq!(write(&target, &spec).fault_count, 0);
        let report = check(&target, &spec);
        prop_assert_eq!((report.blocks_checked, report.faults), (blocks, Vec::new()));
    }
}
