//! `outcrop cache serve`: the cache, until Ctrl-C or SIGTERM.

use std::io::Read;
use std::net::{SocketAddr, ToSocketAddrs};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;

use anyhow::Context as _;
use outcrop_cache::CacheError;
use outcrop_cache::server::{Protocol, Server, ServerOptions, TlsFiles, loopback};
use outcrop_cache::store::{PolicyKind, StoreOptions};
use outcrop_measure::units::{ByteSize, format_bytes};

use crate::commands::whole::whole;
use crate::exit::{Ending, bad_input};
use crate::output::note;

const EXAMPLES: &str = "\
Examples:
  outcrop cache serve                                  1 GiB on 127.0.0.1:11211 and [::1]:11211
  outcrop cache serve --memory 64MiB --policy lru --threads 2
  outcrop cache serve --listen 127.0.0.1:11300 --http 127.0.0.1:8080
  outcrop cache serve --redis 127.0.0.1:6379           for redis-cli and redis-py
  outcrop cache serve --listen 0.0.0.0:11211 --tls-cert a.pem --tls-key a.key --login-file users
  curl -X PUT localhost:8080/rock/granite; curl localhost:8080/rock; curl localhost:8080/metrics
  printf 'set rock 0 0 7\\r\\ngranite\\r\\nget rock\\r\\nquit\\r\\n' | nc localhost 11211

--memory limits the whole process, to within 16 MiB; a thread that sends an item larger than 1 MiB may \
take up to the item's size in addition. With --policy none, a quarter of the memory (at most 1 GiB) is set aside for connection buffers, or \
the size of one request of the largest item if that is more. On Ctrl-C or SIGTERM the server answers pending requests, \
for about 5 s at most, and exits; a second signal stops it immediately.";

/// Serve a cache over the memcached protocol, HTTP and the Redis protocol
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// Memory limit for items, tables and buffers
    #[arg(long, default_value = "1GiB", value_name = "BYTES")]
    memory: ByteSize,
    /// Limit for the items alone, from 64 B: header, key and value [default: what --memory leaves]
    #[arg(long, value_name = "BYTES")]
    item_memory: Option<ByteSize>,
    /// Eviction policy: none, fifo, lru, sieve, s3-fifo, w-tinylfu
    #[arg(long, default_value_t, value_name = "POLICY")]
    policy: PolicyKind,
    /// Items per hash chain: fewer make lookups faster, more save memory
    #[arg(long, default_value_t = 1.5, value_name = "RATIO")]
    load_factor: f64,
    /// Maximum item size: key, value and a few bytes of overhead; above 1 MiB, at most three eighths of --memory
    #[arg(long, default_value = "1MiB", value_name = "BYTES")]
    max_item: ByteSize,
    /// Server threads, one per core [default: one for each core]
    #[arg(long, value_name = "N", value_parser = whole::<usize>)]
    threads: Option<usize>,
    /// Addresses that serve the memcached protocol, separated by commas [default: port 11211 of 127.0.0.1 and ::1]
    #[arg(long, value_delimiter = ',', value_name = "ADDRESS:PORT")]
    listen: Vec<String>,
    /// Addresses that serve HTTP, separated by commas [default: none]
    #[arg(long, value_delimiter = ',', value_name = "ADDRESS:PORT")]
    http: Vec<String>,
    /// Addresses that serve the Redis protocol, separated by commas [default: none]
    #[arg(long, value_delimiter = ',', value_name = "ADDRESS:PORT")]
    redis: Vec<String>,
    /// Maximum number of connections
    #[arg(long, default_value_t = 10_000, value_name = "N", value_parser = whole::<u64>)]
    max_connections: u64,
    /// Require TLS: PEM file with the certificate, followed by its chain
    #[arg(long, requires = "tls_key", value_name = "FILE")]
    tls_cert: Option<PathBuf>,
    /// PEM file with the certificate's private key
    #[arg(long, requires = "tls_cert", value_name = "FILE")]
    tls_key: Option<PathBuf>,
    /// Require login: a file with a line name:password for each user, as for memcached's -Y; HTTP takes Basic or Bearer, Redis clients AUTH
    #[arg(long, value_name = "FILE")]
    login_file: Option<PathBuf>,
    /// Allow addresses that other machines can reach, without login and TLS
    #[arg(long)]
    insecure: bool,
}

