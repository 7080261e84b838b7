//! Files that commands write where the user says: nothing is replaced unasked, and the name says the format.

use crate::column::{column, piped, refused};
use crate::harness::{Seen, command, names_in, only_run, outcrop, workplace};

#[test]
fn no_command_replaces_a_file_without_force() {
    let dir = workplace();
    let dir = dir.path();
    std::fs::write(dir.join("rocks.txt"), "slate\nshale\nslate\n").unwrap();
    std::fs::write(dir.join("trace.csv"), "0,a,10\n1,b,10\n2,a,10\n").unwrap();
    column(dir, &["encode", "rocks.txt", "-o", "rocks.ocol"]);
    let precious = "a thesis, written over years";
    for (args, name) in [
        (&["column", "encode", "rocks.txt", "-o"][..], "x.ocol"),
        (&["column", "compact", "rocks.ocol", "-o"], "y.ocol"),
        (&["column", "decode", "rocks.ocol", "-o"], "z.csv"),
        (
            &["workload", "column", "--rows", "9", "--distinct", "3", "-o"],
            "w.txt",
        ),
        (&["cache", "simulate", "trace.csv", "--svg"], "s.svg"),
    ] {
        std::fs::write(dir.join(name), precious).unwrap();
        let args = [args, &[name]].concat();
        let seen = outcrop(dir, &args);
        assert_eq!(seen.code, Some(2), "{args:?}: {seen:?}");
        assert_eq!(
            seen.sentence(),
            format!("error: {name} exists already; --force replaces it")
        );
        assert_eq!(std::fs::read_to_string(dir.join(name)).unwrap(), precious);
        let seen = outcrop(dir, &[&args[..], &["--force"]].concat());
        assert_eq!(seen.code, Some(0), "{args:?}: {seen:?}");
        assert_ne!(
            std::fs::read(dir.join(name)).unwrap(),
            precious.as_bytes(),
            "{args:?}"
        );
    }
}

#[test]
fn a_column_file_is_compacted_in_place_only_where_that_is_asked_for_and_never_to_an_index_without_rows() {
    let dir = workplace();
    let dir = dir.path();
    std::fs::write(dir.join("rocks.txt"), "slate\nshale\nslate\n").unwrap();
    column(dir, &["encode", "rocks.txt", "-o", "rocks.ocol"]);
    column(dir, &["append", "rocks.ocol", "rocks.txt"]);
    std::fs::hard_link(dir.join("rocks.ocol"), dir.join("hard.ocol")).unwrap();
    std::os::unix::fs::symlink("rocks.ocol", dir.join("link.ocol")).unwrap();
    std::fs::create_dir(dir.join("folder")).unwrap();
    let before = std::fs::read(dir.join("rocks.ocol")).unwrap();
    let names = names_in(dir);
    for (from, to) in [
        ("rocks.ocol", "rocks.ocol"),
        ("rocks.ocol", "folder/../rocks.ocol"),
        ("rocks.ocol", "hard.ocol"),
        ("rocks.ocol", "link.ocol"),
        ("link.ocol", "rocks.ocol"),
    ] {
        for flags in [&[][..], &["--force"], &["--index", "only"]] {
            let args = [&["column", "compact", from, "-o", to], flags].concat();
            let seen = outcrop(dir, &args);
            assert_eq!(seen.code, Some(2), "{args:?}: {seen:?}");
            let says = format!("error: {to} is the input, and would be replaced; ");
            let sentence = seen.sentence();
            assert!(
                sentence.starts_with(&says) && sentence.contains("--in-place"),
                "{args:?}: {seen:?}"
            );
        }
    }
    let index_only = outcrop(
        dir,
        &["column", "compact", "rocks.ocol", "--in-place", "--index", "only"],
    );
    assert_eq!(index_only.code, Some(2), "{index_only:?}");
    assert!(
        index_only.sentence().contains("rows cannot be read back"),
        "{index_only:?}"
    );
    for other in [&["-o", "x.ocol"][..], &["--force"]] {
        let seen = outcrop(
            dir,
            &[&["column", "compact", "rocks.ocol", "--in-place"], other].concat(),
        );
        assert_eq!(seen.code, Some(2), "{other:?}: {seen:?}");
    }
    assert_eq!(names_in(dir), names);
    assert_eq!(std::fs::read(dir.join("rocks.ocol")).unwrap(), before);
    // The file that a link leads to is replaced, and the link stays.
    column(dir, &["compact", "link.ocol", "--in-place"]);
    assert!(dir.join("link.ocol").is_symlink());
    assert_ne!(std::fs::read(dir.join("rocks.ocol")).unwrap(), before);
    let rows = "slate\nshale\nslate\n".repeat(2);
    assert_eq!(column(dir, &["decode", "rocks.ocol"]), rows);
    // Another file may have an index only: the rows are still in the input.
    column(
        dir,
        &["compact", "rocks.ocol", "-o", "index.ocol", "--index", "only"],
    );
    assert_eq!(column(dir, &["decode", "rocks.ocol"]), rows);
}

