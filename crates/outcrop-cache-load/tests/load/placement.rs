//! Consistent hashing against twemproxy: live where it is installed, and as captured from it.

use std::collections::BTreeMap;

use outcrop_cache_load::{KeyHash, Ring};

use crate::servers::Server;

/// Captured from nutcracker 0.5.0 by the test below: hash, key, name of the server.
const CAPTURED: &str = include_str!("../fixtures/twemproxy-ketama.csv");
const NAMES: [&str; 4] = ["alpha", "beta", "gamma", "delta-with-a-longer-name"];
const WEIGHTS: [u32; 4] = [1, 1, 3, 2];

fn hash(name: &str) -> KeyHash {
    match name {
        "fnv1a_64" => KeyHash::Fnv1a64,
        _ => KeyHash::Md5,
    }
}

fn named() -> Vec<(String, u32)> {
    NAMES.iter().map(|name| (*name).to_owned()).zip(WEIGHTS).collect()
}

fn keys() -> Vec<String> {
    (0..300).map(|number| format!("user:{}", number * 7919)).collect()
}

#[test]
fn captured_placements_are_reproduced() {
    let mut seen = 0;
    for line in CAPTURED.lines().filter(|line| !line.starts_with('#')) {
        let [name, key, server] = line.split(',').collect::<Vec<_>>()[..] else {
            panic!("{line}")
        };
        let ring = Ring::weighted(&named(), hash(name));
        assert_eq!(NAMES[ring.server_of(key.as_bytes()).unwrap()], server, "{line}");
        seen += 1;
    }
    assert_eq!(seen, 600);
}

#[test]
fn a_live_twemproxy_places_every_key_where_we_do() {
    let backends: Vec<Server> = NAMES.iter().filter_map(|_| Server::memcached(&[])).collect();
    if backends.is_empty() {
        return;
    }
    for name in ["fnv1a_64", "md5"] {
        let with_names: Vec<String> = backends
            .iter()
            .zip(named())
            .map(|(backend, (name, weight))| format!("{}:{weight} {name}", backend.target.authority()))
            .collect();
        let Some(placed) = placements(name, &with_names, &backends) else {
            return;
        };
        let ring = Ring::weighted(&named(), hash(name));
        for (key, server) in &placed {
            assert_eq!(ring.server_of(key.as_bytes()), Some(*server), "{name} {key}");
            if std::env::var_os("CAPTURE").is_some() {
                println!("captured: {name},{key},{}", NAMES[*server]);
            }
        }
        let without: Vec<String> = backends
            .iter()
            .map(|backend| format!("{}:1", backend.target.authority()))
            .collect();
        let Some(placed) = placements(name, &without, &backends) else {
            return;
        };
        let targets: Vec<_> = backends.iter().map(|backend| backend.target.clone()).collect();
        let ring = Ring::new(&targets, hash(name));
        for (key, server) in &placed {
            assert_eq!(ring.server_of(key.as_bytes()), Some(*server), "{name} {key}");
        }
    }
}

/// Sends keys through the proxy, and looks where each of them is.
fn placements(hash: &str, lines: &[String], backends: &[Server]) -> Option<BTreeMap<String, usize>> {
    let proxy = Server::nutcracker(hash, lines)?;
    let mut through = proxy.connect();
    for key in keys() {
        through.set(key.as_bytes(), hash.as_bytes(), 0).unwrap();
    }
    let mut placed = BTreeMap::new();
    for (server, backend) in backends.iter().enumerate() {
        let mut connection = backend.connect();
        for key in keys() {
            if connection.get(key.as_bytes()).unwrap().is_some() {
                assert_eq!(placed.insert(key, server), None, "a key is on one server only");
            }
        }
        connection.flush().unwrap();
    }
    assert_eq!(placed.len(), keys().len());
    Some(placed)
}

#[test]
fn a_server_that_goes_takes_only_its_own_keys_along() {
    let all = Ring::weighted(
        &named().into_iter().map(|(name, _)| (name, 1)).collect::<Vec<_>>(),
        KeyHash::Fnv1a64,
    );
    let fewer = Ring::weighted(
        &named()
            .into_iter()
            .take(3)
            .map(|(name, _)| (name, 1))
            .collect::<Vec<_>>(),
        KeyHash::Fnv1a64,
    );
    for key in keys() {
        let before = all.server_of(key.as_bytes()).unwrap();
        if before < 3 {
            assert_eq!(fewer.server_of(key.as_bytes()), Some(before));
        }
    }
    assert_eq!(Ring::weighted(&[], KeyHash::Md5).server_of(b"key"), None);
}
