//! TLS between socket and protocol: ciphertext in, plaintext out, and the other way round.
//!
//! *Source*: rustls, with ring's cryptography. Nothing is queued here: what there is to send goes to the connection's own
//! queue, where it is counted.

use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection};

use outcrop_probe::user_file;

use crate::error::CacheError;

/// A longer file is neither certificates nor a key.
const MOST_FILE_BYTES: u64 = 1 << 20;

/// What one connection's keys and records take, about: counted as a buffer of it.
pub(super) const HELD_BYTES: usize = 40 << 10;

/// Where a server's certificate and key are.
#[derive(Clone, Debug)]
pub struct TlsFiles {
    /// Certificates as PEM, the server's own first.
    pub certificates: PathBuf,
    /// Its private key as PEM.
    pub key: PathBuf,
}

/// Reads certificate and key.
///
/// # Errors
/// A file that cannot be read, holds neither, or a key that is not the certificate's.
pub(super) fn configuration(files: &TlsFiles) -> Result<Arc<ServerConfig>, CacheError> {
    let refuse = |path: &Path, problem: String| CacheError::Configuration {
        path: path.to_owned(),
        problem,
    };
    let of_certificates = |problem: String| {
        let expected = "expected certificates in PEM, the server's first";
        refuse(&files.certificates, format!("{problem}; {expected}"))
    };
    let text = user_file::read(&files.certificates, MOST_FILE_BYTES, "a list of certificates");
    let text = text.map_err(|error| of_certificates(error.to_string()))?;
    let certificates = CertificateDer::pem_slice_iter(&text)
        .collect::<Result<Vec<_>, _>>()
        .map_err(|error| of_certificates(error.to_string()))?;
    if certificates.is_empty() {
        return Err(of_certificates("it contains no certificate".to_owned()));
    }
    let of_key = |problem: String| {
        let expected = "expected a private key in PEM, without a password";
        refuse(&files.key, format!("{problem}; {expected}"))
    };
    let text = user_file::read(&files.key, MOST_FILE_BYTES, "a key");
    let text = text.map_err(|error| of_key(error.to_string()))?;
    let key = PrivateKeyDer::from_pem_slice(&text).map_err(|error| of_key(error.to_string()))?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let configuration =
        builder.and_then(|builder| builder.with_no_client_auth().with_single_cert(certificates, key));
    configuration.map(Arc::new).map_err(|error| {
        let expected = "the key must belong to the first certificate";
        refuse(&files.key, format!("{error}; {expected}"))
    })
}

/// One connection's side of TLS.
#[derive(Debug)]
pub(super) struct Tls(Box<ServerConnection>);

impl Tls {
    pub(super) fn new(configuration: &Arc<ServerConfig>) -> io::Result<Self> {
        let mut connection = ServerConnection::new(Arc::clone(configuration)).map_err(io::Error::other)?;
        // All of it is taken at once, see the module.
        connection.set_buffer_limit(None);
        Ok(Self(Box::new(connection)))
    }

    pub(super) fn is_handshaking(&self) -> bool {
        self.0.is_handshaking()
    }

    /// Appends to `plain` what `cipher` says. False when the client has said goodbye.
    ///
    /// # Errors
    /// What is no TLS, or none that we speak; what [`Tls::write_pending`] then writes tells the client so.
    pub(super) fn open(&mut self, mut cipher: &[u8], plain: &mut Vec<u8>) -> io::Result<bool> {
        while !cipher.is_empty() {
            self.0.read_tls(&mut cipher)?;
            let state = self.0.process_new_packets().map_err(io::Error::other)?;
            let start = plain.len();
            plain.resize(start + state.plaintext_bytes_to_read(), 0);
            self.0.reader().read_exact(&mut plain[start..])?;
            if state.peer_has_closed() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Replaces the plaintext in `out` by what is to be sent.
    pub(super) fn seal(&mut self, out: &mut Vec<u8>) -> io::Result<()> {
        self.0.writer().write_all(out)?;
        out.clear();
        self.write_pending(out)
    }

    /// Appends what TLS itself has to send: its side of the handshake, alerts.
    pub(super) fn write_pending(&mut self, out: &mut Vec<u8>) -> io::Result<()> {
        while self.0.wants_write() {
            self.0.write_tls(out)?;
        }
        Ok(())
    }

    /// Appends the word that nothing more comes.
    pub(super) fn say_goodbye(&mut self, out: &mut Vec<u8>) -> io::Result<()> {
        self.0.send_close_notify();
        self.write_pending(out)
    }
}
