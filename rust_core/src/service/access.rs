//! Who calls: the tenant of a bearer token or of a client certificate.

use std::collections::HashMap;
use std::time::SystemTime;

use arc_swap::ArcSwap;
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use crate::status::{Code, Status};
use crate::wire::ErrorReason;

/// What a caller shows of itself.
#[derive(Clone, Copy, Debug, Default)]
pub struct Caller<'a> {
    /// The `authorization` of the call.
    pub authorization: Option<&'a [u8]>,
    /// The [`identity`](super::identity) of the verified client certificate.
    pub certificate: Option<&'a str>,
}

/// A bearer token as the server knows it: `tc_ID_SECRET`, of which it keeps the secret's hash.
#[derive(Clone, Debug)]
pub struct Token {
    /// Whose calls it makes.
    pub tenant: String,
    /// Finds it; not secret.
    pub id: String,
    /// SHA-256 of the secret, which is random and long: a slow hash would add nothing.
    pub sha256: [u8; 32],
    /// When it ends to be good. `None`: never.
    pub expires: Option<SystemTime>,
}

/// The callers that are known.
pub struct Access {
    tokens: ArcSwap<HashMap<String, Token>>,
    anonymous: bool,
}

impl Access {
    /// Nobody is known by a token. With `anonymous`, callers that show nothing are one tenant whose
    /// name is empty.
    #[must_use]
    pub fn new(anonymous: bool) -> Self {
        Self { tokens: ArcSwap::default(), anonymous }
    }

    /// Replaces the tokens, for calls from now on.
    pub fn set_tokens(&self, tokens: Vec<Token>) {
        let tokens = tokens.into_iter().map(|token| (token.id.clone(), token)).collect();
        self.tokens.store(std::sync::Arc::new(tokens));
    }

    /// The name of the caller's tenant. A token decides where there is one.
    pub(super) fn tenant_of(&self, caller: &Caller<'_>) -> Result<String, Status> {
        match caller {
            Caller { authorization: Some(header), .. } => {
                self.tenant_of_token(header).or_else(|| self.ignored()).ok_or_else(unknown)
            }
            Caller { certificate: Some(identity), .. } => Ok((*identity).to_owned()),
            _ if self.anonymous => Ok(String::new()),
            _ => Err(unknown()),
        }
    }

    fn tenant_of_token(&self, header: &[u8]) -> Option<String> {
        let text = std::str::from_utf8(header).ok()?;
        let (scheme, token) = text.split_once(' ')?;
        let (id, secret) = token.strip_prefix("tc_")?.split_once('_')?;
        let tokens = self.tokens.load();
        let known = tokens.get(id);
        let expected = known.map_or([0; 32], |token| token.sha256);
        let same: bool = Sha256::digest(secret.as_bytes()).as_slice().ct_eq(&expected).into();
        let known = known.filter(|_| same && scheme.eq_ignore_ascii_case("bearer"))?;
        let expired = known.expires.is_some_and(|end| end <= SystemTime::now());
        (!expired).then(|| known.tenant.clone())
    }

    /// A server that knows no tokens takes no notice of one that something on the way put there.
    fn ignored(&self) -> Option<String> {
        (self.anonymous && self.tokens.load().is_empty()).then(String::new)
    }
}

fn unknown() -> Status {
    let message = "the server doesn't know the caller: send a token that is in its file and has \
                   not expired as `authorization: Bearer TOKEN`, or connect with a certificate of \
                   its client CA";
    Status::new(Code::Unauthenticated, ErrorReason::Unauthenticated, message)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn access(anonymous: bool, expires: Option<SystemTime>) -> Access {
        let access = Access::new(anonymous);
        let sha256 = Sha256::digest(b"a_b-c").into();
        access.set_tokens(vec![Token { tenant: "acme".into(), id: "one".into(), sha256, expires }]);
        access
    }

    fn tenant(access: &Access, header: Option<&str>, certificate: Option<&str>) -> Option<String> {
        let authorization = header.map(str::as_bytes);
        access.tenant_of(&Caller { authorization, certificate }).ok()
    }

    #[test]
    fn a_token_names_its_tenant() {
        let access = access(false, None);
        for header in ["Bearer tc_one_a_b-c", "bearer tc_one_a_b-c"] {
            assert_eq!(tenant(&access, Some(header), None).as_deref(), Some("acme"));
            assert_eq!(tenant(&access, Some(header), Some("peer")).as_deref(), Some("acme"));
        }
    }

    #[test]
    fn what_is_not_the_token_is_refused() {
        for anonymous in [false, true] {
            let access = access(anonymous, None);
            for header in [
                "",
                "Bearer",
                "Bearer ",
                "Bearer tc_one_",
                "Bearer tc_one_a_b-d",
                "Bearer tc_two_a_b-c",
                "Basic tc_one_a_b-c",
                "Bearer  tc_one_a_b-c",
                "tc_one_a_b-c",
            ] {
                assert_eq!(tenant(&access, Some(header), None), None, "{header}");
                // A bad token isn't made good by a certificate.
                assert_eq!(tenant(&access, Some(header), Some("peer")), None, "{header}");
            }
        }
    }

    #[test]
    fn a_token_ends() {
        let hour = Duration::from_secs(3600);
        let now = SystemTime::now();
        for (expires, good) in [(now + hour, true), (now - hour, false)] {
            let access = access(false, Some(expires));
            assert_eq!(tenant(&access, Some("Bearer tc_one_a_b-c"), None).is_some(), good);
        }
    }

    #[test]
    fn nobody_is_a_tenant_only_where_that_is_allowed() {
        assert_eq!(tenant(&Access::new(true), None, None).as_deref(), Some(""));
        assert_eq!(tenant(&Access::new(true), Some("Bearer x"), None).as_deref(), Some(""));
        assert_eq!(tenant(&Access::new(false), None, None), None);
        assert_eq!(tenant(&Access::new(false), None, Some("peer")).as_deref(), Some("peer"));
    }
}
