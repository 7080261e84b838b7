//! Caches that cannot be served, queried or loaded.

use super::scene::Scene;

/// Nobody listens there: the port is that of the discard service, which is not installed.
const NOBODY: &str = "memcached://127.0.0.1:9";

#[test]
fn caches_are_refused_with_what_is_accepted() {
    let mut scene = Scene::new();
    scene.file("trace.csv", "a\nb\na\n");
    scene.file("columns.csv", "1,a,2,3\n");
    scene.file("login", "no colon here\n");
    scene.file("cert.pem", "nothing\n");
    let lines = [
        "cache serve --memory 1KiB",
        "cache serve --policy mru",
        "cache serve --listen localhost",
        "cache serve --listen 0.0.0.0:21999",
        "cache serve --listen 192.0.2.1:21999 --insecure",
        "cache serve --threads 0",
        "cache serve --listen 127.0.0.1:0 --login-file login",
        "cache serve --listen 127.0.0.1:0 --login-file missing",
        "cache serve --listen 127.0.0.1:0 --tls-cert cert.pem --tls-key cert.pem",
        "cache serve --listen 127.0.0.1:0 --tls-cert cert.pem",
        "cache load --target localhost",
        "cache load --target NOBODY",
        "cache load --target NOBODY --connections 0",
        "cache load --target NOBODY --keys 0",
        "cache load --target NOBODY --requests 0",
        "cache load --target NOBODY --value-pool 0",
        "cache load --target NOBODY --workload tpcc",
        "cache load --target NOBODY --mix 1",
        "cache load --target NOBODY --arrival poisson",
        "cache load --target NOBODY --objective fast",
        "cache load --target NOBODY --search p99",
        "cache load --target NOBODY --search p99<5ms --rate 10k",
        "cache load --target NOBODY --search p99<5ms --arrival poisson:1k",
        "cache load --target NOBODY --search p99<5ms --arrival closed",
        "cache load --target NOBODY --warm-up long",
        "cache load --target NOBODY --trace missing.csv",
        "cache load --target NOBODY --trace columns.csv",
        "cache load --target NOBODY --trace trace.csv --mix 1:1",
        "cache load --target NOBODY --trace trace.csv --popularity uniform",
        "cache load --target NOBODY --trace trace.csv --workload etc-lite",
        "cache load --target NOBODY --trace trace.csv --key-size fixed:9",
        "cache load --target NOBODY --trace trace.csv --value-size fixed:9",
        "cache load --target NOBODY --trace trace.csv --rate 10k",
        "cache get greeting --target NOBODY",
        "cache get 'two words' --target NOBODY",
        "cache set greeting hello --target http://127.0.0.1:9",
        "cache delete greeting --target redis://127.0.0.1:9",
        "cache simulate",
        "cache simulate missing.csv --memory 1MiB",
        "cache simulate columns.csv --memory 1MiB",
        "cache simulate trace.csv --memory 1MiB",
        "cache simulate trace.csv --value-size 100B --memory 2MiB..1MiB",
        "cache simulate trace.csv --value-size 100B --memory 1MiB --policy mru",
    ];
    for line in lines {
        scene.refused(&line.replace("NOBODY", NOBODY));
    }
    insta::assert_snapshot!(scene.transcript());
}
