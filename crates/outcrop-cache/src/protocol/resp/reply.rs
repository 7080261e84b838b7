//! Replies, in either version of the protocol.

/// Writes replies to the end of a vector.
pub(super) struct Reply<'a>(pub(super) &'a mut Vec<u8>);

impl Reply<'_> {
    fn head(&mut self, sign: u8, number: i64) {
        self.0.push(sign);
        self.0
            .extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
        self.0.extend_from_slice(b"\r\n");
    }

    pub(super) fn ok(&mut self) {
        self.0.extend_from_slice(b"+OK\r\n");
    }

    pub(super) fn simple(&mut self, text: &str) {
        self.0.push(b'+');
        self.0.extend_from_slice(text.as_bytes());
        self.0.extend_from_slice(b"\r\n");
    }

    /// An error: a code in capitals, then a sentence. No line end of a client's may get into it.
    pub(super) fn error(&mut self, text: &str) {
        self.0.push(b'-');
        self.0.extend(
            text.bytes()
                .map(|byte| if byte.is_ascii_control() { b'?' } else { byte }),
        );
        self.0.extend_from_slice(b"\r\n");
    }

    pub(super) fn integer(&mut self, number: i64) {
        self.head(b':', number);
    }

    pub(super) fn bulk(&mut self, bytes: &[u8]) {
        self.0.reserve(bytes.len() + 24);
        self.head(b'$', bytes.len() as i64);
        self.0.extend_from_slice(bytes);
        self.0.extend_from_slice(b"\r\n");
    }

    /// Nothing there.
    pub(super) fn nil(&mut self, is_version_3: bool) {
        self.0
            .extend_from_slice(if is_version_3 { b"_\r\n" } else { b"$-1\r\n" });
    }

    pub(super) fn array(&mut self, len: usize) {
        self.head(b'*', len as i64);
    }

    /// The head of a map with this number of pairs; version 2 has an array instead.
    pub(super) fn map(&mut self, len: usize, is_version_3: bool) {
        if is_version_3 {
            self.head(b'%', len as i64);
        } else {
            self.array(2 * len);
        }
    }
}
