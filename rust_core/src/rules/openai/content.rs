//! Texts, media and results inside a message.

use super::seam::Seam;
use crate::conversation::{Part, ToolResult};
use crate::rules::{Context, Kind, Tally};
use crate::status::Status;

/// Texts, media and what was not understood; texts that follow one another are one text.
pub fn content(
    tally: &mut Tally,
    kind: Kind,
    parts: &[Part],
    context: &Context<'_>,
) -> Result<(), Status> {
    let mut seam = Seam::default();
    for part in parts {
        match part {
            Part::Text(text) => {
                let tokens = seam.add(text, context)?;
                tally.add(kind, tokens, context.profile.margins.widen(kind, tokens));
                continue;
            }
            Part::ToolResult(ToolResult { parts, .. }) => results(tally, parts, context)?,
            part => context.add_part(tally, kind, part)?,
        }
        seam = Seam::default();
    }
    Ok(())
}

/// A result's content. A result holds no further results.
fn results(tally: &mut Tally, parts: &[Part], context: &Context<'_>) -> Result<(), Status> {
    let mut seam = Seam::default();
    for part in parts {
        match part {
            Part::Text(text) => {
                let tokens = seam.add(text, context)?;
                let bound = context.profile.margins.widen(Kind::ToolResults, tokens);
                tally.add(Kind::ToolResults, tokens, bound);
            }
            Part::Media(_) | Part::Other(_) => context.add_part(tally, Kind::ToolResults, part)?,
            _ => {}
        }
    }
    Ok(())
}
