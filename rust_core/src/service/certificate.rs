//! The identity that a client certificate gives.

use x509_parser::prelude::{FromDer, GeneralName, X509Certificate};

/// The name of the tenant in a certificate (DER) that was verified already: its first URI among the
/// alternative names (a SPIFFE id, say), else its first DNS name, else its common name. `None` if
/// it has none of them.
#[must_use]
pub fn identity(certificate: &[u8]) -> Option<String> {
    let (_, certificate) = X509Certificate::from_der(certificate).ok()?;
    let alternative = certificate.subject_alternative_name().ok().flatten();
    let names = alternative.map_or(&[][..], |extension| &extension.value.general_names[..]);
    let uri = names.iter().find_map(|name| match name {
        GeneralName::URI(uri) => Some(*uri),
        _ => None,
    });
    let dns = names.iter().find_map(|name| match name {
        GeneralName::DNSName(name) => Some(*name),
        _ => None,
    });
    let common = certificate.subject().iter_common_name().find_map(|name| name.as_str().ok());
    let name = uri.or(dns).or(common)?;
    (!name.is_empty()).then(|| name.to_owned())
}
