//! What the in-process server does when it is told to fail.
