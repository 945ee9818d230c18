// SPDX-License-Identifier: Apache-2.0
//! Files of named tensors.

use std::fmt;
use std::path::Path;

use max_sys as sys;

use crate::buffer::Buffer;
use crate::error::{Result, c_count, c_path, c_text, get, get_count, get_handle, get_text};
use crate::handle::handle;

handle!(sync
    /// The tensors of a `.safetensors` file or a `.max` checkpoint, by name.
    ///
    /// Large files are mapped: nothing may change one while it or a buffer of it lives.
    ///
    /// ```
    /// use max::{Buffer, Weights};
    /// # let path = std::env::temp_dir().join(format!("weights_{}.max", std::process::id()));
    /// Buffer::from_slice(&[1.0f32, 2.0], &[2])?.save(&path, Some("bias"))?;
    /// let weights = Weights::load(&path)?;
    /// assert_eq!((weights.len()?, weights.is_empty()?), (1, false));
    /// assert_eq!(weights.names()?, ["bias"]);
    /// assert_eq!(weights.get("bias")?.to_vec::<f32>()?, [1.0, 2.0]);
    /// # std::fs::remove_file(path).unwrap();
    /// # Ok::<(), max::Error>(())
    /// ```
    pub Weights: MaxWeights, maxWeightsRetain, maxWeightsRelease
);

impl Weights {
    /// Opens a file. See [`Weights`].
    pub fn load(path: impl AsRef<Path>) -> Result<Self> {
        let path = c_path(path.as_ref())?;
        // SAFETY: the pointers live through the call.
        get_handle(|out| unsafe { sys::maxWeightsLoad(path.as_ptr(), out) }).map(Self::owned)
    }

    /// Number of tensors. See [`Weights`].
    pub fn len(&self) -> Result<usize> {
        // SAFETY: the handle is alive, the pointer lives through the call.
        get_count(|out| unsafe { sys::maxWeightsGetCount(self.as_raw(), out) })
    }

    /// Whether there are none. See [`Weights`].
    pub fn is_empty(&self) -> Result<bool> {
        self.len().map(|len| len == 0)
    }

    /// Names in rising order. See [`Weights`].
    pub fn names(&self) -> Result<Vec<String>> {
        (0..c_count(self.len()?)?)
            // SAFETY: the handle is alive, the pointer lives through the call.
            .map(|index| get_text(|out| unsafe { sys::maxWeightsGetName(self.as_raw(), index, out) }))
            .collect()
    }

    /// The tensor of a name, read-only, sharing the file's memory; `NotFound` if there is none. See [`Weights`].
    pub fn get(&self, name: &str) -> Result<Buffer> {
        let name = c_text(name)?;
        // SAFETY: as above.
        let index = get(0, |out| unsafe { sys::maxWeightsFind(self.as_raw(), name.as_ptr(), out) })?;
        // SAFETY: as above.
        get_handle(|out| unsafe { sys::maxWeightsGetBuffer(self.as_raw(), index, out) }).map(Buffer::borrowed_frozen)
    }
}

impl fmt::Debug for Weights {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Weights({} tensors)", self.len().map_err(|_| fmt::Error)?)
    }
}