#[test]
fn force_replaces_no_file_that_the_command_reads_from_stdin_as_a_trace_or_as_a_run() {
    let dir = workplace();
    let dir = dir.path();
    std::fs::write(dir.join("a.txt"), "gneiss\nschist\n").unwrap();
    std::fs::hard_link(dir.join("a.txt"), dir.join("same.txt")).unwrap();
    std::fs::write(dir.join("trace.csv"), "0,a,10\n1,b,10\n2,a,10\n").unwrap();
    std::fs::create_dir(dir.join("run")).unwrap();
    std::fs::write(dir.join("run/trials.ndjson"), "{}\n").unwrap();
    let before = names_in(dir);
    for args in [
        "column encode - -o a.txt --force",
        "column encode - -o same.txt --force",
        "cache simulate trace.csv --svg trace.csv --force",
        "cache simulate trace.csv --svg new.svg --png trace.csv --force",
        "results export run -o run/trials.ndjson --format csv --force",
    ] {
        let args: Vec<&str> = args.split(' ').collect();
        let mut replacing = command(dir, &args);
        replacing.stdin(std::fs::File::open(dir.join("a.txt")).unwrap());
        let seen = Seen::from(replacing.output().unwrap());
        assert_eq!(seen.code, Some(2), "{args:?}: {seen:?}");
        let says = "is the input, and would be replaced";
        assert!(seen.sentence().contains(says), "{args:?}: {seen:?}");
    }
    assert_eq!(names_in(dir), before);
    let kept = |name: &str| std::fs::read_to_string(dir.join(name)).unwrap();
    assert_eq!(kept("a.txt"), "gneiss\nschist\n");
    assert_eq!(kept("trace.csv"), "0,a,10\n1,b,10\n2,a,10\n");
    assert_eq!(kept("run/trials.ndjson"), "{}\n");
}

/// `/dev/stdout` where stdout goes to a file is such a link; only links of our own are tried. Among the folders are none in which
/// anybody, root or not, could make a file if they were not refused.
#[test]
fn no_command_replaces_a_link_through_the_kernels_trees_or_makes_a_file_in_them() {
    let dir = workplace();
    let dir = dir.path();
    std::fs::write(dir.join("rocks.txt"), "slate\nshale\nslate\n").unwrap();
    std::fs::write(dir.join("trace.csv"), "0,a,10\n1,b,10\n2,a,10\n").unwrap();
    column(dir, &["encode", "rocks.txt", "-o", "rocks.ocol"]);
    let measured = outcrop(dir, &["device", "--size=4MiB", "--duration=250ms"]);
    assert_eq!(measured.code, Some(0), "{measured:?}");
    let run = only_run(dir).to_string_lossy().into_owned();
    let exported = outcrop(dir, &["results", "export", &run, "--format", "fio-json"]);
    std::fs::write(dir.join("fio.json"), exported.stdout).unwrap();
    let link = |to: &str, name: &str| std::os::unix::fs::symlink(to, dir.join(name)).unwrap();
    link("/proc/self/fd/1", "stdout");
    link("stdout", "twice");
    link("/proc", "kernel");
    let before = names_in(dir);
    let no_place = ["/proc/outcrop-new", "/sys/outcrop-new", "kernel/outcrop-new/deep"];
    for (words, places) in [
        ("column encode rocks.txt --force -o", &["stdout", "twice"][..]),
        ("column encode rocks.txt -o", &no_place),
        ("column encode rocks.txt -o", &["/proc/outcrop-new/"]),
        (
            "column decode rocks.ocol --to csv --force -o",
            &["stdout", "twice"],
        ),
        ("column compact rocks.ocol --force -o", &["stdout", "twice"]),
        ("workload column --rows 9 --distinct 3 --force -o", &["stdout"]),
        ("cache simulate trace.csv --force --svg", &["stdout"]),
        ("results export RUN --format csv --force -o", &["stdout"]),
        (
            "results export RUN --format fio-json --force -o",
            &["stdout", "/proc/outcrop-new/"],
        ),
        ("results export RUN --format fio-job --force -o", &["stdout"]),
        ("figure RUN latency-tail --svg --force -o", &["stdout"]),
        ("report RUN --output", &no_place),
        ("device --size=4MiB --duration=250ms --out", &no_place),
        ("import fio fio.json --out", &no_place),
        ("cache load --out", &no_place),
    ] {
        for place in places {
            let words = words.split(' ').map(|word| match word {
                "RUN" => &run,
                word => word,
            });
            let args: Vec<&str> = words.chain([*place]).collect();
            let mut redirected = command(dir, &args);
            redirected.stdout(std::fs::File::create(dir.join("redirected")).unwrap());
            let seen = Seen::from(redirected.output().unwrap());
            std::fs::remove_file(dir.join("redirected")).unwrap();
            assert_eq!(seen.code, Some(2), "{args:?}: {seen:?}");
            let says = "where Outcrop never creates files; choose another place";
            assert!(seen.sentence().contains(says), "{args:?}: {seen:?}");
        }
    }
    assert_eq!(names_in(dir), before);
    assert!(dir.join("stdout").is_symlink() && dir.join("twice").is_symlink());
    // A folder that the user is in by a name of the kernel's is the folder.
    column(dir, &["encode", "rocks.txt", "-o", "/proc/self/cwd/new.ocol"]);
    assert!(dir.join("new.ocol").is_file());
}

