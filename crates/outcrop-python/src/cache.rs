//! `outcrop.Cache`, a cache server in this process, and `outcrop.CacheClient`, which asks caches.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use outcrop_cache::server::{Protocol, Server, ServerOptions};
use outcrop_cache::store::{PolicyKind, StoreOptions};
use outcrop_cache_load::{Client, Target, check_key};
use outcrop_measure::units::TimeSpan;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyString};

use crate::errors::{CacheError, of_client, of_server};
use crate::words;

/// Idle connections that a client keeps to each server.
const IDLE_CONNECTIONS: usize = 8;

/// A cache server on the loopback interface, which ends with the `with` block, or when it is forgotten.
#[pyclass(frozen, module = "outcrop", name = "Cache")]
pub(crate) struct CacheServer {
    server: Mutex<Option<Server>>,
    addresses: Vec<(Protocol, SocketAddr)>,
    /// The process that has the server's threads: a fork of it has none to end.
    process: u32,
}

#[pymethods]
impl CacheServer {
    /// Starts a server. Its ports are free ones unless `port` and `http_port` name others.
    #[new]
    #[pyo3(signature = (memory=None, *, policy=None, threads=1, max_item=None, port=0, http_port=0))]
    fn new(
        py: Python<'_>,
        memory: Option<&Bound<'_, PyAny>>,
        policy: Option<&str>,
        threads: usize,
        max_item: Option<&Bound<'_, PyAny>>,
        port: u16,
        http_port: u16,
    ) -> PyResult<Self> {
        let mut store = StoreOptions {
            seed: unpredictable_seed(py)?,
            ..StoreOptions::default()
        };
        if let Some(memory) = memory {
            store.memory_bytes = words::bytes("memory", memory)?.bytes();
        }
        if let Some(max_item) = max_item {
            store.max_item_bytes = words::bytes("max_item", max_item)?.bytes();
        }
        if let Some(policy) = policy {
            store.policy = policy.parse::<PolicyKind>().map_err(|error| of_server(&error))?;
        }
        let on = |port| vec![SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port)];
        let options = ServerOptions {
            store,
            memcached: on(port),
            http: on(http_port),
            threads,
            ..ServerOptions::default()
        };
        let server = py
            .detach(|| Server::start(&options))
            .map_err(|error| of_server(&error))?;
        let addresses = server.addresses().to_vec();
        Ok(Self {
            server: Mutex::new(Some(server)),
            addresses,
            process: std::process::id(),
        })
    }

    /// URL for memcached clients: `memcached://127.0.0.1:PORT`.
    #[getter]
    fn url(&self) -> String {
        self.url_of(Protocol::Memcached, "memcached")
    }

    /// URL for HTTP clients: `http://127.0.0.1:PORT`.
    #[getter]
    fn http_url(&self) -> String {
        self.url_of(Protocol::Http, "http")
    }

    /// A client of this server.
    fn client(&self) -> PyResult<CacheClient> {
        CacheClient::of(&[self.url()], Duration::from_secs(5))
    }

    /// Items, bytes and counters now.
    fn stats<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let guard = self.server.lock().unwrap_or_else(PoisonError::into_inner);
        let server = guard
            .as_ref()
            .ok_or_else(|| CacheError::new_err("the cache has ended"))?;
        let report = server.store_report();
        let stats = PyDict::new(py);
        for (name, value) in [
            ("items", report.items),
            ("item_bytes", report.item_bytes),
            ("memory_bytes", report.memory_bytes),
            ("limit_bytes", report.limit_bytes),
            ("stored", report.counters.stored),
            ("evicted", report.counters.evicted),
            ("expired", report.counters.expired),
        ] {
            stats.set_item(name, value)?;
        }
        stats.set_item("connections", server.connections())?;
        Ok(stats)
    }

    /// Ends the server: what has arrived is answered first.
    fn stop(&self, py: Python<'_>) -> PyResult<()> {
        let server = self.server.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(server) = server else { return Ok(()) };
        if self.is_forked() {
            std::mem::forget(server);
            return Ok(());
        }
        py.detach(|| server.stop()).map_err(|error| of_server(&error))
    }

    fn __enter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    fn __exit__(
        &self,
        py: Python<'_>,
        _type: &Bound<'_, PyAny>,
        _value: &Bound<'_, PyAny>,
        _traceback: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        self.stop(py)
    }

    fn __repr__(&self) -> String {
        format!("<outcrop.Cache at {}>", self.url())
    }
}

