//! Texts, media and results inside a message.

use super::seam::Seam;
use super::texts;
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

/// What results cost more (or less) as answers to several calls than alone: they are shown as one
/// list in JSON, a text that is JSON itself as the value that it holds.
///
/// Found by comparing texts with recorded bills: those of eleven prompts are met within 4 tokens.
pub fn listed(tally: &mut Tally, parts: &[Part], context: &Context<'_>) -> Result<(), Status> {
    let mut items = 0;
    for part in parts {
        let Part::ToolResult(ToolResult { parts, .. }) = part else { return Ok(()) };
        let Some(text) = text_alone(parts) else { return Ok(()) };
        let (item, frame) = texts::list_item(&text);
        items += i64::from(context.count(&item)?) - i64::from(frame);
    }
    let more = items - i64::from(tally.of(Kind::ToolResults));
    let more = i32::try_from(more).unwrap_or(i32::MAX);
    // One list was a hundredth above.
    let most = more.unsigned_abs() + more.unsigned_abs().div_ceil(100);
    tally.joint = (more, if more > 0 { most } else { 0 });
    Ok(())
}

/// The text of parts that are nothing else.
fn text_alone(parts: &[Part]) -> Option<String> {
    let text = |part: &Part| match part {
        Part::Text(text) => Some(text.clone()),
        _ => None,
    };
    parts.iter().map(text).collect()
}
