//! What plans say about filesystems, in the engine's terms: what goes with what, and what a cell does not have.

use std::path::Path;

use outcrop_filesystem::{
    Filesystem, FilesystemError, JobSpec, OwnDirectory, check_property, check_uncompressed,
};
use outcrop_measure::seed::Seed;
use outcrop_measure::units::ByteSize;
use outcrop_schema::filesystem::{
    ACCESS, AGE, ARRIVAL, CHECKSUM, CLUSTER_SIZE, COMPRESS_POLICY, COMPRESSION, COMPRESSION_BLOCK_SIZE,
    COPY_ON_WRITE, ENGINE, FILE_SIZE, FILES, FILESYSTEM, IO_BLOCK_SIZE, JOBS, KIND, Kind, OF_IMAGES,
    OPERATION, PAGE_CACHE, PATH, QUEUE_DEPTH, SAMPLE_SIZE, SCHEMA, SYNC, THREAD_POOL,
};
use outcrop_schema::{FactorRef, Settings};
use outcrop_workload::filesystem::{
    Age, CompressPolicy, FileAccess, FileCompression, FileOperation, FilesystemChoice, FilesystemKind,
    PageCache, SyncPolicy,
};

use crate::cell::{Cell, Subject, TrialOptions};
use crate::layer::{EndsBy, Origin, Refusal, dropped};

/// Bytes of a small file where a plan says nothing: those of a mail or a source file.
const SMALL_FILE: ByteSize = ByteSize(1500);
/// Compressed bytes of a cluster of erofs where a plan says nothing.
const CLUSTER: ByteSize = ByteSize(4096);

/// What btrfs compresses at once.
const BTRFS_EXTENT: ByteSize = ByteSize(outcrop_filesystem::BTRFS_EXTENT_BYTES);

/// Whether the files are made in a directory of the user's.
pub(super) fn is_directory(subject: &Subject) -> bool {
    *subject.settings.value(&KIND) == Kind::Directory
}

/// Fills in what the filesystem and the operation decide, and leaves out what has no effect, so that no cell is measured twice.
pub(super) fn complete(subject: &Subject, factors: &mut Settings) -> Result<(), Refusal> {
    if is_directory(subject) {
        OF_IMAGES.iter().for_each(|factor| factors.remove(factor.about()));
    } else {
        complete_filesystem(factors)?;
    }
    let operation = *factors.value(&OPERATION);
    if operation == FileOperation::SmallFiles {
        factors.set_default(&FILE_SIZE, SMALL_FILE);
    }
    for factor in without_effect(operation) {
        factors.remove(factor.about());
    }
    Ok(())
}

/// The factors that have no effect on an operation.
fn without_effect(operation: FileOperation) -> Vec<FactorRef> {
    let mut without: Vec<FactorRef> = Vec::new();
    if !operation.writes() {
        without.push(&SYNC);
    }
    if operation.ends_with_its_data() {
        without.extend([&AGE as FactorRef, &PAGE_CACHE]);
    }
    match operation {
        FileOperation::SmallFiles => without.extend([&IO_BLOCK_SIZE as FactorRef, &FILES]),
        _ => without.push(&FILE_SIZE),
    }
    without
}

/// What ends a trial of an operation that goes over the data once.
pub(super) fn ends_by(operation: FileOperation) -> Option<EndsBy> {
    operation.ends_with_its_data().then(|| EndsBy {
        what: match operation {
            FileOperation::SmallFiles => "all files are written and read",
            _ => "all data are written",
        },
        or_by_time: operation.ends_by_time(),
    })
}

/// Refuses a flag that has no effect on any cell.
pub(super) fn check_flags(
    subject: &Subject,
    combinations: &[Settings],
    origin: &dyn Fn(&str) -> Origin,
) -> Result<(), (usize, Refusal)> {
    let factors: [FactorRef; 7] = [
        &SYNC,
        &AGE,
        &PAGE_CACHE,
        &IO_BLOCK_SIZE,
        &FILE_SIZE,
        &FILES,
        &COMPRESS_POLICY,
    ];
    let completed = |combination: &Settings| {
        let mut factors = combination.clone();
        complete(subject, &mut factors).ok()?;
        Some(factors)
    };
    let why = |factor: FactorRef| {
        if factor.name == COMPRESS_POLICY.name {
            return "without btrfs and a compression; leave it out, or add one, as in --filesystem btrfs --compression zstd:3"
                .to_owned();
        }
        let has_it = |operation: &FileOperation| {
            let without = without_effect(*operation);
            !without.iter().any(|other| other.name == factor.name)
        };
        let names = FileOperation::ALL.into_iter().filter(has_it);
        let names: Vec<&str> = names.map(FileOperation::name).collect();
        format!(
            "on this operation; leave it out, or use --operation {}",
            names.join(", ")
        )
    };
    dropped::check_flags(&factors, combinations, origin, completed, why)
}

