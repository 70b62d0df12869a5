//! The operator's secret, which keys every digest.

use std::fs::OpenOptions;
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// Name of the file in the data directory that keeps a secret which nobody gave.
const FILE: &str = "secret";

/// The key of a secret of any length.
#[must_use]
pub fn from_bytes(secret: &[u8]) -> [u8; 32] {
    *blake3::hash(secret).as_bytes()
}

/// A fresh key: what is stored under it can't be found again by another process.
pub fn random() -> io::Result<[u8; 32]> {
    let mut key = [0; 32];
    getrandom::fill(&mut key).map_err(|error| io::Error::other(error.to_string()))?;
    Ok(key)
}

/// The key that is kept in `directory`; made, for its owner's eyes only, if there is none yet.
pub fn kept_in(directory: &Path) -> io::Result<[u8; 32]> {
    let path = directory.join(FILE);
    let named =
        |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", path.display()));
    match OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path) {
        Ok(mut file) => {
            let key = random()?;
            file.write_all(&key).and_then(|()| file.sync_all()).map_err(named)?;
            Ok(key)
        }
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            let mut key = [0; 32];
            OpenOptions::new()
                .read(true)
                .open(&path)
                .and_then(|mut file| file.read_exact(&mut key))
                .map_err(named)?;
            Ok(key)
        }
        Err(error) => Err(named(error)),
    }
}
