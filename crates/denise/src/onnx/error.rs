//! Why a file is refused.

use crate::status::{Error, Status};
use core::fmt::{self, Write};
use std::borrow::Cow;

/// A status and a reason, before it is known at which node it happened.
#[derive(Debug)]
pub(super) struct Refused {
    pub(super) status: Status,
    pub(super) reason: Cow<'static, str>,
}

impl Refused {
    pub(super) fn unsupported(reason: impl Into<Cow<'static, str>>) -> Refused {
        Refused {
            status: Status::Unsupported,
            reason: reason.into(),
        }
    }

    pub(super) fn damaged(reason: impl Into<Cow<'static, str>>) -> Refused {
        Refused {
            status: Status::Format,
            reason: reason.into(),
        }
    }

    /// Says where it happened.
    pub(super) fn at(self, place: impl fmt::Display) -> Refused {
        Error::format(self.status, format_args!("{place}: {}", self.reason)).into()
    }
}

impl From<Refused> for Error {
    fn from(refused: Refused) -> Error {
        Error::new(refused.status, refused.reason)
    }
}

impl From<Error> for Refused {
    fn from(error: Error) -> Refused {
        Refused {
            status: error.status,
            reason: error.message,
        }
    }
}

/// Bytes that no writer of ONNX makes.
pub(super) fn cut_off() -> Refused {
    crate::wire::cut_off().into()
}

/// A name from a file, as it may stand in a message.
pub(super) fn shown(name: &str) -> Shown<'_> {
    Shown {
        text: name,
        most: 80,
    }
}

/// At most so many characters, none of which controls a terminal.
#[derive(Clone, Copy)]
pub(super) struct Shown<'a> {
    pub(super) text: &'a str,
    pub(super) most: usize,
}

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for c in self.text.chars().take(self.most) {
            f.write_char(if c.is_control() { '?' } else { c })?;
        }
        if self.text.chars().nth(self.most).is_some() {
            f.write_char('…')?;
        }
        Ok(())
    }
}
