//! The decisions: what to send, when, in which order, and when to look again.
