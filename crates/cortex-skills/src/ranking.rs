//! Which of the skills are told to a task, and in which order: the same for the same skills, task and outcomes.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use cortex_core::ContextQuery;

use crate::fits::Fits;
use crate::folders::FoundSkill;
use crate::outcomes::Outcomes;
use crate::triggers::Reason;
use crate::words::telling;

/// Most skills for one task: each of them may be long.
pub(crate) const MOST: usize = 3;
/// Most of them that only wait for a kind of task: they fit it least.
const MOST_BY_CLASS: usize = 1;
/// A skill that was tried less often is given a place, so that it can show what it is worth.
const LEAST_TRIED: u32 = 3;
/// Least share of the telling words of a task that a skill must be about, and least number of them, to be used unasked.
const LEAST_SHARE: f64 = 0.5;
const LEAST_WORDS: usize = 2;
/// Least likeness of meaning between a task and what a skill is for, to be used unasked.
const LEAST_LIKENESS: f64 = 0.4;

/// A skill that fires.
#[derive(Debug, Clone)]
pub(crate) struct Firing<'s> {
    pub(crate) found: &'s FoundSkill,
    reason: Reason,
    /// How well it fits, from 0 to 1.
    pub(crate) fit: f64,
}

/// Those that are asked for by a sentence of theirs, each with its steps. The one that has worked best comes first; of several with
/// steps it is the only one, since one is carried out.
pub(crate) fn asked_for<'s>(
    skills: &'s [FoundSkill],
    said: &str,
    outcomes: &Outcomes,
) -> Vec<(&'s FoundSkill, Vec<String>)> {
    let mut asked: Vec<_> = skills.iter().filter_map(|found| Some((found, found.skill.asked_for(said)?))).collect();
    asked.sort_by(|(one, _), (other, _)| by_outcomes(outcomes, one, other));
    let mut has_steps = false;
    asked.retain(|(_, steps)| steps.is_empty() || !std::mem::replace(&mut has_steps, true));
    asked.truncate(MOST);
    asked
}

/// Those that fire for another reason: at most three, the most certain reason first, and of one reason the one that has worked
/// best.
pub(crate) fn firing<'s>(
    skills: &'s [FoundSkill],
    query: &ContextQuery,
    fits: &Fits,
    outcomes: &Outcomes,
) -> Vec<Firing<'s>> {
    let said = telling(&std::iter::once(&query.task).chain(&query.revisions).cloned().collect::<Vec<_>>().join(" "));
    let mut all: Vec<Firing<'s>> = skills.iter().filter_map(|found| fires(found, query, &said, fits)).collect();
    all.sort_by(|one, other| {
        let by_reason = one.reason.cmp(&other.reason);
        let by_fit = || other.fit.total_cmp(&one.fit);
        by_reason.then_with(|| by_outcomes(outcomes, one.found, other.found)).then_with(by_fit)
    });
    let mut by_class = 0;
    all.retain(|firing| {
        by_class += usize::from(firing.reason == Reason::Class);
        firing.reason != Reason::Class || by_class <= MOST_BY_CLASS
    });
    keep_a_place(&mut all, outcomes);
    all.truncate(MOST);
    all
}

/// Of more than fit, the last place goes to the first one that was hardly tried: it would never be.
fn keep_a_place(all: &mut Vec<Firing<'_>>, outcomes: &Outcomes) {
    let is_untried = |firing: &Firing<'_>| outcomes.of(&firing.found.skill.name).tried() < LEAST_TRIED;
    if all.iter().take(MOST).any(is_untried) {
        return;
    }
    let untried = all.iter().position(|firing| is_untried(firing) && firing.reason != Reason::Class);
    if let Some(at) = untried {
        let firing = all.remove(at);
        all.insert(MOST - 1, firing);
    }
}

/// The one of which more is expected first. What is expected is a share of two counts, so that it is equal where they are.
fn by_outcomes(outcomes: &Outcomes, one: &FoundSkill, other: &FoundSkill) -> std::cmp::Ordering {
    let expected = |found: &FoundSkill| outcomes.expected(&found.skill.name);
    expected(other).total_cmp(&expected(one))
}