impl CacheServer {
    fn url_of(&self, protocol: Protocol, scheme: &str) -> String {
        let found = self.addresses.iter().find(|(known, _)| *known == protocol);
        found
            .map(|(_, address)| format!("{scheme}://{address}"))
            .unwrap_or_default()
    }

    fn is_forked(&self) -> bool {
        self.process != std::process::id()
    }
}

impl Drop for CacheServer {
    fn drop(&mut self) {
        let server = self
            .server
            .get_mut()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        // In a fork the threads do not exist, and waiting for them would never end.
        if let (Some(server), true) = (server, self.is_forked()) {
            std::mem::forget(server);
        }
    }
}

fn unpredictable_seed(py: Python<'_>) -> PyResult<u64> {
    let bytes: [u8; 8] = py.import("os")?.call_method1("urandom", (8,))?.extract()?;
    Ok(u64::from_ne_bytes(bytes))
}

/// Asks caches over the memcached protocol, Redis' or HTTP: each key of several servers belongs to one of them.
#[pyclass(frozen, module = "outcrop")]
pub(crate) struct CacheClient {
    client: Client,
    urls: Vec<String>,
}

impl CacheClient {
    fn of(urls: &[String], timeout: Duration) -> PyResult<Self> {
        let targets = urls.iter().map(|url| url.parse::<Target>());
        let targets = targets
            .collect::<Result<Vec<_>, _>>()
            .map_err(|error| of_client(&error))?;
        let client = Client::new(&targets, IDLE_CONNECTIONS, timeout).map_err(|error| of_client(&error))?;
        Ok(Self {
            client,
            urls: urls.to_vec(),
        })
    }
}

/// The bytes of a key or a value.
fn bytes_of<'v>(what: &str, value: &'v Bound<'_, PyAny>) -> PyResult<&'v [u8]> {
    if let Ok(text) = value.cast::<PyString>() {
        return Ok(text.to_str()?.as_bytes());
    }
    match value.cast::<PyBytes>() {
        Ok(bytes) => Ok(bytes.as_bytes()),
        Err(_) => Err(PyTypeError::new_err(format!(
            "the {what} is neither str nor bytes"
        ))),
    }
}

fn key_of<'v>(key: &'v Bound<'_, PyAny>) -> PyResult<&'v [u8]> {
    let key = bytes_of("key", key)?;
    check_key(key).map_err(|error| PyValueError::new_err(error.to_string()))?;
    Ok(key)
}

#[pymethods]
impl CacheClient {
    /// A client of the servers at these URLs; nothing is connected before it is used. `timeout` holds for connecting and for each reply.
    #[new]
    #[pyo3(signature = (*urls, timeout=None))]
    fn new(urls: Vec<String>, timeout: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        let timeout = timeout
            .map(|timeout| words::time("timeout", timeout))
            .transpose()?;
        Self::of(&urls, timeout.map_or(Duration::from_secs(5), TimeSpan::duration))
    }

    /// The value of a key; `None` where there is none.
    fn get<'py>(&self, key: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let py = key.py();
        let wanted = key_of(key)?;
        let value = py
            .detach(|| self.client.get(wanted))
            .map_err(|error| of_client(&error))?;
        Ok(value.map(|value| PyBytes::new(py, &value)))
    }

    /// Stores a value for `ttl` seconds; 0 is for ever.
    #[pyo3(signature = (key, value, *, ttl=0))]
    fn set(&self, key: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>, ttl: u32) -> PyResult<()> {
        let (wanted, bytes) = (key_of(key)?, bytes_of("value", value)?);
        key.py()
            .detach(|| self.client.set(wanted, bytes, ttl))
            .map_err(|error| of_client(&error))
    }

    /// Removes a key; whether there was one.
    fn delete(&self, key: &Bound<'_, PyAny>) -> PyResult<bool> {
        let wanted = key_of(key)?;
        key.py()
            .detach(|| self.client.delete(wanted))
            .map_err(|error| of_client(&error))
    }

    fn __repr__(&self) -> String {
        format!("<outcrop.CacheClient of {}>", self.urls.join(", "))
    }
}
