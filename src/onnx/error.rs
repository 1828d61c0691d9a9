//! Why a file is refused.

use crate::status::{Error, Status};
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
    pub(super) fn at(self, place: &str) -> Refused {
        Refused {
            reason: format!("{place}: {}", self.reason).into(),
            ..self
        }
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
pub(super) fn shown(name: &str) -> String {
    shortened(name, 80)
}

/// At most so many characters, none of which controls a terminal.
pub(super) fn shortened(text: &str, most: usize) -> String {
    let mut short: String = text
        .chars()
        .take(most)
        .map(|c| if c.is_control() { '?' } else { c })
        .collect();
    if text.chars().nth(most).is_some() {
        short.push('…');
    }
    short
}
