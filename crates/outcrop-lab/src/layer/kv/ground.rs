//! Filesystems for databases: made afresh for each trial, in one unnamed file of the run.

use std::sync::atomic::AtomicBool;

use outcrop_filesystem::{Filesystem, FilesystemError, Image, OwnFilesystem, image_bytes};
use outcrop_schema::Settings;
use outcrop_schema::kv::FILESYSTEM;

use super::forecast;
use crate::cell::Cell;
use crate::error::LabError;
use crate::layer::{Preparation, image};

/// The filesystem that a cell's databases lie on, where one is made for them.
pub(super) fn filesystem_of(factors: &Settings) -> Option<Filesystem> {
    let choice = factors.get(&FILESYSTEM)?.0?;
    let filesystem = Filesystem {
        block_bytes: choice.size.map(|size| size.0),
        ..Filesystem::new(choice.kind)
    };
    Some(match choice.compression {
        Some(compression) => filesystem.with(compression),
        None => filesystem,
    })
}

/// Bytes of the file that the filesystems of these cells are made in; 0 where none needs one.
pub(super) fn bytes_for(cells: &[&Cell]) -> u64 {
    let needing = cells.iter().filter(|cell| filesystem_of(&cell.factors).is_some());
    needing
        .map(|cell| image_bytes(forecast::user_bytes(cell)))
        .max()
        .unwrap_or(0)
}

/// The file that filesystems are made in, or why there is none.
pub(super) struct Grounds(Result<Image, String>);

impl Grounds {
    /// Makes the file where a cell needs it; where it cannot be made, the cells say why.
    pub(super) fn prepare(preparation: &mut Preparation<'_, '_>) -> Result<Self, LabError> {
        let bytes = bytes_for(preparation.cells);
        if bytes == 0 {
            return Ok(Self(Err("no cell needs a filesystem".to_owned())));
        }
        let seed = preparation.seed.derive("filesystems of databases");
        image::make(bytes, "give fewer records", seed, preparation).map(Self)
    }

    /// What was written for it.
    pub(super) fn bytes(&self) -> u64 {
        self.0.as_ref().map_or(0, Image::bytes)
    }

    /// An empty filesystem.
    ///
    /// # Errors
    /// What this machine lacks, or what went wrong.
    pub(super) fn make(
        &self,
        filesystem: &Filesystem,
        stop: &AtomicBool,
    ) -> Result<OwnFilesystem, FilesystemError> {
        let image = self.0.as_ref();
        let image = image.map_err(|why| FilesystemError::Unavailable(why.clone()))?;
        let available = filesystem.availability();
        available.map_err(|why| FilesystemError::Unavailable(why.reason))?;
        OwnFilesystem::make(image, filesystem, stop)
    }
}
