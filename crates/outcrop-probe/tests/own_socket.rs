//! A test in a process that starts no others: for a moment, those would hold its sockets too.

use std::net::TcpListener;

use outcrop_probe::process::ServingProcess;

#[test]
fn our_own_listening_socket_is_ours() {
    for address in ["127.0.0.1:0", "0.0.0.0:0"] {
        let listener = TcpListener::bind(address).unwrap();
        let port = listener.local_addr().unwrap().port();
        let found = ServingProcess::listening_on(([127, 0, 0, 1], port).into()).unwrap();
        assert!(found.is_this_process(), "{found}");
        assert!(found.cpu_time_ns().unwrap() > 0);
        assert!(found.resident_bytes().unwrap() > 100_000);
    }
}
