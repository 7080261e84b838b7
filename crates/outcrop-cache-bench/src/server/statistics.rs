//! What a server says about itself: memcached's `stats`, Redis's `INFO`.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use outcrop_cache_load::{Protocol, Target};
use outcrop_measure::metric::Unavailable;

/// A server that does not answer within it says nothing.
const LIMIT: Duration = Duration::from_secs(5);
/// More than any server says.
const MOST_BYTES: u64 = 1 << 20;

/// What a server holds, by its own count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Held {
    /// Items.
    pub items: u64,
    /// Items that left for want of memory, since the start.
    pub evictions: u64,
    /// Memory that it counts against its limit; none where it does not say.
    pub memory_bytes: Option<u64>,
}

/// Items, evictions and memory by the server's own count.
pub(super) fn held(target: &Target) -> Result<Held, Unavailable> {
    let said = |error: std::io::Error| Unavailable::because(format!("{target} does not report it: {error}"));
    match target.protocol {
        Protocol::Memcached => {
            let lines = ask(target, b"stats\r\n", |line| line == "END").map_err(said)?;
            of_memcached(&lines)
        }
        Protocol::Redis => {
            // The blank line ends the bulk string that INFO is; QUIT ends the rest.
            let lines = ask(target, b"INFO\r\nQUIT\r\n", |_| false).map_err(said)?;
            of_redis(&lines)
        }
        Protocol::Http => Err(Unavailable::because(
            "HTTP has no statistics that all servers share",
        )),
    }
}

fn ask(target: &Target, command: &[u8], is_end: fn(&str) -> bool) -> std::io::Result<Vec<String>> {
    let mut stream = TcpStream::connect((target.host.as_str(), target.port))?;
    stream.set_read_timeout(Some(LIMIT))?;
    stream.set_write_timeout(Some(LIMIT))?;
    stream.write_all(command)?;
    let mut lines = Vec::new();
    for line in BufReader::new(stream.take(MOST_BYTES)).lines() {
        let line = line?;
        if is_end(&line) {
            break;
        }
        lines.push(line);
    }
    Ok(lines)
}

/// `STAT name value`.
fn of_memcached(lines: &[String]) -> Result<Held, Unavailable> {
    let pairs: BTreeMap<&str, &str> = lines
        .iter()
        .filter_map(|line| line.strip_prefix("STAT ")?.split_once(' '))
        .collect();
    let number = |name: &str| pairs.get(name).and_then(|value| value.trim().parse::<u64>().ok());
    let items = number("curr_items").ok_or_else(|| missing("curr_items", "stats"))?;
    Ok(Held {
        items,
        evictions: number("evictions").ok_or_else(|| missing("evictions", "stats"))?,
        memory_bytes: number("bytes"),
    })
}

/// `name:value`, and `db0:keys=1,expires=0,…` for each database that is not empty.
fn of_redis(lines: &[String]) -> Result<Held, Unavailable> {
    let pairs: BTreeMap<&str, &str> = lines.iter().filter_map(|line| line.split_once(':')).collect();
    let number = |name: &str| pairs.get(name).and_then(|value| value.trim().parse::<u64>().ok());
    let keys_of = |value: &str| {
        value
            .strip_prefix("keys=")?
            .split(',')
            .next()?
            .parse::<u64>()
            .ok()
    };
    let databases = pairs.iter().filter(|(name, _)| name.starts_with("db"));
    Ok(Held {
        items: databases.filter_map(|(_, value)| keys_of(value)).sum(),
        evictions: number("evicted_keys").ok_or_else(|| missing("evicted_keys", "INFO"))?,
        memory_bytes: number("used_memory"),
    })
}

fn missing(name: &str, command: &str) -> Unavailable {
    Unavailable::because(format!("its {command} has no {name}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<String> {
        text.lines().map(str::to_owned).collect()
    }

    #[test]
    fn what_servers_say_is_read_and_what_they_do_not_say_is_unavailable() {
        let memcached = of_memcached(&lines("STAT curr_items 7\nSTAT bytes 900\nSTAT evictions 2\n"));
        let expected = Held {
            items: 7,
            evictions: 2,
            memory_bytes: Some(900),
        };
        assert_eq!(memcached, Ok(expected));
        let redis = of_redis(&lines(
            "$99\n# Memory\nused_memory:900\nevicted_keys:2\ndb0:keys=5,expires=0\ndb3:keys=2,expires=0\n",
        ));
        assert_eq!(redis, Ok(expected));
        for text in ["", "STAT curr_items x", "STAT", "\u{fffd}:"] {
            assert!(of_memcached(&lines(text)).is_err());
            assert!(of_redis(&lines(text)).is_err());
        }
    }
}
