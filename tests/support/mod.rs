//! What the tests, the examples and the benchmarks share: two API servers, and kubectl's view of them.

#[allow(dead_code, unreachable_pub, unused_imports, reason = "each test binary uses a part")]
pub mod apiserver;
#[allow(dead_code, unreachable_pub, unused_imports, reason = "each test binary uses a part")]
pub mod envtest;
#[allow(dead_code, unreachable_pub, unused_imports, reason = "each test binary uses a part")]
pub mod kubectl;
#[allow(dead_code, unreachable_pub, unused_imports, reason = "each test binary uses a part")]
pub mod server;