/// Takes the words of `filesystem` apart, and gives each filesystem the factors that it has.
fn complete_filesystem(factors: &mut Settings) -> Result<(), Refusal> {
    let choice = *factors.value(&FILESYSTEM);
    let kind = choice.kind;
    check_choice(choice)?;
    if let Some(compression) = choice.compression {
        if factors
            .get(&COMPRESSION)
            .is_some_and(|given| *given != compression)
        {
            let message = format!(
                "filesystem = \"{choice}\" names a compression already; leave `compression` out, or write \"{kind}\""
            );
            return Err(Refusal::of(&FILESYSTEM, message));
        }
        factors.set(&COMPRESSION, compression);
    }
    factors.set_default(&COMPRESSION, FileCompression::NONE);
    let is_compressed = factors.value(&COMPRESSION).is_on();
    if let Some(size) = choice.size {
        match kind {
            FilesystemKind::Erofs => factors.set(&CLUSTER_SIZE, size),
            _ => factors.set(&COMPRESSION_BLOCK_SIZE, size),
        }
    }
    match kind {
        // It has no other: naming it makes no other cell.
        FilesystemKind::Btrfs if factors.get(&COMPRESSION_BLOCK_SIZE) == Some(&BTRFS_EXTENT) => {
            factors.remove(&COMPRESSION_BLOCK_SIZE);
        }
        FilesystemKind::Squashfs => factors.set_default(&COMPRESSION_BLOCK_SIZE, ByteSize(128 << 10)),
        FilesystemKind::Erofs if is_compressed => factors.set_default(&CLUSTER_SIZE, CLUSTER),
        _ => {}
    }
    // What is usual is not said, so that a table of several filesystems has no column of it. What only btrfs has, the engine refuses
    // for others.
    let mut usual: Vec<FactorRef> = vec![&CHECKSUM, &COPY_ON_WRITE, &COMPRESS_POLICY];
    usual.retain(|factor| factors.spelling(factor.about()) == factor.default);
    if kind != FilesystemKind::Btrfs || !is_compressed {
        usual.push(&COMPRESS_POLICY);
    }
    usual.iter().for_each(|factor| factors.remove(factor.about()));
    factors.set(&FILESYSTEM, FilesystemChoice::from(kind));
    Ok(())
}

/// Refuses what a filesystem is named with where it is named, and not at a factor that the user did not give.
fn check_choice(choice: FilesystemChoice) -> Result<(), Refusal> {
    let default = Filesystem::new(choice.kind);
    let size = choice.size.map(|size| size.0);
    let is_erofs = choice.kind == FilesystemKind::Erofs;
    let named = Filesystem {
        compression: choice.compression.unwrap_or(FileCompression::NONE),
        block_bytes: size.filter(|_| !is_erofs),
        cluster_bytes: size.filter(|_| is_erofs).unwrap_or(default.cluster_bytes),
        ..default
    };
    let checked = named.validate();
    checked.map_err(|error| Refusal::of(&FILESYSTEM, error.to_string()))
}

/// Lets the engine judge the trial, as it will when it starts.
pub(super) fn check(subject: &Subject, factors: &Settings, trial: &TrialOptions) -> Result<(), Refusal> {
    let refused = |error: FilesystemError| {
        let field = match &error {
            FilesystemError::Refused { field, .. } => *field,
            _ => FILESYSTEM.name,
        };
        let subject = SCHEMA.subject.iter().copied().find(|factor| factor.name == field);
        let factor: FactorRef = SCHEMA.factor(field).or(subject).unwrap_or(&OPERATION);
        Refusal::of(factor.about(), error.to_string())
    };
    let filesystem = filesystem_of(factors);
    let spec = job_spec(factors, trial, Seed(0));
    // On a filesystem that compresses, some of them are served from memory all the same.
    if spec.access == FileAccess::Direct && factors.get(&PAGE_CACHE) == Some(&PageCache::Warm) {
        let message = "direct accesses go past the page cache, so that a warm one would not be what is measured; use access = \"buffered\", or leave page_cache out";
        return Err(Refusal::of(&PAGE_CACHE, message));
    }
    let bytes = subject.settings.value(&SAMPLE_SIZE).0;
    if !is_directory(subject) {
        filesystem.validate().map_err(refused)?;
        return spec.check(Some(&filesystem), bytes).map_err(refused);
    }
    if spec.operation == FileOperation::SmallFiles {
        let message = "small files need names, and would be left behind in the directory if Outcrop were killed; use kind = \
                       \"scratch-image\"";
        return Err(Refusal::of(&OPERATION, message));
    }
    let directory = OwnDirectory::open(Path::new(subject.settings.value(&PATH))).map_err(refused)?;
    let found = directory.filesystem();
    check_property(&found.type_name, &found.mount_options, filesystem.compression).map_err(refused)?;
    if factors.get(&COMPRESSION) == Some(&FileCompression::NONE) {
        check_uncompressed(directory.path()).map_err(refused)?;
    }
    spec.check(None, bytes).map_err(refused)
}

