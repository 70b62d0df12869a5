//! Reads the profile table and finds a model's row.

use std::cmp::Ordering;
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::path::Path;
use std::sync::Arc;

use serde::Deserialize;

use super::{Margins, Profile, ReplyCost};
use crate::conversation::Format;
use crate::rules::Rules;
use crate::rules::claude::Claude;
use crate::rules::gemini::Gemini;
use crate::rules::generic::Generic;
use crate::rules::harmony::Harmony;
use crate::rules::media::MediaRules;
use crate::rules::openai::OpenAi;
use crate::vocabulary::{self, Counter, FileRow, FileVocabulary};
use crate::wire;

/// The table that is part of the binary.
const EMBEDDED: &str = include_str!("profiles.toml");

/// What gateways put before the names of `OpenAI`'s models.
const GATEWAY: &str = "openai/";

/// The profile of a model that no row matches.
const DEFAULT: &str = "default";

/// Every profile, found by the longest prefix of a model's name.
pub struct Profiles {
    /// Longest prefix first.
    rows: Vec<(String, Arc<Profile>)>,
    default: Arc<Profile>,
    strip: Vec<String>,
    /// Those that the table adds.
    vocabularies: Vec<Arc<dyn Counter>>,
}

/// Why a table can't be used.
#[derive(Debug)]
pub struct TableError(String);

impl fmt::Display for TableError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "profile table: {}", self.0)
    }
}

impl std::error::Error for TableError {}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    #[serde(default)]
    strip: Vec<String>,
    #[serde(default)]
    vocabularies: BTreeMap<String, FileRow>,
    #[serde(default)]
    media: HashMap<String, MediaRules>,
    #[serde(default)]
    families: HashMap<String, FamilyRow>,
    #[serde(default)]
    models: Vec<ModelRow>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FamilyRow {
    vocabulary: String,
    format: String,
    rules: RulesRow,
    margins: Margins,
    #[serde(default)]
    reply: ReplyCost,
    accuracy: Option<AccuracyRow>,
}

#[derive(Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum RulesRow {
    Claude(Box<Claude>),
    Gemini(Box<Gemini>),
    Generic(Generic),
    Harmony(Harmony),
    Openai(Box<OpenAi>),
}

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct AccuracyRow {
    rows: u32,
    exact_share: f64,
    median_error: f64,
    p95_error: f64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ModelRow {
    prefix: String,
    family: String,
    media: String,
    #[serde(default)]
    window: u32,
    /// Gateways know the model under `openai/` too, and send Chat Completions on as Responses.
    #[serde(default)]
    gateway: bool,
    #[serde(default)]
    tools_extra: u32,
}

impl Profiles {
    /// The embedded table, extended by the text of a file, whose rows win over equal ones, and by
    /// the vocabularies that it names, from the file's `directory` on.
    pub fn load(extension: Option<&str>, directory: &Path) -> Result<Self, TableError> {
        let mut table = parse(EMBEDDED)?;
        let mut vocabularies = Vec::new();
        if let Some(text) = extension {
            let more = parse(text)?;
            vocabularies = read(&more.vocabularies, directory)?;
            table.strip.extend(more.strip);
            table.media.extend(more.media);
            table.families.extend(more.families);
            table.models.extend(more.models);
        }
        Self::build(&table, vocabularies)
    }

    /// The vocabulary of that name. A large one is loaded when it first counts.
    #[must_use]
    pub fn vocabulary(&self, name: &str) -> Option<Arc<dyn Counter>> {
        vocabulary_of(name, &self.vocabularies)
    }

    /// Names of every vocabulary, in the order in which help and errors list them.
    #[must_use]
    pub fn vocabularies(&self) -> Vec<&str> {
        let added = self.vocabularies.iter().map(|added| added.name());
        vocabulary::names().into_iter().chain(added).collect()
    }

    /// The profile of a model, and whether its name was recognised: of the row that reaches furthest
    /// into the name, of equals the longest.
    #[must_use]
    pub fn resolve(&self, model: &str) -> (&Arc<Profile>, bool) {
        let lower = model.to_ascii_lowercase();
        let names = self.names(&lower);
        let found = names.iter().filter_map(|name| {
            let (prefix, profile) =
                self.rows.iter().find(|(prefix, _)| name.starts_with(prefix.as_str()))?;
            Some((lower.len() - name.len() + prefix.len(), prefix.len(), profile))
        });
        match found.max_by_key(|(end, length, _)| (*end, *length)) {
            Some((.., profile)) => (profile, true),
            None => (&self.default, false),
        }
    }

    /// The profile of that name, if there is one.
    #[must_use]
    pub fn by_name(&self, name: &str) -> Option<&Arc<Profile>> {
        let order = |(prefix, _): &(String, _)| in_order(prefix, name);
        let row = self.rows.binary_search_by(order).ok().and_then(|at| self.rows.get(at));
        row.map(|(_, profile)| profile).or((name == DEFAULT).then_some(&self.default))
    }

    /// Every profile, the default last.
    pub fn all(&self) -> impl Iterator<Item = &Arc<Profile>> {
        self.rows.iter().map(|(_, profile)| profile).chain([&self.default])
    }

    /// The model's name as it came, and without the prefixes of gateways, hosts and regions, taken
    /// off one by one: `us.anthropic.claude-opus-4-5` and `openrouter/anthropic/claude-opus-4-5`
    /// are one model.
    fn names<'a>(&self, lower: &'a str) -> Vec<&'a str> {
        let after = |at: usize| &lower[at + 1..];
        let mut names = vec![lower];
        names.extend(lower.match_indices('/').map(|(at, _)| after(at)));
        let mut name = names[names.len() - 1];
        while let Some(rest) =
            self.strip.iter().find_map(|prefix| name.strip_prefix(prefix.as_str()))
        {
            name = rest;
            names.push(name);
        }
        names
    }

    fn build(table: &Table, vocabularies: Vec<Arc<dyn Counter>>) -> Result<Self, TableError> {
        let rules: HashMap<&str, Arc<dyn Rules>> =
            table.families.iter().map(|(name, family)| (name.as_str(), family.rules())).collect();
        let mut rows: Vec<(String, Arc<Profile>)> = Vec::with_capacity(table.models.len());
        // Later rows, those of the extension file, win over earlier ones.
        for row in table.models.iter().rev() {
            let gateway = row.gateway.then(|| format!("{GATEWAY}{}", row.prefix));
            for name in [row.prefix.clone()].into_iter().chain(gateway) {
                if !rows.iter().any(|(prefix, _)| *prefix == name) {
                    let profile = profile(table, &rules, &vocabularies, row, name.clone())?;
                    rows.push((name, Arc::new(profile)));
                }
            }
        }
        let default = rows.iter().position(|(prefix, _)| prefix == DEFAULT);
        let default =
            default.ok_or_else(|| TableError("no row has the prefix `default`".into()))?;
        let (_, default) = rows.swap_remove(default);
        rows.sort_by(|(a, _), (b, _)| in_order(a, b));
        Ok(Self { rows, default, strip: table.strip.clone(), vocabularies })
    }
}

