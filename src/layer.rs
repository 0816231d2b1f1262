//! From a callsite to an `Occurrence`: visitor, filter, what spans remember.