#[test]
fn nothing_is_measured_with_files_among_device_nodes_or_in_the_kernels_trees() {
    let dir = workplace();
    let dir = dir.path();
    std::os::unix::fs::symlink("/sys", dir.join("kernel")).unwrap();
    for words in [
        "kv --records 10 --dry-run",
        "device --dry-run",
        "filesystem --dry-run --directory",
    ] {
        for place in ["/sys", "kernel", "/proc"] {
            let args: Vec<&str> = words.split(' ').chain([place]).collect();
            let seen = outcrop(dir, &args);
            assert_eq!(seen.code, Some(2), "{args:?}: {seen:?}");
            let says = "where Outcrop never creates files; choose another place";
            assert!(seen.sentence().contains(says), "{args:?}: {seen:?}");
        }
    }
    assert_eq!(names_in(dir), ["kernel"]);
}

#[test]
fn a_link_to_a_file_is_replaced_by_force_and_the_file_stays() {
    let dir = workplace();
    let dir = dir.path();
    std::fs::write(dir.join("rocks.txt"), "slate\n").unwrap();
    std::fs::write(dir.join("old"), "precious").unwrap();
    for (to, name) in [("old", "latest"), ("missing", "dangling")] {
        std::os::unix::fs::symlink(to, dir.join(name)).unwrap();
        let said = refused(dir, &["encode", "rocks.txt", "-o", name]);
        assert!(said.contains("exists already; --force replaces it"), "{said}");
        column(dir, &["encode", "rocks.txt", "-o", name, "--force"]);
        assert!(!dir.join(name).is_symlink());
    }
    assert_eq!(std::fs::read_to_string(dir.join("old")).unwrap(), "precious");
    assert_eq!(names_in(dir), ["dangling", "latest", "old", "rocks.txt"]);
}

#[test]
fn a_decode_goes_to_stdout_or_to_a_file_whose_ending_is_known() {
    let dir = workplace();
    let dir = dir.path();
    piped(dir, &["encode", "-", "-o", "rock.ocol"], b"slate\nshale\n");
    assert_eq!(column(dir, &["decode", "rock.ocol", "-o", "-"]), "slate\nshale\n");
    // The column is called as its file.
    assert_eq!(
        column(dir, &["decode", "rock.ocol", "-o", "-", "--to", "csv"]),
        "rock\nslate\nshale\n"
    );
    for name in ["rocks.json", "rocks", "rocks.csv.gz"] {
        let sentence = refused(dir, &["decode", "rock.ocol", "-o", name]);
        assert!(
            sentence.contains(".txt, .csv, .parquet, .arrow, .feather or .ipc, or --to"),
            "{sentence}"
        );
    }
    column(dir, &["decode", "rock.ocol", "-o", "rocks.list", "--to", "text"]);
    for args in [
        ["encode", "rocks.list", "-o", "-"],
        ["compact", "rock.ocol", "-o", "-"],
    ] {
        let sentence = refused(dir, &args);
        assert!(sentence.contains("cannot be written to stdout"), "{sentence}");
    }
    assert_eq!(names_in(dir), ["rock.ocol", "rocks.list"]);
}

#[test]
fn values_are_counted_the_most_frequent_first() {
    let dir = workplace();
    let dir = dir.path();
    std::fs::write(dir.join("in.csv"), "rock\nb\na\nc\na\nNA\nNA\nb\na\n").unwrap();
    column(
        dir,
        &["encode", "in.csv", "--header", "--null", "NA", "-o", "r.ocol"],
    );
    let values = |args: &[&str]| column(dir, &[&["values", "r.ocol", "--format", "csv"], args].concat());
    assert_eq!(values(&[]), "value,rows_count\na,3\n,2\nb,2\nc,1\n");
    assert_eq!(values(&["--top", "1"]), "value,rows_count\na,3\n");
    let seen = outcrop(dir, &["column", "values", "r.ocol", "--top", "2"]);
    assert_eq!(seen.stdout, "         3  a\n         2  –\n");
    assert!(
        seen.stderr
            .contains("3 distinct values and null in 8 rows; the 2 most frequent are shown"),
        "{seen:?}"
    );
}