/// The order of the rows: the longest first, of which the first that fits a name is the best.
fn in_order(a: &str, b: &str) -> Ordering {
    b.len().cmp(&a.len()).then_with(|| a.cmp(b))
}

impl FamilyRow {
    fn rules(&self) -> Arc<dyn Rules> {
        match &self.rules {
            RulesRow::Claude(rules) => Arc::new(rules.as_ref().clone()),
            RulesRow::Gemini(rules) => Arc::new(rules.as_ref().clone()),
            RulesRow::Generic(rules) => Arc::new(rules.clone()),
            RulesRow::Harmony(rules) => Arc::new(rules.clone()),
            RulesRow::Openai(rules) => Arc::new((**rules).clone()),
        }
    }
}

fn parse(text: &str) -> Result<Table, TableError> {
    toml::from_str(text).map_err(|error| TableError(error.to_string()))
}

/// Loads the vocabularies of a table's files.
fn read(
    rows: &BTreeMap<String, FileRow>,
    directory: &Path,
) -> Result<Vec<Arc<dyn Counter>>, TableError> {
    let mut loaded: Vec<Arc<dyn Counter>> = Vec::new();
    for (name, row) in rows {
        if vocabulary::by_name(name).is_some() {
            return Err(TableError(format!("vocabularies.{name}: is built in; take another name")));
        }
        let one = FileVocabulary::load(name, row, directory).map_err(TableError)?;
        loaded.push(Arc::new(one));
    }
    Ok(loaded)
}

fn vocabulary_of(name: &str, added: &[Arc<dyn Counter>]) -> Option<Arc<dyn Counter>> {
    let found = added.iter().find(|added| added.name() == name).cloned();
    found.or_else(|| vocabulary::by_name(name))
}

fn profile(
    table: &Table,
    rules: &HashMap<&str, Arc<dyn Rules>>,
    vocabularies: &[Arc<dyn Counter>],
    row: &ModelRow,
    name: String,
) -> Result<Profile, TableError> {
    let unknown = |what: &str, name: &str| {
        TableError(format!("model `{}` names the unknown {what} `{name}`", row.prefix))
    };
    let family = table.families.get(&row.family).ok_or_else(|| unknown("family", &row.family))?;
    let media = table.media.get(&row.media).ok_or_else(|| unknown("media", &row.media))?;
    let vocabulary = vocabulary_of(&family.vocabulary, vocabularies)
        .ok_or_else(|| unknown("vocabulary", &family.vocabulary))?;
    Ok(Profile {
        is_gateway: name.starts_with(GATEWAY),
        tools_extra: row.tools_extra,
        name,
        family: row.family.clone(),
        window: row.window,
        format: Format::from_bulk_name(&family.format)
            .ok_or_else(|| unknown("format", &family.format))?,
        vocabulary,
        rules: rules[row.family.as_str()].clone(),
        media: media.clone(),
        margins: family.margins.clone(),
        reply: family.reply,
        accuracy: family.accuracy.as_ref().map(AccuracyRow::message),
    })
}

impl AccuracyRow {
    const fn message(&self) -> wire::Accuracy {
        wire::Accuracy {
            rows: self.rows,
            exact_share: self.exact_share,
            median_error: self.median_error,
            p95_error: self.p95_error,
        }
    }
}
