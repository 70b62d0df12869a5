//! The ladder of estimates, through the engine's own bytes.

mod common;

use common::{Turn, assistant, encoded, engine, engine_with_quota, prompt, user};
use tokencount_core::wire::{Count, Message, Source};

#[test]
fn an_unknown_prompt_is_estimated_and_its_parts_add_up() {
    let engine = engine();
    let count = engine.estimate(&Turn::full(prompt("gpt-4o", [user("How far is the moon?")])));
    assert_eq!(count.source(), Source::Estimated);
    assert_eq!(count.known_tokens, 0);
    assert_eq!(count.estimated_tokens, count.tokens);
    assert!(count.upper_bound >= count.tokens);
    assert_eq!(count.new_messages, 1);
    common::assert_adds_up(&count);
}

#[test]
fn a_recorded_prompt_is_exact() {
    let engine = engine();
    let turn = Turn::full(prompt("gpt-4o", [user("How far is the moon?")]));
    assert!(engine.record(&turn, 1234, None).learned);
    let count = engine.estimate(&turn);
    assert_eq!((count.source(), count.tokens), (Source::Exact, 1234));
    assert_eq!((count.known_tokens, count.new_messages), (1234, 0));
    common::assert_adds_up(&count);
}

#[test]
fn the_next_turn_rests_on_the_bill_and_the_reply() {
    // What the rules count exactly is counted by them, whatever was billed as output for it:
    // thinking, say. Where the vocabulary is an approximation, the bill says it better.
    next_turn("claude-sonnet-4-5", 1500..1540);
    next_turn("grok-4", 1800..1850);
}

fn next_turn(model: &str, expected: std::ops::Range<u32>) {
    let engine = engine();
    let first = prompt(model, [user("How far is the moon?")]);
    let reply = assistant("About 384,400 km.");
    let recorded = engine.record(&Turn::full(first.clone()), 1500, Some((reply.clone(), 300)));
    let mut second = first;
    second.messages.extend(encoded([reply, user("And the sun?")]));
    let full = engine.estimate(&Turn::full(second));
    assert_eq!(full.source(), Source::Delta);
    assert_eq!(full.new_messages, 1);
    assert!(expected.contains(&full.tokens), "{model}: {}", full.tokens);
    assert!(full.known_tokens >= expected.start);
    assert!(full.upper_bound >= 1800, "the billed output stays within the bound");

    let by_base = engine.estimate(&Turn::after(&recorded.prefix_key, [user("And the sun?")]));
    assert_eq!(by_base.tokens, full.tokens);
    assert_eq!(by_base.upper_bound, full.upper_bound);
    assert_eq!(by_base.prefix_key, full.prefix_key);
    common::assert_adds_up(&by_base);
}

#[test]
fn a_base_without_a_bill_carries_the_estimate_on() {
    let engine = engine();
    let first = engine.estimate(&Turn::full(prompt("gpt-4o", [user("One")])));
    let second =
        engine.estimate(&Turn::after(&first.prefix_key, [assistant("Two"), user("Three")]));
    let whole = prompt("gpt-4o", [user("One"), assistant("Two"), user("Three")]);
    let whole = engine.estimate(&Turn::full(whole));
    assert_eq!(second.tokens, whole.tokens);
    assert_eq!(second.prefix_key, whole.prefix_key);
}

#[test]
fn interleaved_conversations_keep_their_own_totals() {
    let engine = engine();
    let moon = Turn::full(prompt("gpt-4o", [user("Hi"), assistant("Hello"), user("The moon?")]));
    let sun = Turn::full(prompt("gpt-4o", [user("Hi"), assistant("Hello"), user("The sun?")]));
    engine.record(&moon, 1000, None);
    engine.record(&sun, 2000, None);
    assert_eq!(engine.estimate(&moon).tokens, 1000);
    assert_eq!(engine.estimate(&sun).tokens, 2000);
}

#[test]
fn an_edited_message_falls_back_to_the_longest_common_prefix() {
    let engine = engine();
    let start = [user("One"), assistant("Two"), user("Three")];
    engine.record(&Turn::full(prompt("gpt-4o", start.clone())), 1000, None);
    let mut longer = start.to_vec();
    longer.extend([assistant("Four"), user("Five")]);
    engine.record(&Turn::full(prompt("gpt-4o", longer.clone())), 1900, None);
    longer[3] = assistant("Edited");
    let edited = engine.estimate(&Turn::full(prompt("gpt-4o", longer)));
    assert_eq!(edited.source(), Source::Delta);
    assert_eq!((edited.known_tokens, edited.new_messages), (1000, 2));
}