pub(super) fn run(args: &Args) -> anyhow::Result<Ending> {
    // Until it listens there is nothing to end in order: a signal ends the process, whatever it waits for.
    let server = Server::start(&options(args)?).map_err(of_cache)?;
    let (mut signals, write_end) = UnixStream::pair()?;
    for signal in crate::interrupt::signals() {
        signal_hook::low_level::pipe::register(signal, write_end.try_clone()?)?;
    }
    for (protocol, address) in server.addresses() {
        let name = match protocol {
            Protocol::Memcached => "memcached",
            Protocol::Http => "http",
            Protocol::Redis => "redis",
        };
        note(&format!("{name} on {address}"));
    }
    let memory = format_bytes(args.memory.bytes());
    // What evicts where it is given: a monitor that reads the memory limit alone sees a server that is never full.
    let items = args.item_memory.map_or_else(String::new, |items| {
        format!(", of which {} for items", format_bytes(items.bytes()))
    });
    note(&format!(
        "{memory}{items}, policy {}; Ctrl-C stops the server",
        args.policy
    ));
    if server.max_connections() < args.max_connections {
        let most = server.max_connections();
        note(&format!(
            "at most {most} connections: raise `ulimit -n` for {}",
            args.max_connections
        ));
    }
    signals.read_exact(&mut [0])?;
    // From here on a second signal ends the process at once.
    let stopping = crate::interrupt::stop_flag()?;
    stopping.store(true, std::sync::atomic::Ordering::Relaxed);
    note("stopping: pending requests are answered first");
    server.stop().map_err(of_cache)?;
    Ok(Ending::Done)
}

fn options(args: &Args) -> anyhow::Result<ServerOptions> {
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let listen = if args.listen.is_empty() {
        loopback(11211).to_vec()
    } else {
        addresses(&args.listen)?
    };
    Ok(ServerOptions {
        store: StoreOptions {
            memory_bytes: args.memory.bytes(),
            item_memory_bytes: args.item_memory.map(ByteSize::bytes),
            max_item_bytes: args.max_item.bytes(),
            policy: args.policy,
            load_factor: args.load_factor,
            seed: unpredictable_seed()?,
            ..StoreOptions::default()
        },
        memcached: listen,
        http: addresses(&args.http)?,
        redis: addresses(&args.redis)?,
        threads: args.threads.unwrap_or(cores),
        max_connections: args.max_connections,
        tls: args
            .tls_cert
            .clone()
            .zip(args.tls_key.clone())
            .map(|(certificates, key)| TlsFiles { certificates, key }),
        login_file: args.login_file.clone(),
        is_exposed: args.insecure,
        ..ServerOptions::default()
    })
}

/// From the system's randomness: who can guess the hash can fill one chain of the index.
fn unpredictable_seed() -> anyhow::Result<u64> {
    const SOURCE: &str = "/dev/urandom";
    let mut bytes = [0; 8];
    std::fs::File::open(SOURCE)
        .and_then(|mut source| source.read_exact(&mut bytes))
        .with_context(|| format!("cannot read {SOURCE}, which seeds the hash of keys"))?;
    Ok(u64::from_ne_bytes(bytes))
}

fn addresses(given: &[String]) -> anyhow::Result<Vec<SocketAddr>> {
    let mut found = Vec::new();
    for text in given {
        let resolved = text.to_socket_addrs();
        let resolved = resolved.map_err(|error| {
            bad_input(anyhow::anyhow!(
                "{text}: {error}; expected an address and a port, such as 127.0.0.1:11211"
            ))
        })?;
        found.extend(resolved);
    }
    Ok(found)
}

/// Options and addresses are the user's; what the system refuses is a failure.
fn of_cache(error: CacheError) -> anyhow::Error {
    match error {
        CacheError::System { .. } | CacheError::Memory { .. } => error.into(),
        other => bad_input(other),
    }
}
