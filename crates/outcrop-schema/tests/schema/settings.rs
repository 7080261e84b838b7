//! Values are typed from where they are read, keep one spelling, and come in the order of their numbers.

use std::collections::BTreeMap;

use outcrop_measure::units::ByteSize;
use outcrop_schema::{Remark, Setting, Settings, cache, compression, device, kv};
use outcrop_workload::{Arrivals, BlockContent};
use proptest::prelude::*;

#[test]
fn one_value_in_several_spellings_is_one_setting() {
    for spelling in ["4k", "4KiB", "4096"] {
        let mut settings = Settings::default();
        settings.read(&device::IO_BLOCK_SIZE, spelling).unwrap();
        assert_eq!(settings.get(&device::IO_BLOCK_SIZE), Some(&ByteSize(4096)));
        assert_eq!(settings.spelling(&device::IO_BLOCK_SIZE), Some("4KiB"));
    }
}

#[test]
fn sizes_come_in_the_order_of_their_bytes_and_words_in_that_of_the_documentation() {
    let read = |text: &str| Setting::of(device::IO_BLOCK_SIZE.parse(text).unwrap());
    assert!(read("4KiB") < read("16KiB") && read("16KiB") < read("1MiB"));
    let server = |text: &str| Setting::of(cache::SERVER.parse(text).unwrap());
    assert!(server("outcrop") < server("memcached") && server("memcached") < server("$MEMCACHED"));
    let filesystem = |text: &str| Setting::of(kv::FILESYSTEM.parse(text).unwrap());
    for pair in ["as-is", "ext4", "btrfs", "btrfs zstd:3", "btrfs zstd:15"].windows(2) {
        assert!(filesystem(pair[0]) < filesystem(pair[1]), "{pair:?}");
    }
    let store = |text: &str| Setting::of(kv::COMPRESSION.parse(text).unwrap());
    for pair in ["none", "lz4", "zlib:6", "zstd:1", "zstd:3", "zstd:19"].windows(2) {
        assert!(store(pair[0]) < store(pair[1]), "{pair:?}");
    }
    let size = |text: &str| Setting::of(kv::VALUE_SIZE.parse(text).unwrap());
    assert!(size("fixed:64B") < size("fixed:100B"));
    let codec = |text: &str| Setting::of(compression::CODEC.parse(text).unwrap());
    assert!(codec("zstd:-5") < codec("zstd:3") && codec("zstd:19") < codec("lz4"));
}

#[test]
fn a_record_of_another_version_keeps_what_this_one_cannot_read() {
    let record: BTreeMap<String, String> = [
        ("arrival", "poisson:50%"),
        ("memory", "a lot"),
        ("colour", "blue"),
    ]
    .map(|(name, value)| (name.to_owned(), value.to_owned()))
    .into();
    let settings = cache::SCHEMA.read(&record);
    assert!(matches!(settings.get(&cache::ARRIVAL), Some(Arrivals::Share(..))));
    assert_eq!(settings.get(&cache::MEMORY), None);
    assert_eq!(settings.spelling(&cache::MEMORY), Some("a lot"));
    assert_eq!(settings.spellings(), record);
}

#[test]
fn a_label_names_what_tells_a_cell_and_leaves_out_what_is_usual() {
    let mut factors = Settings::defaults(device::SCHEMA.workload);
    assert_eq!(device::SCHEMA.label(&factors), "4KiB 100:0 QD 32");
    factors.read(&device::ARRIVAL, "poisson:20k").unwrap();
    factors.read(&device::JOBS, "4").unwrap();
    assert_eq!(
        device::SCHEMA.label(&factors),
        "4KiB 100:0 QD 32 4 jobs poisson:20k/s"
    );
    // A closed-loop cache trial used to announce itself by the content of its values.
    let cache = cache::SCHEMA.label(&Settings::defaults(cache::SCHEMA.workload));
    assert_eq!(cache, "etc 100000 keys 50 connections");
}

#[test]
fn remarks_are_read_with_and_without_codes() {
    let coded = cache::SHARED_CPU.remark("server and driver had to share a CPU: both together");
    let text = serde_json::to_string(&coded).unwrap();
    assert!(text.contains("\"code\":\"cpu-is-shared\""), "{text}");
    assert_eq!(serde_json::from_str::<Remark>(&text).unwrap(), coded);
    let old: Remark = serde_json::from_str("\"server and driver had to share a CPU\"").unwrap();
    assert_eq!(old.code, None);
    assert!(cache::SHARED_CPU.is_kind_of(&old) && !cache::DRIVER_LIMIT.is_kind_of(&old));
    // With a code, the wording is of no matter.
    let reworded = Remark {
        text: "CPUs were shared".to_owned(),
        ..coded
    };
    assert!(cache::SHARED_CPU.is_kind_of(&reworded));
}

proptest! {
    #[test]
    fn what_a_factor_reads_it_reads_again_from_its_own_spelling(depth in 1_u32.., bytes in 1_u64..1 << 50, bits in 0.0_f64..8.0) {
        let content = BlockContent::NaturalNear(bits);
        let spellings = [
            Setting::of(depth).spelling().to_owned(),
            Setting::of(ByteSize(bytes)).spelling().to_owned(),
            Setting::of(content).spelling().to_owned(),
        ];
        prop_assert_eq!(device::QUEUE_DEPTH.parse(&spellings[0]), Ok(depth));
        prop_assert_eq!(spellings[1].parse(), Ok(ByteSize(bytes)));
        prop_assert_eq!(compression::CONTENT.parse(&spellings[2]), Ok(content));
    }

    #[test]
    fn no_text_makes_a_factor_panic(text in any::<String>()) {
        for layer in outcrop_schema::Vocabulary::default().layers() {
            for factor in layer.subject.iter().chain(layer.workload).chain(layer.published) {
                if let Ok(setting) = factor.read(&text) {
                    prop_assert_eq!(factor.read(setting.spelling()), Ok(setting));
                }
            }
        }
    }
}
