//! References that would mislead, hang or exhaust: each is an error that says what is wrong, at once.

use std::fs;
use std::process::Command;

use outcrop_results::references::{load, parse};
use outcrop_results::{Reference, ResultsError};

const HEADER: &str = "subject,queue_depth,metric,unit,value,source\n";

fn read(csv: &[u8]) -> Result<Reference, ResultsError> {
    parse("theirs", "theirs", &[], csv)
}

fn complaint(csv: &[u8]) -> String {
    match read(csv) {
        Err(error @ ResultsError::BadReference { .. }) => error.to_string(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn figures_that_no_machine_has_are_refused_in_whatever_unit_they_hide() {
    for (unit, value) in [
        ("B/s", "NaN"),
        ("B/s", "inf"),
        ("B/s", "-inf"),
        ("B/s", "-1"),
        ("B/s", "1e400"),
        ("B/s", "1e308"),
        ("GB/s", "1e308"),
        ("GB/s", "1e22"),
        ("s", "1e25"),
        ("1/s", "1e31"),
    ] {
        let said = complaint(format!("{HEADER}theirs,1,bandwidth,{unit},{value},a paper\n").as_bytes());
        assert!(
            said.contains("not a figure") || said.contains("impossible") && said.contains("1e30"),
            "{value} {unit}: {said}"
        );
        assert!(said.contains('2'), "the line is named: {said}");
    }
    for (unit, value) in [("B/s", "0x10"), ("B/s", "1,0"), ("B/s", "ten"), ("parsec", "1")] {
        complaint(format!("{HEADER}theirs,1,bandwidth,{unit},{value},a paper\n").as_bytes());
    }
}

#[test]
fn a_reference_cut_or_changed_anywhere_is_read_or_refused() {
    let sound = format!(
        "{HEADER}theirs,1,bandwidth,MB/s,1.5,\"a paper, 2020\"\ntheirs,32,iops,1/s,352000,\"a \"\"quoted\"\" one\"\n"
    )
    .into_bytes();
    assert_eq!(read(&sound).unwrap().rows.len(), 2);
    let mut refused = 0;
    for cut in 0..sound.len() {
        refused += u32::from(read(&sound[..cut]).is_err());
    }
    for at in 0..sound.len() {
        for byte in [0, b'"', b',', b'\n', 0x80, 0xFF, sound[at] ^ 0x10] {
            let mut damaged = sound.clone();
            damaged[at] = byte;
            if let Ok(reference) = read(&damaged) {
                assert!(reference.rows.iter().all(|row| row.value.is_finite()));
            } else {
                refused += 1;
            }
        }
    }
    assert!(refused > 300, "{refused}");
}

#[test]
fn tables_of_absurd_shapes_are_read_or_refused() {
    let many: String = (0..20_000).map(|column| format!(",f{column}")).collect();
    complaint(format!("subject,metric,unit,value,source{many}\na,iops,1/s,1,b\n").as_bytes());
    complaint("subject,".repeat(50_000).as_bytes());
    complaint(&[b'"'; 100_000]);
    complaint(&[0; 100_000]);
    complaint(&[0xFF; 1000]);
    let long = "x".repeat(10 << 20);
    let row = format!("{HEADER}{long},1,iops,1/s,1,a paper\n");
    assert_eq!(read(row.as_bytes()).unwrap().rows[0].subject.len(), 10 << 20);
}

#[test]
fn what_has_no_end_or_is_no_file_is_refused_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let made = Command::new("mkfifo").arg(path("pipe")).status().unwrap();
    assert!(made.success());
    for name in ["/dev/zero", &path("pipe"), folder.path().to_str().unwrap()] {
        let said = load(name).unwrap_err().to_string();
        assert!(said.contains(name) && said.contains("regular file"), "{said}");
    }
    // A terabyte without a block of its own.
    let sparse = fs::File::create(path("sparse.csv")).unwrap();
    sparse.set_len(1 << 40).unwrap();
    let said = load(&path("sparse.csv")).unwrap_err().to_string();
    assert!(said.contains("more than 64 MiB"), "{said}");
}
