//! Which codecs this build has, and their spelling: `zstd:3`, `lz4`, `deflate-libdeflate:1`, `dpzip:512x4+longest+lazy`.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use crate::{BlockCodec, CodecError, CodecErrorKind, codecs};

/// What may stand behind a codec's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Settings {
    /// Nothing.
    None,
    /// A compression level; without one, the default.
    Levels {
        /// Lowest level.
        least: i32,
        /// Highest level.
        most: i32,
        /// The level that a bare name means.
        default: i32,
    },
    /// An acceleration (higher is faster and larger); a bare name means 1.
    Acceleration {
        /// Highest acceleration.
        most: i32,
    },
    /// The shape of dpzip's candidate table.
    Table,
}

/// What stands behind a codec's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Setting {
    /// Nothing.
    None,
    /// A level.
    Level(i32),
    /// An acceleration.
    Acceleration(i32),
    /// The shape of dpzip's table and its way to choose.
    #[cfg(feature = "dpzip")]
    Table(crate::dpzip::DpzipOptions),
}

impl Setting {
    /// The level, or what stands for it in a family whose settings are not levels.
    #[allow(dead_code, reason = "a build with `none` alone has no levels")]
    pub(crate) const fn level_or(self, default: i32) -> i32 {
        match self {
            Self::Level(level) => level,
            _ => default,
        }
    }
}

/// The library that a codec is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodecLibrary {
    /// Its name and version: `libzstd 1.5.7`.
    pub name: String,
    /// The file of one that is the system's, links followed; none where it is part of this program.
    pub file: Option<PathBuf>,
}

impl CodecLibrary {
    /// One that is part of this program.
    pub(crate) fn within(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            file: None,
        }
    }
}

impl fmt::Display for CodecLibrary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        match &self.file {
            Some(file) => write!(f, " ({})", file.display()),
            None => Ok(()),
        }
    }
}

/// A codec at all its settings, by one library.
#[derive(Debug)]
pub struct CodecFamily {
    /// The name before the colon.
    pub name: &'static str,
    /// One clause: what it is.
    pub summary: &'static str,
    /// What may follow the colon.
    pub settings: Settings,
    /// The same in words, as errors and lists print it.
    pub accepted: &'static str,
    pub(crate) library: fn() -> Result<CodecLibrary, CodecError>,
    pub(crate) open: fn(Setting) -> Result<Box<dyn BlockCodec>, CodecError>,
}

impl CodecFamily {
    /// The library and its version.
    ///
    /// # Errors
    /// When it is the system's and cannot be opened.
    pub fn library(&self) -> Result<CodecLibrary, CodecError> {
        (self.library)()
    }

    /// This codec at `setting`, as it stands behind the colon, if one does.
    ///
    /// # Errors
    /// When the codec has no such setting.
    pub fn with_setting(&'static self, setting: Option<&str>) -> Result<CodecSpec, CodecError> {
        let refuse = || CodecError::setting(self.name, setting.unwrap_or_default().to_owned(), self.accepted);
        let number = |least: i32, most: i32, default: i32| match setting {
            None => Ok(default),
            Some(text) => {
                let number = text.parse().ok().filter(|number| (least..=most).contains(number));
                number.ok_or_else(refuse)
            }
        };
        let setting = match self.settings {
            Settings::None if setting.is_some() => return Err(refuse()),
            Settings::None => Setting::None,
            Settings::Levels { least, most, default } => Setting::Level(number(least, most, default)?),
            Settings::Acceleration { most } => Setting::Acceleration(number(1, most, 1)?),
            #[cfg(feature = "dpzip")]
            Settings::Table => Setting::Table(match setting {
                None => crate::dpzip::DpzipOptions::default(),
                Some(text) => text.parse()?,
            }),
            #[cfg(not(feature = "dpzip"))]
            Settings::Table => return Err(refuse()),
        };
        Ok(CodecSpec {
            family: self,
            setting,
        })
    }
}

/// A codec at one setting. Parses and prints in one spelling.
#[derive(Clone, Copy, Debug)]
pub struct CodecSpec {
    family: &'static CodecFamily,
    setting: Setting,
}

impl CodecSpec {
    /// The codec.
    pub fn family(&self) -> &'static CodecFamily {
        self.family
    }

    /// Its setting.
    pub fn setting(&self) -> Setting {
        self.setting
    }

    /// Makes it ready to work, with contexts of its own.
    ///
    /// # Errors
    /// When the library has no memory for a context, or is the system's and cannot be opened.
    pub fn open(&self) -> Result<Box<dyn BlockCodec>, CodecError> {
        (self.family.open)(self.setting)
    }
}

impl PartialEq for CodecSpec {
    fn eq(&self, other: &Self) -> bool {
        self.family.name == other.family.name && self.setting == other.setting
    }
}

impl Eq for CodecSpec {}

impl FromStr for CodecSpec {
    type Err = CodecError;

    fn from_str(text: &str) -> Result<Self, CodecError> {
        let (name, setting) = match text.split_once(':') {
            Some((name, setting)) => (name, Some(setting)),
            None => (text, None),
        };
        let family = families().iter().find(|family| family.name == name);
        let family = family.ok_or_else(|| CodecErrorKind::UnknownCodec {
            seen: name.to_owned(),
            known: known(),
        })?;
        family.with_setting(setting)
    }
}

impl fmt::Display for CodecSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.family.name)?;
        match self.setting {
            Setting::None | Setting::Acceleration(1) => Ok(()),
            Setting::Level(number) | Setting::Acceleration(number) => write!(f, ":{number}"),
            #[cfg(feature = "dpzip")]
            Setting::Table(options) => write!(f, ":{options}"),
        }
    }
}

/// Every codec of this build, in the order in which lists show them.
pub fn families() -> &'static [CodecFamily] {
    codecs::FAMILIES
}

/// The names of every codec, for a message.
fn known() -> String {
    let names: Vec<&str> = families().iter().map(|family| family.name).collect();
    names.join(", ")
}
