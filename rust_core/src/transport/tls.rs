//! TLS: the server's certificate, and the CA of its clients' certificates.

use std::fmt;
use std::sync::Arc;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::server::danger::ClientCertVerifier;
use rustls::{RootCertStore, ServerConfig};

/// A checked configuration.
#[derive(Clone)]
pub struct Tls(pub(super) Arc<ServerConfig>);

/// Why a configuration can't be used: what was wrong, and in which of the files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlsError(String);

impl fmt::Display for TlsError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

impl std::error::Error for TlsError {}

impl Tls {
    /// From PEM texts: the server's certificate chain and private key, and, to ask clients for
    /// certificates, the CAs that sign those. With `required`, clients without one are cut off.
    pub fn new(
        certificate: &[u8],
        key: &[u8],
        client_ca: Option<&[u8]>,
        required: bool,
    ) -> Result<Self, TlsError> {
        let chain = certificates("the certificate", certificate)?;
        let key = PrivateKeyDer::from_pem_slice(key).map_err(|e| wrong("the private key", &e))?;
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = ServerConfig::builder_with_provider(provider.clone())
            .with_safe_default_protocol_versions()
            .map_err(|e| wrong("TLS", &e))?;
        let verifier = match client_ca {
            Some(pem) => clients(pem, required, provider)?,
            None => WebPkiClientVerifier::no_client_auth(),
        };
        let mut config = builder
            .with_client_cert_verifier(verifier)
            .with_single_cert(chain, key)
            .map_err(|e| wrong("the certificate and its private key", &e))?;
        config.alpn_protocols = vec![b"h2".to_vec()];
        Ok(Self(Arc::new(config)))
    }
}

fn clients(
    pem: &[u8],
    required: bool,
    provider: Arc<rustls::crypto::CryptoProvider>,
) -> Result<Arc<dyn ClientCertVerifier>, TlsError> {
    let what = "the clients' CA";
    let mut roots = RootCertStore::empty();
    for root in certificates(what, pem)? {
        roots.add(root).map_err(|e| wrong(what, &e))?;
    }
    let builder = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider);
    let builder = if required { builder } else { builder.allow_unauthenticated() };
    builder.build().map_err(|e| wrong(what, &e))
}

fn certificates(what: &str, pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
    let chain = chain.map_err(|e| wrong(what, &e))?;
    if chain.is_empty() {
        return Err(wrong(what, &"no certificate in PEM form"));
    }
    Ok(chain)
}

fn wrong(what: &str, error: &dyn fmt::Display) -> TlsError {
    TlsError(format!("{what}: {error}"))
}
