//! Writing to a local bundle: by temporary file, fsync, rename and fsync of the folder, in a folder that was reached
//! without following any link.

use super::LocalBundle;
use crate::bundle::error::Error;
use crate::bundle::storage::Write;
use crate::okf::BundlePath;

impl LocalBundle {
    pub(super) fn check_target(&self, path: &BundlePath) -> Result<(), Error> {
        let _ = path;
        unimplemented!("bundle")
    }
}

impl Write for LocalBundle {
    fn write(&self, path: &BundlePath, bytes: &[u8]) -> Result<(), Error> {
        let _ = (path, bytes);
        unimplemented!("bundle")
    }
    fn delete(&self, path: &BundlePath) -> Result<(), Error> {
        let _ = path;
        unimplemented!("bundle")
    }
    fn rename(&self, from: &BundlePath, to: &BundlePath) -> Result<(), Error> {
        let _ = (from, to);
        unimplemented!("bundle")
    }
}
