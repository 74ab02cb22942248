//! Who sends a request, for the handlers that take one.

use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;

use crate::access::{Caller, check_embedding};
use crate::audit;
use crate::connection::Connection;
use crate::error::ApiError;
use crate::site::Site;

/// Somebody who looks on.
pub(crate) struct Reading(pub(crate) Caller);

/// Somebody who changes something, from the robot's own page or from a program.
pub(crate) struct Acting(pub(crate) Caller);

impl FromRequestParts<Arc<Site>> for Reading {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, site: &Arc<Site>) -> Result<Self, ApiError> {
        check_embedding(&parts.headers)?;
        identify(parts, site).map(Self)
    }
}

impl FromRequestParts<Arc<Site>> for Acting {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, site: &Arc<Site>) -> Result<Self, ApiError> {
        let caller = identify(parts, site)?;
        match caller.check_origin(&parts.headers) {
            Ok(()) => Ok(Self(caller)),
            Err(error) => {
                audit::refused(&caller, parts.uri.path(), &error);
                Err(error)
            }
        }
    }
}

fn identify(parts: &Parts, site: &Site) -> Result<Caller, ApiError> {
    let connection = parts.extensions.get::<Connection>().ok_or_else(ApiError::unauthenticated)?;
    site.access.identify(connection, &parts.headers)
}
