//! What the tests, the examples and the benchmarks share: API servers, and kubectl's view of them.

#[allow(dead_code, unreachable_pub, reason = "each test binary uses a part")]
pub mod apiserver;
#[allow(dead_code, unreachable_pub, reason = "each test binary uses a part")]
pub mod kubectl;
