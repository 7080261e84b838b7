//! The client against memcached and Redis.

use outcrop_cache_load::{CacheLoadError, Client, Connection, Outcome, Pool};

use crate::servers::{Server, TIMEOUT, free_port};

fn both() -> impl Iterator<Item = Server> {
    [Server::memcached(&[]), Server::redis()].into_iter().flatten()
}

#[test]
fn what_is_set_is_got_until_it_is_deleted() {
    for server in both() {
        let mut connection = server.connect();
        let long = vec![b'x'; 900_000];
        for value in [&b""[..], b"a\r\nEND\r\nb", b"\0\xff", &long] {
            connection.set(b"key", value, 0).unwrap();
            assert_eq!(connection.get(b"key").unwrap().as_deref(), Some(value));
        }
        assert!(connection.delete(b"key").unwrap());
        assert!(!connection.delete(b"key").unwrap());
        assert_eq!(connection.get(b"key").unwrap(), None);
        connection.set(b"key", b"again", 100).unwrap();
        connection.flush().unwrap();
        assert_eq!(connection.get(b"key").unwrap(), None);
    }
}

#[test]
fn a_pipeline_has_an_outcome_for_every_request_in_order() {
    for server in both() {
        let mut connection = server.connect();
        // Far more than the buffers of both directions hold together.
        let value = vec![b'v'; 20_000];
        let mut pipeline = connection.pipeline();
        for number in 0..500 {
            let key = format!("key{number}");
            pipeline.set(key.as_bytes(), &value, 0);
            pipeline.get(key.as_bytes());
            pipeline.get(b"absent");
            pipeline.delete(key.as_bytes());
        }
        let wanted = [
            Outcome::Stored,
            Outcome::Value(value.clone()),
            Outcome::Miss,
            Outcome::Deleted,
        ];
        let outcomes = pipeline.run().unwrap();
        assert_eq!(outcomes.len(), 2000);
        assert!(outcomes.chunks(4).all(|four| four == wanted));
    }
}

#[test]
fn a_refusal_is_said_in_the_servers_words_and_the_next_request_works() {
    let Some(server) = Server::memcached(&[]) else {
        return;
    };
    let mut connection = server.connect();
    let refused = connection.set(b"large", &vec![0; 2 << 20], 0).unwrap_err();
    assert!(
        refused.to_string().contains("object too large for cache"),
        "{refused}"
    );
    let refused = connection.get(&[b'k'; 251]).unwrap_err();
    assert!(matches!(refused, CacheLoadError::Refused { .. }), "{refused}");
    connection.set(b"small", b"1", 0).unwrap();
}

#[test]
fn a_pool_keeps_connections_and_replaces_one_that_broke() {
    let Some(server) = Server::memcached(&[]) else {
        return;
    };
    let target = server.target.clone();
    let pool = Pool::new(target.clone(), 1, TIMEOUT);
    pool.with(|first| {
        pool.with(|second| second.set(b"b", b"2", 0))
            .and_then(|()| first.set(b"a", b"1", 0))
    })
    .unwrap();
    assert_eq!(pool.idle_count(), 1);
    drop(server);
    let refused = pool.with(|connection| connection.get(b"a")).unwrap_err();
    assert!(matches!(refused, CacheLoadError::Connect { .. }), "{refused}");
    assert_eq!(pool.idle_count(), 0);
}

#[test]
fn a_client_finds_on_its_servers_what_it_stored() {
    let servers: Vec<Server> = (0..3).filter_map(|_| Server::memcached(&[])).collect();
    if servers.is_empty() {
        return;
    }
    let targets: Vec<_> = servers.iter().map(|server| server.target.clone()).collect();
    let client = Client::new(&targets, 2, TIMEOUT).unwrap();
    for number in 0..100 {
        client
            .set(format!("user:{}", number * 7919).as_bytes(), b"value", 0)
            .unwrap();
    }
    let mut direct: Vec<Connection> = servers.iter().map(Server::connect).collect();
    for number in 0..100 {
        let key = format!("user:{}", number * 7919);
        assert_eq!(
            client.get(key.as_bytes()).unwrap().as_deref(),
            Some(&b"value"[..])
        );
        let owner = client.pool_of(key.as_bytes()).target();
        for (target, connection) in targets.iter().zip(&mut direct) {
            let is_here = connection.get(key.as_bytes()).unwrap().is_some();
            assert_eq!(is_here, target == owner, "{key}");
        }
    }
    assert!(client.delete(b"user:7919").unwrap());
}

#[test]
fn nobody_listening_is_said_with_the_target() {
    let target = format!("redis://127.0.0.1:{}", free_port());
    let refused = Connection::connect(&target.parse().unwrap(), TIMEOUT).unwrap_err();
    assert!(refused.to_string().contains(&target), "{refused}");
}
