//! Texts, media and results inside a message.

use super::seam::Seam;
use crate::conversation::{Part, ToolResult};
use crate::rules::{Caveats, Context, Kind, Tally};
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
            Part::Media(media) => context.add_media(tally, media),
            Part::ToolCall(_) => {}
            Part::ToolResult(ToolResult { parts, .. }) => {
                results(tally, parts, context)?;
            }
            Part::Reasoning(reasoning) => {
                context.add_opaque(tally, &reasoning.signature);
                context.add_text(tally, Kind::Reasoning, &reasoning.text)?;
            }
            Part::Signature(signature) => context.add_opaque(tally, signature),
            Part::Other(value) => {
                tally.caveats.0 |= Caveats::COUNTED_AS_JSON.0;
                context.add_text(tally, kind, &value.to_string())?;
            }
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
            Part::Media(media) => context.add_media(tally, media),
            Part::Other(value) => {
                context.add_text(tally, Kind::ToolResults, &value.to_string())?;
            }
            _ => {}
        }
    }
    Ok(())
}
