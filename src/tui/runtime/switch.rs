//! A model that another one can take the place of while the sessions go on.

use std::sync::{Arc, PoisonError, RwLock};

use futures::future::BoxFuture;
use futures::stream::BoxStream;

use crate::agent::client::{ModelClient, ModelError, ModelEvent, Price, Request};

/// Asks whichever model stands in it at that moment.
pub struct Switch {
    name: String,
    inner: RwLock<Arc<dyn ModelClient>>,
}

impl Switch {
    pub fn new(client: Arc<dyn ModelClient>) -> Self {
        Self { name: client.name().to_owned(), inner: RwLock::new(client) }
    }

    pub fn put(&self, client: Arc<dyn ModelClient>) {
        *self.inner.write().unwrap_or_else(PoisonError::into_inner) = client;
    }

    pub fn now(&self) -> Arc<dyn ModelClient> {
        self.inner.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl ModelClient for Switch {
    /// That of the first one: what is kept under a name stays under it.
    fn name(&self) -> &str {
        &self.name
    }

    fn stream(&self, request: Request) -> BoxStream<'static, Result<ModelEvent, ModelError>> {
        self.now().stream(request)
    }

    fn context_window(&self) -> BoxFuture<'_, Option<u64>> {
        let now = self.now();
        Box::pin(async move { now.context_window().await })
    }

    fn price(&self) -> Option<Price> {
        self.now().price()
    }

    fn takes_schema(&self) -> bool {
        self.now().takes_schema()
    }
}
