//! `outcrop cache get|set|delete`: one key of one server.

use std::io::{IsTerminal as _, Read as _, Write as _};

use outcrop_cache_load::{CacheLoadError, Connection, Protocol, Target, check_key};
use outcrop_measure::TimeSpan;
use outcrop_measure::units::format_bytes;

use crate::exit::{Ending, bad_input};
use crate::output::{note, stdout};

/// Longest value that is read from stdin; servers take less, by default 1 MiB.
const MOST_VALUE_BYTES: u64 = 128 << 20;

/// What our server's HTTP interface has in place of a key.
const METRICS: &str = "metrics";

#[derive(Debug, clap::Args)]
struct Server {
    /// The server: memcached://HOST:PORT, redis://HOST:PORT, http://HOST:PORT
    #[arg(long, default_value = "memcached://127.0.0.1:11211", value_name = "URL")]
    target: Target,
    /// Timeout for connecting and for each reply
    #[arg(long, default_value = "5s", value_name = "TIME")]
    timeout: TimeSpan,
}

/// Print the value of a key
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  outcrop cache get rock                                     from `outcrop cache serve`
  outcrop cache get rock --target redis://127.0.0.1:6379
  outcrop cache get photo > photo.jpg                        the bytes as they are

Exit code 1: there is no such key.")]
pub(super) struct Get {
    /// The key
    key: String,
    #[command(flatten)]
    server: Server,
}

/// Store a value under a key
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  outcrop cache set rock granite                             to `outcrop cache serve`
  outcrop cache set rock granite --ttl 60s
  outcrop cache set photo < photo.jpg                        the value comes from stdin")]
pub(super) struct Set {
    /// The key
    key: String,
    /// The value [default: read from stdin]
    value: Option<String>,
    /// Time to live, in whole seconds [default: no expiry]
    #[arg(long, value_name = "TIME")]
    ttl: Option<TimeSpan>,
    #[command(flatten)]
    server: Server,
}

/// Delete a key
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  outcrop cache delete rock
  outcrop cache delete rock --target http://127.0.0.1:8080

Exit code 1: there was no such key.")]
pub(super) struct Delete {
    /// The key
    key: String,
    #[command(flatten)]
    server: Server,
}

pub(super) fn get(args: &Get) -> anyhow::Result<Ending> {
    let mut connection = connect(&args.server, &args.key)?;
    let Some(value) = connection.get(args.key.as_bytes())? else {
        return Ok(absent(&args.key, &args.server));
    };
    let mut out = stdout();
    out.write_all(&value)?;
    if out.is_terminal() && !value.ends_with(b"\n") {
        out.write_all(b"\n")?;
    }
    out.flush()?;
    Ok(Ending::Done)
}

pub(super) fn set(args: &Set) -> anyhow::Result<Ending> {
    let ttl_s = match args.ttl {
        None => 0,
        Some(ttl) if args.server.target.protocol == Protocol::Http => {
            return Err(bad_input(anyhow::anyhow!(
                "--ttl {ttl}: HTTP has no time to live; leave it out, or name the server's memcached or Redis port with --target"
            )));
        }
        Some(ttl) => whole_seconds(ttl)?,
    };
    let value = match &args.value {
        Some(value) => value.clone().into_bytes(),
        None => from_stdin()?,
    };
    let mut connection = connect(&args.server, &args.key)?;
    connection.set(args.key.as_bytes(), &value, ttl_s)?;
    if ttl_s > 0 && server_expiry(&args.server, ttl_s) == 0 {
        note(&format!(
            "note: a time to live of {ttl_s} s ends after 19 January 2038, the last date that memcached reads; the value is stored without expiry"
        ));
    }
    let size = format_bytes(value.len() as u64);
    note(&format!(
        "stored {size} under `{}` at {}",
        args.key, args.server.target
    ));
    Ok(Ending::Done)
}

pub(super) fn delete(args: &Delete) -> anyhow::Result<Ending> {
    let mut connection = connect(&args.server, &args.key)?;
    if !connection.delete(args.key.as_bytes())? {
        return Ok(absent(&args.key, &args.server));
    }
    note(&format!("deleted `{}` at {}", args.key, args.server.target));
    Ok(Ending::Done)
}

fn connect(server: &Server, key: &str) -> anyhow::Result<Connection> {
    check_key(key.as_bytes()).map_err(bad_input)?;
    if server.target.protocol == Protocol::Http && key == METRICS {
        return Err(bad_input(anyhow::anyhow!(
            "the key `{METRICS}` cannot be used over HTTP, where GET /{METRICS} gives the server's metrics; use another key or protocol"
        )));
    }
    if server.timeout.0.is_zero() {
        return Err(bad_input(anyhow::anyhow!(
            "--timeout is 0s; expected a time above 0, such as 5s"
        )));
    }
    Connection::connect(&server.target, server.timeout.duration()).map_err(|error| match error {
        CacheLoadError::Connect { target, source } => anyhow::anyhow!(
            "cannot connect to {target}: {source}; start a server with `outcrop cache serve`, or name another with --target"
        ),
        other => other.into(),
    })
}

fn absent(key: &str, server: &Server) -> Ending {
    note(&format!("there is no `{key}` at {}", server.target));
    Ending::ConditionMet
}

/// The expiry that a set sends to the server for a time to live; 0 is none.
fn server_expiry(server: &Server, ttl_s: u32) -> u32 {
    server
        .target
        .wire()
        .expiry(ttl_s, || outcrop_probe::clock::unix_now().as_secs())
}

fn whole_seconds(ttl: TimeSpan) -> anyhow::Result<u32> {
    let time = ttl.duration();
    let seconds = u32::try_from(time.as_secs()).ok();
    seconds
        .filter(|seconds| *seconds > 0 && time.subsec_nanos() == 0)
        .ok_or_else(|| {
            bad_input(anyhow::anyhow!(
                "--ttl {ttl}: expected whole seconds from 1s to {}s, such as 60s",
                u32::MAX
            ))
        })
}

fn from_stdin() -> anyhow::Result<Vec<u8>> {
    let stdin = std::io::stdin();
    if stdin.is_terminal() {
        note("reading the value from the terminal: end it with Ctrl-D");
    }
    let mut value = Vec::new();
    stdin.lock().take(MOST_VALUE_BYTES + 1).read_to_end(&mut value)?;
    if value.len() as u64 > MOST_VALUE_BYTES {
        return Err(bad_input(anyhow::anyhow!(
            "the value on stdin is larger than 128 MiB, which no server stores"
        )));
    }
    Ok(value)
}
