//! dpzip's place in the list of codecs.

use crate::dpzip::{ACCEPTED, Dpzip, DpzipOptions};
use crate::{CodecFamily, CodecLibrary, Setting, Settings};

pub(super) const FAMILY: CodecFamily = CodecFamily {
    name: "dpzip",
    summary: "a hardware page codec in software (pages of 4 KiB, a small table, Zstandard frames)",
    settings: Settings::Table,
    accepted: ACCEPTED,
    library: || {
        Ok(CodecLibrary::within(concat!(
            "outcrop ",
            env!("CARGO_PKG_VERSION")
        )))
    },
    open: |setting| {
        let options = match setting {
            Setting::Table(options) => options,
            _ => DpzipOptions::default(),
        };
        Ok(Box::new(Dpzip::new(options)))
    },
};