#[test]
fn a_column_without_a_header_answers_to_its_number_and_to_the_name_that_is_shown() {
    let dir = workplace();
    let dir = dir.path();
    std::fs::write(dir.join("t.csv"), "a|1|x\nb|2|y\na|3|x\n").unwrap();
    let files = [("1", "n.ocol"), ("column 1", "m.ocol")];
    let decoded = files.map(|(name, file)| {
        column(
            dir,
            &["encode", "t.csv", "--no-header", "--column", name, "-o", file],
        );
        column(dir, &["decode", file])
    });
    assert_eq!(decoded, ["1\n2\n3\n", "1\n2\n3\n"]);
}

#[test]
fn damaged_inputs_are_named_once_and_are_bad_input() {
    let dir = workplace();
    let dir = dir.path();
    let rows: String = (0..50_000).map(|row| format!("rock {row}\n")).collect();
    std::fs::write(dir.join("in.txt"), &rows).unwrap();
    column(dir, &["encode", "in.txt", "-o", "r.ocol"]);
    for (ending, format) in [("parquet", "Parquet"), ("arrow", "Arrow")] {
        let (whole, cut) = (format!("whole.{ending}"), format!("cut.{ending}"));
        column(dir, &["decode", "r.ocol", "-o", &whole]);
        let bytes = std::fs::read(dir.join(&whole)).unwrap();
        for length in [bytes.len() / 2, bytes.len() - bytes.len() / 4] {
            std::fs::write(dir.join(&cut), &bytes[..length]).unwrap();
            let sentence = refused(dir, &["encode", &cut, "-o", "x.ocol"]);
            assert!(
                sentence.contains(&format!("cannot read {cut}: {format}: the "))
                    && sentence.contains(" is truncated")
                    && sentence.contains("copy it again in full"),
                "{sentence}"
            );
        }
    }

    let mut gz = std::process::Command::new("gzip");
    assert!(
        gz.args(["--keep", "in.txt"])
            .current_dir(dir)
            .status()
            .unwrap()
            .success()
    );
    let whole = std::fs::read(dir.join("in.txt.gz")).unwrap();
    std::fs::write(dir.join("cut.gz"), &whole[..whole.len() / 2]).unwrap();
    let seen = outcrop(
        dir,
        &[
            "codec",
            "--data",
            "cut.gz",
            "--codec",
            "lz4",
            "--duration",
            "10ms",
            "--no-save",
        ],
    );
    assert_eq!(seen.code, Some(2), "{seen:?}");
    assert_eq!(
        seen.stderr.matches("cut.gz is truncated").count(),
        1,
        "{}",
        seen.stderr
    );
}

#[test]
fn data_that_are_smaller_than_a_block_are_one_block() {
    let dir = workplace();
    let dir = dir.path();
    std::fs::write(dir.join("tiny.txt"), "slate and shale and slate\n".repeat(40)).unwrap();
    let seen = outcrop(
        dir,
        &[
            "codec",
            "--data",
            "tiny.txt",
            "--codec",
            "lz4",
            "--duration",
            "10ms",
            "--no-save",
            "--format",
            "csv",
        ],
    );
    assert_eq!(seen.code, Some(0), "{seen:?}");
    assert!(seen.stdout.contains("1040"), "{}", seen.stdout);
}

#[test]
fn the_cells_of_a_run_are_a_table_in_markdown_and_a_job_file_of_fio() {
    let dir = workplace();
    let measure = [
        "device",
        "--engine=noop",
        "--queue-depth=1,4",
        "--repetitions=2",
        "--warm-up=1ms",
        "--duration=10ms",
        "--size=1MiB",
        "--quiet",
    ];
    assert_eq!(outcrop(dir.path(), &measure).code, Some(0));
    let run = only_run(dir.path());
    let run = run.to_str().unwrap();
    let table = outcrop(dir.path(), &["report", run, "--format", "markdown"]);
    assert_eq!(table.code, Some(0), "{table:?}");
    let last = table.stdout.lines().last().unwrap_or_default();
    assert!(last.contains(" · outcrop ") && last.starts_with("20"), "{last}");
    let rows = table.stdout.lines().filter(|line| line.starts_with('|')).count();
    assert_eq!(rows, 4, "head, rule, two cells: {table:?}");
    let jobs = outcrop(dir.path(), &["results", "export", run, "--format", "fio-job"]);
    assert_eq!(jobs.stdout.matches("\nstonewall\n").count(), 2, "{jobs:?}");
    assert!(jobs.stdout.contains("\nioengine=null\n"), "{jobs:?}");
}