#[test]
fn a_changed_preamble_corrects_the_known_total() {
    let engine = engine();
    let mut first = prompt("gpt-4o", [user("Hi")]);
    first.system = vec![common::text("It is noon.")];
    engine.record(&Turn::full(first.clone()), 1000, None);
    let mut later = first.clone();
    later.system = vec![common::text("It is noon. Be brief, and say nothing of the weather.")];
    let count = engine.estimate(&Turn::full(later));
    assert_eq!(count.source(), Source::Delta);
    assert!((1008..1015).contains(&count.tokens), "{}", count.tokens);
    // The recorded preamble still answers with its own bill.
    assert_eq!(engine.estimate(&Turn::full(first)).tokens, 1000);
}

#[test]
fn two_agents_with_one_greeting_keep_apart() {
    let engine = engine();
    let agent = |system: &str| {
        let mut prompt = prompt("gpt-4o", [user("hi")]);
        prompt.system = vec![common::text(system)];
        Turn::full(prompt)
    };
    engine.record(&agent("You translate."), 700, None);
    engine.record(&agent("You write code."), 900, None);
    assert_eq!(engine.estimate(&agent("You translate.")).tokens, 700);
    assert_eq!(engine.estimate(&agent("You write code.")).tokens, 900);
}

#[test]
fn a_cut_history_is_answered_from_shares() {
    let engine = engine();
    let long: Vec<Message> =
        ["One", "Two", "Three", "Four", "Five"].into_iter().map(user).collect();
    let recorded = Turn::full(prompt("gpt-4o", long.clone()));
    let estimated = engine.estimate(&recorded).tokens;
    engine.record(&recorded, estimated * 3, None);
    let cut = engine.estimate(&Turn::full(prompt("gpt-4o", long[2..].to_vec())));
    assert_eq!(cut.source(), Source::Shares);
    assert!(cut.known_tokens > 0 && cut.tokens > estimated, "{cut:?}");
    assert!(cut.upper_bound >= cut.tokens);
    common::assert_adds_up(&cut);
}

#[test]
fn recording_twice_teaches_once() {
    let engine = engine();
    let turn = Turn::full(prompt("gpt-4o", [user("One")]));
    let other = Turn::full(prompt("gpt-4o", [user("Another one, not recorded")]));
    let first = engine.record(&turn, 40, None);
    let once = engine.estimate(&other).tokens;
    for _ in 0..5 {
        let again = engine.record(&turn, 40, None);
        assert_eq!(again.prefix_key, first.prefix_key);
        assert_eq!((again.estimated_tokens, again.error), (40, 0.0));
    }
    assert_eq!(engine.estimate(&other).tokens, once);
}

#[test]
fn bills_above_the_estimates_raise_later_ones() {
    let engine = engine();
    let say = |text: &str| Turn::full(prompt("some-model", [user(text)]));
    let unseen = say("Something that was never recorded, of a fair length.");
    let before = engine.estimate(&unseen);
    for text in ["alpha and beta", "gamma or delta", "epsilon, then zeta", "eta after theta"] {
        let billed = engine.estimate(&say(text)).tokens * 2;
        engine.record(&say(text), billed, None);
    }
    let after = engine.estimate(&unseen);
    assert!(after.tokens > before.tokens, "{} {}", after.tokens, before.tokens);
    assert!(after.upper_bound >= after.tokens && after.upper_bound >= before.upper_bound);
}

#[test]
fn a_failed_call_teaches_nothing_but_can_be_continued() {
    let engine = engine();
    let turn = Turn::full(prompt("gpt-4o", [user("One")]));
    let failed = engine.fail(&turn);
    assert!(!failed.learned && failed.billed_tokens == 0);
    assert_eq!(engine.estimate(&turn).source(), Source::Estimated);
    engine.estimate(&Turn::after(&failed.prefix_key, [user("Two")]));
}

#[test]
fn tenants_never_see_each_others_prefixes() {
    let engine = engine();
    let turn = Turn::full(prompt("gpt-4o", [user("One")]));
    let recorded = engine.record(&turn.clone().of("a"), 1000, None);
    assert_eq!(engine.estimate(&turn.clone().of("b")).source(), Source::Estimated);
    let stolen = Turn::after(&recorded.prefix_key, [user("Two")]).of("b");
    let error = engine.try_estimate(&stolen).unwrap_err();
    assert_eq!(error.reason_name(), "PREFIX_UNKNOWN");
    let mut unknown = recorded.prefix_key.to_vec();
    unknown[0] ^= 1;
    let never = Turn::after(&unknown.into(), [user("Two")]).of("b");
    assert_eq!(engine.try_estimate(&never).unwrap_err(), error);
}

