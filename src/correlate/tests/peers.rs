//! The workloads that other recorders were measured with, and what is promised of them.
