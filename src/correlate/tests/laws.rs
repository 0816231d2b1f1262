//! What holds whatever happens.
