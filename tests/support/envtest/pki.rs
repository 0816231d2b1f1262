//! The certificates of one server, made anew for each: an authority, and what it vouches for.

use std::fs;
use std::path::Path;

use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair, KeyUsagePurpose,
};

/// Writes `ca.crt`, `server.crt`, `server.key`, `accounts.key` and `accounts.pub`. Answers the authority's certificate,
/// in DER.
pub(super) fn write(home: &Path) -> Result<Vec<u8>, String> {
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
    Ok(certificate.der().to_vec())
}
