//! What images, audio, video and documents cost, by the provider's published rules.

use serde::Deserialize;

use super::{Caveats, Kind, Tally};
use crate::conversation::{Media, MediaKind};

/// What media cost with one model, in tokens.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MediaRules {
    /// The most that one image costs.
    pub image_max: u32,
    /// The most that a second of audio costs.
    pub audio_per_second: f64,
    /// The most that a second of video costs.
    pub video_per_second: f64,
    /// The most that a page of a document costs.
    pub per_page: u32,
}

impl MediaRules {
    /// Adds one medium to the tally, with what could not be known about it.
    pub fn add(&self, tally: &mut Tally, media: &Media) {
        let bound = match media.kind {
            MediaKind::Image => self.image_max,
            MediaKind::Audio => (self.audio_per_second * seconds(media)).ceil() as u32,
            MediaKind::Video => (self.video_per_second * seconds(media)).ceil() as u32,
            MediaKind::File => self.per_page.saturating_mul(pages(media)),
        };
        tally.caveats.0 |= Caveats::MEDIA_UNRULED.0;
        tally.add(Kind::Media, bound, bound);
    }
}

/// The duration; unknown, it is taken from the bytes at 8 kbit/s, or as an hour for a URL.
fn seconds(media: &Media) -> f64 {
    match media {
        Media { duration, .. } if *duration > 0.0 => *duration,
        Media { data, .. } if !data.is_empty() => data.len() as f64 / 1000.0,
        _ => 3600.0,
    }
}

/// The pages; unknown, one for each 2 KiB, or a hundred for a URL.
fn pages(media: &Media) -> u32 {
    match media {
        Media { pages, .. } if *pages > 0 => *pages,
        Media { data, .. } if !data.is_empty() => data.len().div_ceil(2048) as u32,
        _ => 100,
    }
}
