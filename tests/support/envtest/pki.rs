//! The certificates of one server, made anew for each: an authority, and what it vouches for.

use std::path::Path;
use std::{fmt, fs};

use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair, KeyUsagePurpose,
    date_time_ymd,
};

/// Who vouches for the server, and for those who ask it.
pub(super) struct Authority {
    /// Its own certificate, in DER.
    pub(super) certificate: Vec<u8>,
    issuer: Issuer<'static, KeyPair>,
}

/// A certificate and its key, in PEM.
#[derive(Debug)]
pub struct Identity {
    pub certificate: String,
    pub key: String,
}

impl Authority {
    /// For a user of a group. An expired one ended in the year 2000.
    pub(super) fn identity(&self, user: &str, group: &str, is_expired: bool) -> Result<Identity, String> {
        let told = |error: rcgen::Error| error.to_string();
        let mut client = CertificateParams::new(Vec::new()).map_err(told)?;
        client.distinguished_name.push(DnType::CommonName, user);
        client.distinguished_name.push(DnType::OrganizationName, group);
        client.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        client.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
        if is_expired {
            (client.not_before, client.not_after) = (date_time_ymd(1999, 1, 1), date_time_ymd(2000, 1, 1));
        }
        let key = KeyPair::generate().map_err(told)?;
        let certificate = client.signed_by(&key, &self.issuer).map_err(told)?.pem();
        Ok(Identity { certificate, key: key.serialize_pem() })
    }
}

impl fmt::Debug for Authority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Authority")
    }
}

/// Writes `ca.crt`, `server.crt`, `server.key`, `accounts.key` and `accounts.pub`.
pub(super) fn write(home: &Path) -> Result<Authority, String> {
    let told = |error: rcgen::Error| error.to_string();
    let mut authority = CertificateParams::new(Vec::new()).map_err(told)?;
    authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    authority.distinguished_name.push(DnType::CommonName, "test-ca");
    authority.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    let key = KeyPair::generate().map_err(told)?;
    let certificate = authority.self_signed(&key).map_err(told)?;
    let issuer = Issuer::new(authority, key);

    let names = ["127.0.0.1", "10.0.0.1", "localhost", "kubernetes.default.svc"].map(str::to_owned).to_vec();
    let mut server = CertificateParams::new(names).map_err(told)?;
    server.distinguished_name.push(DnType::CommonName, "kube-apiserver");
    server.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    server.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    let server_key = KeyPair::generate().map_err(told)?;
    let server = server.signed_by(&server_key, &issuer).map_err(told)?;

    let accounts = KeyPair::generate().map_err(told)?;
    for (name, text) in [
        ("ca.crt", certificate.pem()),
        ("server.crt", server.pem()),
        ("server.key", server_key.serialize_pem()),
        ("accounts.key", accounts.serialize_pem()),
        ("accounts.pub", accounts.public_key_pem()),
    ] {
        fs::write(home.join(name), text).map_err(|error| error.to_string())?;
    }
    Ok(Authority { certificate: certificate.der().to_vec(), issuer })
}
