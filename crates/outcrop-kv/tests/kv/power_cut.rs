//! A power cut: what reached the device is all that is left. It is there with every write that was acknowledged as synced.
//!
//! A killed process leaves its writes in the page cache, so that a kill says nothing about syncing. Here the database is on a filesystem
//! in an image, and the image is copied while the database is open: the copy has what the filesystem wrote to its device and no more.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use outcrop_kv::{Opening, Session, StoreOptions, engine};
use outcrop_workload::store::{Durability, StoreEngine};

use super::stage::{Mounted, durable_engines, options, workplace};

const KEYS: u32 = 50;
const IMAGE_BYTES: u64 = 512 << 20;

/// A filesystem in an image, mounted.
struct Disk {
    mounted: Mounted,
    image: PathBuf,
}

impl Disk {
    fn mount(image: PathBuf) -> Option<Self> {
        let mounted = Mounted::of_image(&image)?;
        Some(Self { mounted, image })
    }

    fn make(image: PathBuf) -> Option<Self> {
        fs::File::create(&image).unwrap().set_len(IMAGE_BYTES).unwrap();
        let output = Command::new("mkfs.ext4").arg("-qF").arg(&image).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        Self::mount(image)
    }

    /// The same device, were the power cut now.
    fn cut(&self, copy: PathBuf) -> Option<Self> {
        let output = Command::new("cp")
            .arg("--sparse=always")
            .args([&self.image, &copy])
            .output()
            .unwrap();
        assert!(output.status.success(), "{output:?}");
        Self::mount(copy)
    }

    fn database(&self) -> PathBuf {
        self.mounted.path().join("db")
    }
}

fn put_all(session: &mut dyn Session) {
    for number in 0..KEYS {
        session.put(&number.to_be_bytes(), &number.to_le_bytes()).unwrap();
    }
}

/// How many of the keys a database has; none where it cannot even be opened.
fn found(options: &StoreOptions, directory: &Path) -> u32 {
    let Ok(store) = engine::open(options, directory, Opening::Existing) else {
        return 0;
    };
    let mut session = store.session().unwrap();
    let is_there =
        |number: &u32| session.get(&number.to_be_bytes()).unwrap() == Some(&number.to_le_bytes()[..]);
    (0..KEYS).filter(is_there).count() as u32
}

/// How many keys outlive a power cut right after they were acknowledged; `None` without the right to mount.
fn survivors(engine: StoreEngine, durability: Durability) -> Option<u32> {
    let place = workplace();
    let disk = Disk::make(place.path().join("disk"))?;
    let options = StoreOptions {
        durability,
        ..options(engine)
    };
    let store = engine::open(&options, &disk.database(), Opening::Create).unwrap();
    let mut session = store.session().unwrap();
    put_all(&mut *session);
    let after = disk.cut(place.path().join("copy"))?;
    drop((session, store));
    Some(found(&options, &after.database()))
}

#[test]
fn what_was_acknowledged_as_synced_outlives_a_power_cut_and_the_rest_need_not() {
    for engine in durable_engines() {
        let Some(synced) = survivors(engine, Durability::Synced) else {
            return;
        };
        assert_eq!(synced, KEYS, "{engine}");
        // Otherwise a copy would prove nothing.
        let mut others = engine::durabilities(engine)
            .iter()
            .filter(|one| **one != Durability::Synced);
        let without_sync = *others.next().unwrap();
        let left = survivors(engine, without_sync).unwrap();
        assert!(left < KEYS, "{engine} {without_sync}: {left}");
    }
}
