//! The compression layer: codecs on the user's data, on the embedded sample, or on generated content.

pub mod metrics;