/// The filesystem of a cell; of a directory the settings that its files get.
pub(super) fn filesystem_of(factors: &Settings) -> Filesystem {
    let kind = factors
        .get(&FILESYSTEM)
        .map_or(FilesystemKind::Btrfs, |choice| choice.kind);
    let default = Filesystem::new(kind);
    Filesystem {
        compression: factors
            .get(&COMPRESSION)
            .copied()
            .unwrap_or(FileCompression::NONE),
        policy: factors.get(&COMPRESS_POLICY).copied().unwrap_or(default.policy),
        block_bytes: factors.get(&COMPRESSION_BLOCK_SIZE).map(|size| size.0),
        cluster_bytes: factors
            .get(&CLUSTER_SIZE)
            .map_or(default.cluster_bytes, |size| size.0),
        checksum: factors.get(&CHECKSUM).copied().unwrap_or(default.checksum),
        copy_on_write: factors
            .get(&COPY_ON_WRITE)
            .copied()
            .unwrap_or(default.copy_on_write),
        thread_pool: factors.get(&THREAD_POOL).copied(),
        ..default
    }
}

/// The job of a trial.
pub(super) fn job_spec(factors: &Settings, trial: &TrialOptions, seed: Seed) -> JobSpec {
    let default = JobSpec::new(seed);
    JobSpec {
        operation: *factors.value(&OPERATION),
        page_cache: factors.get(&PAGE_CACHE).copied().unwrap_or(PageCache::Cold),
        sync: factors.get(&SYNC).copied().unwrap_or(SyncPolicy::End),
        age: factors.get(&AGE).copied().unwrap_or(Age::Fresh),
        access: *factors.value(&ACCESS),
        io_block_bytes: factors
            .get(&IO_BLOCK_SIZE)
            .map_or(default.io_block_bytes, |size| size.0),
        jobs: *factors.value(&JOBS),
        queue_depth: *factors.value(&QUEUE_DEPTH),
        engine: *factors.value(&ENGINE),
        load: *factors.value(&ARRIVAL),
        files: factors.get(&FILES).copied().unwrap_or(1),
        file_bytes: factors.get(&FILE_SIZE).map_or(default.file_bytes, |size| size.0),
        duration: trial.duration.0,
        seed,
    }
}

/// Whether components predict the cell: cold reads of compressed btrfs of our own, one block in each extent, nothing aged or offered.
pub(super) fn is_predicted(subject: &Subject, filesystem: &Filesystem, spec: &JobSpec) -> bool {
    !is_directory(subject)
        && filesystem.kind == FilesystemKind::Btrfs
        && filesystem.compression.is_on()
        && filesystem.policy == CompressPolicy::Force
        && spec.operation == FileOperation::RandomRead
        && spec.page_cache == PageCache::Cold
        && spec.age == Age::Fresh
        && spec.is_closed()
}

/// What is measured without compression for the prediction: the same reads, one at a time.
pub(super) fn baseline_of(
    filesystem: &Filesystem,
    spec: &JobSpec,
    io_block_bytes: u64,
) -> (Filesystem, JobSpec) {
    const LONGEST: std::time::Duration = std::time::Duration::from_millis(400);
    let plain = filesystem.clone().with(FileCompression::NONE);
    let spec = JobSpec {
        jobs: 1,
        queue_depth: 1,
        io_block_bytes,
        engine: outcrop_workload::EngineKind::Psync,
        duration: spec.duration.min(LONGEST),
        ..spec.clone()
    };
    (plain, spec)
}

/// What tells a baseline from others.
pub(super) fn baseline_key(subject: &Subject, plain: &Filesystem, once: &JobSpec) -> String {
    format!(
        "{} {plain} {} {}",
        subject.label, once.io_block_bytes, once.access
    )
}

/// The baselines that a cell's prediction needs: of reads of its size, and of whole extents.
pub(super) fn baselines_of(cell: &Cell) -> Vec<String> {
    let filesystem = filesystem_of(&cell.factors);
    let spec = job_spec(&cell.factors, &cell.trial, Seed(0));
    if !is_predicted(&cell.subject, &filesystem, &spec) {
        return Vec::new();
    }
    let key = |io_block_bytes| {
        let (plain, once) = baseline_of(&filesystem, &spec, io_block_bytes);
        baseline_key(&cell.subject, &plain, &once)
    };
    let mut keys = vec![key(spec.io_block_bytes), key(BTRFS_EXTENT.0)];
    keys.dedup();
    keys
}

/// The kind of filesystem, for forecasts.
pub(super) fn kind_of(factors: &Settings) -> Option<FilesystemKind> {
    factors.get(&FILESYSTEM).map(|choice| choice.kind)
}
