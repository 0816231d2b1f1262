//! Whose doing it is what a thread logs: the poster's, while it is polled.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use crate::queue::PosterGuard;

/// Marks its polls as the poster's own, so that the layer hears nothing of them.
pub(super) struct ByThePoster<F>(Pin<Box<F>>);

impl<F> ByThePoster<F> {
    pub(super) fn new(future: F) -> Self {
        Self(Box::pin(future))
    }
}

impl<F: Future> Future for ByThePoster<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        let _guard = PosterGuard::enter();
        self.0.as_mut().poll(context)
    }
}
