//! A worker's stream without a store: what a driver adds to each operation. Time it from outside.
//!
//! `time cargo run --release -p outcrop-workload --example store_draws -- ycsb-a 100000000 draw|key|write|verify`

#![expect(clippy::print_stdout, reason = "its output is what it is for")]

use outcrop_measure::Seed;
use outcrop_workload::keyed::{RecordValues, StoreLoad, StoreLoadSpec, StoreWorkload};
use outcrop_workload::{Content, WorkloadError};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [workload, count, what] = arguments.as_slice() else {
        return Err("expected a workload, a number of operations, and draw, key, write or verify".into());
    };
    let workload: StoreWorkload = workload.parse()?;
    let count: u64 = count.parse()?;
    let load = StoreLoad::new(StoreLoadSpec {
        workload,
        requests: workload.requests(),
        records: 1_000_000,
        operations: count,
        seed: Seed(1),
    })?;
    println!("{:#x}", walk(&load, workload, count, what)?);
    Ok(())
}

/// Does so to each operation, and folds what comes of it, so that nothing is optimised away.
fn walk(load: &StoreLoad, workload: StoreWorkload, count: u64, what: &str) -> Result<u64, WorkloadError> {
    let values = RecordValues::of_content(
        Content::Compressible { ratio: 2.0 },
        workload.value_size(),
        Seed(1),
    );
    let mut operations = load.operations(0);
    let (mut fold, mut key, mut value) = (0_u64, Vec::new(), Vec::new());
    values.write(1, 1, &mut value);
    for _ in 0..count {
        let operation = operations.next_operation()?;
        load.acknowledge(operation.key_id);
        fold = fold.rotate_left(1) ^ operation.key_id ^ operation.kind as u64;
        match what {
            "key" => {
                key.clear();
                load.write_key(operation.key_id, &mut key);
                fold ^= u64::from(key[key.len() - 1]);
            }
            "write" | "verify" => {
                value.clear();
                values.write(operation.key_id, operation.version, &mut value);
                if what == "verify" {
                    fold ^= values
                        .verify(operation.key_id, &value)
                        .map_or(1, Option::unwrap_or_default);
                }
                fold ^= u64::from(value[value.len() / 2]);
            }
            _ => {}
        }
    }
    Ok(fold)
}
