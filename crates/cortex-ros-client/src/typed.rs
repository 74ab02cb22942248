//! Types of messages and services that were compiled in.

/// A type of messages: one of [`messages`](crate::messages), or of another package that was compiled in.
pub trait TypedMessage: sealed::Message + Send + Sync + 'static {}

impl<T: sealed::Message + Send + Sync + 'static> TypedMessage for T {}

/// A type of services, likewise. `S::Request` and `S::Response` are its messages.
pub trait TypedService: sealed::Service<Request: Send, Response: Send> + 'static {}

impl<S: sealed::Service<Request: Send, Response: Send> + 'static> TypedService for S {}

mod sealed {
    pub trait Message: r2r::WrappedTypesupport {}

    impl<T: r2r::WrappedTypesupport> Message for T {}

    pub trait Service: r2r::WrappedServiceTypeSupport {}

    impl<S: r2r::WrappedServiceTypeSupport> Service for S {}
}