fn fires<'s>(found: &'s FoundSkill, query: &ContextQuery, said: &BTreeSet<String>, fits: &Fits) -> Option<Firing<'s>> {
    let skill = &found.skill;
    let (is_about, fit) = if skill.triggers.examples.wanted.is_empty() {
        let own = telling(&format!("{} {}", skill.name, skill.description));
        let shared = said.intersection(&own).count();
        #[allow(clippy::cast_precision_loss, reason = "a task has few words")]
        let share = shared as f64 / said.len().max(1) as f64;
        let means = fits.by_purpose.get(&skill.name).copied().unwrap_or_default();
        (shared >= LEAST_WORDS && share >= LEAST_SHARE || means >= LEAST_LIKENESS, share.max(means))
    } else {
        // Its examples tell better what it is for.
        let score = fits.by_examples.get(&skill.name);
        (score.is_some(), score.copied().unwrap_or_default())
    };
    let about = is_about.then_some(Reason::About);
    // The lesser of two reasons is the more certain one.
    let reason = [skill.triggers.reason(query, said), about].into_iter().flatten().max_by_key(|it| Reverse(*it))?;
    Some(Firing { found, reason, fit: fit.clamp(0.0, 1.0) })
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;
    use std::sync::Arc;

    use cortex_protocol::TaskClass;
    use cortex_protocol::skill_view::SkillDigest;

    use super::*;
    use crate::{Skill, SkillOutcome};

    fn skill(name: &str, trigger: &str) -> FoundSkill {
        let text = format!("---\nname: {name}\ndescription: Does it.\nmetadata:\n  {trigger}\n---\nSo it is done.\n");
        FoundSkill { skill: Arc::new(Skill::read(name, &text).unwrap()), file: PathBuf::new(), digest: SkillDigest(0) }
    }

    fn names(skills: &[FoundSkill], task: &str, outcomes: &Outcomes) -> Vec<String> {
        let query = ContextQuery::new(task, TaskClass::Action);
        let fired = firing(skills, &query, &Fits::default(), outcomes);
        fired.iter().map(|firing| firing.found.skill.name.clone()).collect()
    }

    #[test]
    fn skills_for_every_task_crowd_nobody_out() {
        let mut skills: Vec<FoundSkill> =
            (0..20).map(|number| skill(&format!("all-{number:02}"), "cortex-classes: action")).collect();
        skills.push(skill("water", "cortex-words: water plant"));
        skills.push(skill("wet", "cortex-words: water"));
        let fired = names(&skills, "water the plants", &Outcomes::default());
        assert_eq!(fired, ["water", "wet", "all-00"]);
        skills.reverse();
        skills.sort_by(|one, other| one.skill.name.cmp(&other.skill.name));
        assert_eq!(names(&skills, "water the plants", &Outcomes::default()), fired, "whatever order they came in");
    }

    #[test]
    fn of_skills_for_one_task_the_one_that_has_worked_best_goes_first_and_an_untried_one_is_not_starved() {
        let skills: Vec<FoundSkill> =
            ["a", "b", "c", "d", "e"].iter().map(|name| skill(name, "cortex-words: plant")).collect();
        let mut outcomes = Outcomes::default();
        let times = |outcomes: &mut Outcomes, name: &str, outcome, times: usize| {
            (0..times).for_each(|_| outcomes.count(name, outcome));
        };
        times(&mut outcomes, "a", SkillOutcome::Failed, 3);
        times(&mut outcomes, "c", SkillOutcome::Succeeded, 3);
        assert_eq!(
            names(&skills, "plants", &outcomes),
            ["c", "b", "d"],
            "unknown ones stand between good and bad ones"
        );
        times(&mut outcomes, "b", SkillOutcome::Succeeded, 5);
        times(&mut outcomes, "d", SkillOutcome::Succeeded, 4);
        assert_eq!(names(&skills, "plants", &outcomes), ["b", "d", "e"], "e would never be tried");
        times(&mut outcomes, "e", SkillOutcome::Failed, 3);
        assert_eq!(names(&skills, "plants", &outcomes), ["b", "d", "c"], "it was");
    }

    #[test]
    fn of_two_skills_with_one_sentence_the_one_that_has_worked_best_is_followed() {
        let skills = ["a", "b"].map(|name| skill(name, "cortex-phrases: make the round"));
        let mut outcomes = Outcomes::default();
        let first = |outcomes: &Outcomes| asked_for(&skills, "make the round", outcomes)[0].0.skill.name.clone();
        assert_eq!(first(&outcomes), "a");
        outcomes.count("a", SkillOutcome::Disputed { before: None });
        assert_eq!(first(&outcomes), "b");
    }
}
