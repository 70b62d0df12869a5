//! What a reader does not understand: never dropped, always reported, counted where it may hold
//! text.

use std::fmt::Display;

use serde_json::Value;

use super::json::Fields;
use crate::status::Status;
use crate::wire::Warning;

/// A string of this many bytes may be text of a prompt rather than a setting.
const LONG_STRING: usize = 64;

/// The most warnings of one body: one of unknown fields only must not make a huge answer.
const MAX_WARNINGS: usize = 32;

/// Collects warnings about fields that were not understood, with their paths.
#[derive(Debug, Default)]
pub struct Unknown {
    /// One warning a field, up to a limit.
    pub warnings: Vec<Warning>,
    left_out: usize,
}

impl Unknown {
    /// Equal at two moments if nothing was reported between them, nor left out for want of room.
    #[must_use]
    pub fn mark(&self) -> (usize, usize) {
        (self.warnings.len(), self.left_out)
    }

    /// Runs `read` on what stands in `scope` (`system`, `[2]`): paths of its error and of its
    /// warnings are put inside that scope.
    pub fn inside<T>(
        &mut self,
        scope: impl Display,
        read: impl FnOnce(&mut Self) -> Result<T, Status>,
    ) -> Result<T, Status> {
        let before = self.warnings.len();
        let result = read(self).map_err(|error| error.inside(&scope.to_string()));
        for warning in self.warnings.iter_mut().skip(before) {
            let joint = if warning.field.starts_with('[') { "" } else { "." };
            warning.field = format!("{scope}{joint}{}", warning.field);
        }
        result
    }

    /// Applies `read` to every item of the list in `field`.
    pub fn each<T>(
        &mut self,
        field: &str,
        items: Vec<Value>,
        mut read: impl FnMut(Value, &mut Self) -> Result<T, Status>,
    ) -> Result<Vec<T>, Status> {
        let indexed = items.into_iter().enumerate();
        indexed
            .map(|(at, item)| self.inside(format_args!("{field}[{at}]"), |this| read(item, this)))
            .collect()
    }

    /// Reports the fields that were neither taken nor are in `unbilled`, and gives those that may
    /// hold text, for counting.
    pub fn rest(&mut self, fields: Fields, unbilled: &[&str]) -> Vec<(String, Value)> {
        let rest: Vec<_> = fields.rest(unbilled).collect();
        let room = MAX_WARNINGS.saturating_sub(self.warnings.len());
        self.left_out += rest.len().saturating_sub(room);
        for (field, _) in rest.iter().take(room) {
            self.warnings.push(Warning {
                code: "unknown_field".into(),
                message: "a field that is not known; it was counted if it may hold text".into(),
                field: field.clone(),
            });
        }
        rest.into_iter().filter(|(_, value)| may_hold_text(value)).collect()
    }
}

fn may_hold_text(value: &Value) -> bool {
    match value {
        Value::String(text) => text.len() >= LONG_STRING,
        Value::Array(_) | Value::Object(_) => true,
        _ => false,
    }
}
