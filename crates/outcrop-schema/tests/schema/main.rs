//! The vocabulary holds together, and the tables in the documentation are those of the schema.

#![expect(clippy::unwrap_used, reason = "in a test, a panic is the report")]

mod consistency;
mod settings;
mod tables;
