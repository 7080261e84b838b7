//! Every message that a user can meet, as it is printed: read the snapshots aloud before accepting them.

mod displayed;
mod scene;

mod cache;
mod codec;
mod column;
mod device;
mod filesystem;
mod flags;
mod import;
mod kv;
mod plan;
mod predict;
mod results;