#[test]
fn a_tenant_above_its_quota_forgets_its_own_prefixes_alone() {
    let engine = engine_with_quota(Some(1 << 14));
    let turn = |n: usize, tenant| {
        Turn::full(prompt("gpt-4o", [user(&format!("Question {n}"))])).of(tenant)
    };
    engine.record(&turn(0, "a"), 1000, None);
    engine.record(&turn(0, "b"), 1000, None);
    for n in 1..200 {
        engine.estimate(&turn(n, "b"));
    }
    assert_eq!(engine.estimate(&turn(0, "a")).source(), Source::Exact);
    assert_eq!(engine.estimate(&turn(0, "b")).source(), Source::Estimated);
    let newest = engine.estimate(&turn(199, "b")).prefix_key;
    engine.estimate(&Turn::after(&newest, [user("Next")]).of("b"));
}

#[test]
fn another_model_does_not_continue_a_prefix() {
    let engine = engine();
    let first = engine.estimate(&Turn::full(prompt("gpt-4o", [user("One")])));
    let mut next = Turn::after(&first.prefix_key, [user("Two")]);
    next.prompt.model = "claude-sonnet-4-5".into();
    assert_eq!(engine.try_estimate(&next).unwrap_err().reason_name(), "PREFIX_UNKNOWN");
}

#[test]
fn a_base_keeps_the_parts_of_the_preamble_that_are_not_sent_again() {
    let engine = engine();
    let mut first = prompt("gpt-4o", [user("One")]);
    first.system =
        vec![common::text("Answer in one word, whatever you are asked, and never in two.")];
    first.tools = vec![common::tool("lookup")];
    let first = engine.estimate(&Turn::full(first));
    let plain = engine.estimate(&Turn::after(&first.prefix_key, [user("Two")]));

    let mut more_tools = Turn::after(&first.prefix_key, [user("Two")]);
    more_tools.prompt.tools = vec![common::tool("lookup"), common::tool("store")];
    let more_tools = engine.estimate(&more_tools);
    assert!(more_tools.tokens > plain.tokens, "{} {}", more_tools.tokens, plain.tokens);
    let system = |count: &Count| count.breakdown.expect("every count has a breakdown").system;
    assert_eq!(system(&more_tools), system(&plain));
    common::assert_adds_up(&more_tools);
}

#[test]
fn the_bound_after_a_low_bill_covers_the_rules_own_estimate() {
    let engine = engine();
    let text = "A fair amount of text, so that a bill of three tokens is far below any estimate.";
    let mut messages = vec![user(text)];
    engine.record(&Turn::full(prompt("gpt-4o", messages.clone())), 3, None);
    messages.extend([assistant("Right."), user("Go on.")]);
    let whole = prompt("gpt-4o", messages);
    let unrecorded = engine_estimate_of(&whole);
    let count = engine.estimate(&Turn::full(whole));
    assert_eq!(count.source(), Source::Delta);
    assert!(count.tokens < unrecorded && count.upper_bound >= unrecorded, "{count:?}");
}

/// What the rules alone estimate: an engine that knows nothing is asked.
fn engine_estimate_of(prompt: &tokencount_core::wire::Prompt) -> u32 {
    engine().estimate(&Turn::full(prompt.clone())).tokens
}

#[test]
fn results_after_a_base_are_billed_by_its_calls() {
    let engine = engine();
    let calls = common::calls(&["a", "b"]);
    let results = [common::result("a", "one\ntwo"), common::result("b", "three\nfour")];
    let first = prompt("gpt-4o", [user("Read both.")]);
    let mut whole = first.clone();
    whole.messages.extend(encoded([calls.clone(), results[0].clone(), results[1].clone()]));
    let recorded = engine.record(&Turn::full(first.clone()), 30, Some((calls.clone(), 40)));
    let after_bill = engine.estimate(&Turn::after(&recorded.prefix_key, results.clone()));
    assert_eq!(after_bill.tokens, engine.estimate(&Turn::full(whole.clone())).tokens);

    let engine = common::engine();
    let mut asked = first;
    asked.messages.extend(encoded([calls]));
    let estimated = engine.estimate(&Turn::full(asked));
    let after_estimate = engine.estimate(&Turn::after(&estimated.prefix_key, results));
    assert_eq!(after_estimate.tokens, engine.estimate(&Turn::full(whole)).tokens);
}
