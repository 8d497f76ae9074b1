/**
 * The answers to questions about a minion's schedule (`manage_schedule`): a table by the name of what is asked. The
 * functions of the module `schedule` ask, also those of Python's programs.
 * Source: Salt 3008.3 `salt/minion.py` manage_schedule; `salt/utils/schedule.py` add_job, delete_job and the others.
 * @module
 */

import type { QuestionAnswer } from "#lib/bus/ask.ts";
import { CommandError } from "#lib/errors.ts";
import { QUESTION_ID } from "#lib/protocol/question.ts";
import { SCHEDULE_SAVED, scheduleAnswer } from "#lib/protocol/tags.ts";
import { TIME_FORMAT } from "#lib/schedule/entry.ts";
import { readTimeText } from "#lib/schedule/moments.ts";
import { previewRuns } from "#lib/schedule/preview.ts";
import type { ScheduleItem } from "#lib/schedule/schedule.ts";
import { LOCAL_ZONE, type TimeZone, wallText } from "#lib/schedule/zone.ts";
import { isMap, map, str, toNumber, truthy, type Value, type ValueMap } from "#lib/values/value.ts";
import type { MinionSchedule } from "./minion_schedule.ts";

type Handler = (schedule: MinionSchedule, question: ValueMap) => QuestionAnswer | undefined;

const HANDLERS: Readonly<Record<string, Handler>> = {
  add: (schedule, question) => {
    const added = question.get("schedule");
    if (!isMap(added)) throw new CommandError("Scheduled jobs have to be of type dict.");
    if (added.size !== 1) throw new CommandError("You can only schedule one new job at a time.");
    return changed(schedule, question, "add", (own) => {
      for (const [name, entry] of added) {
        if (!isPillars(schedule, str(name))) own.set(name, isMap(entry) ? withEnabled(entry) : entry);
      }
    });
  },
  modify: (schedule, question) => {
    const entry = question.get("schedule") ?? null;
    return changed(schedule, question, "delete", (own, name) => {
      if (!isPillars(schedule, name)) own.set(name, entry);
    });
  },
  delete: (schedule, question) => changed(schedule, question, "delete", (own, name) => own.delete(name)),
  enable: (schedule, question) => changed(schedule, question, "enabled", (own) => own.set("enabled", true)),
  disable: (schedule, question) => changed(schedule, question, "disabled", (own) => own.set("enabled", false)),
  enable_job: (schedule, question) => changed(schedule, question, "enabled_job", setEnabled(true)),
  disable_job: (schedule, question) => changed(schedule, question, "disabled_job", setEnabled(false)),
  postpone_job: (schedule, question) => {
    onOwnItem(schedule, question, ({ state }, zone) => {
      const [from, to] = [momentIn(question, "time", zone), momentIn(question, "new_time", zone)];
      state.skips.push(from);
      state.explicit.push(to);
    });
    return done(schedule, "postpone_job");
  },
  skip_job: (schedule, question) => {
    onOwnItem(schedule, question, ({ state }, zone) => void state.skips.push(momentIn(question, "time", zone)));
    return done(schedule, "skip_job");
  },
  run_job: (schedule, question) => {
    const item = schedule.schedule.items.get(nameIn(question));
    if (item?.error !== undefined) throw new CommandError(item.error);
    const isStarted = item?.job !== undefined && schedule.runNow(item.job);
    return answerAsked(question, "run_job", map({ complete: true, started: isStarted }));
  },
  reload: (schedule, question) => {
    const given = question.get("schedule");
    const inner = isMap(given) && given.has("schedule") ? given.get("schedule") : given;
    if (!isMap(inner)) throw new CommandError("Schedule must be of type dict.");
    schedule.setOwn(new Map([...schedule.schedule.own, ...inner]));
    return answerAsked(question, "reload", map({ complete: true }));
  },
  list: (schedule, question) => ({
    tag: scheduleAnswer("list"),
    data: map({ complete: true, schedule: listed(schedule, question.get("where") ?? null) }),
  }),
  save_schedule: (schedule) => {
    schedule.save();
    return { tag: SCHEDULE_SAVED, data: map({ complete: true }) };
  },
  get_next_fire_time: (schedule, question) => {
    schedule.look();
    const item = schedule.schedule.items.get(nameIn(question));
    const moment = item === undefined ? undefined : schedule.schedule.nextMoment(item);
    const time = moment === undefined ? null : wallText(zoneOf(item).wall(moment));
    return { tag: scheduleAnswer("next_fire_time"), data: map({ complete: true, next_fire_time: time }) };
  },
  job_status: (schedule, question) => {
    schedule.look();
    const item = schedule.schedule.items.get(nameIn(question));
    const data = item === undefined ? new Map() : statusOf(schedule, item);
    return { tag: scheduleAnswer("job_status"), data: map({ complete: true, data }) };
  },
  preview: (schedule, question) => ({
    tag: scheduleAnswer("preview"),
    data: map({ complete: true, preview: preview(schedule, question) }),
  }),
};

/** The names by which answers of questions that failed are tagged, where they differ from those of the questions. */
const FAILED_AS: Readonly<Record<string, string>> = {
  modify: "delete",
  enable: "enabled",
  disable: "disabled",
  enable_job: "enabled_job",
  disable_job: "disabled_job",
  get_next_fire_time: "next_fire_time",
};

/**
 * Answers a question; `undefined`: nobody waits for an answer.
 * @throws {CommandError} If it cannot be done.
 */
export function answerScheduleQuestion(schedule: MinionSchedule, question: ValueMap): QuestionAnswer | undefined {
  const func = str(question.get("func") ?? null);
  if (!Object.hasOwn(HANDLERS, func)) throw new CommandError(`Function "${func}" is unavailable in the schedule`);
  return HANDLERS[func](schedule, question);
}

/** The tag of the answer to a question that failed. */
export function failedAnswer(question: ValueMap): string {
  const func = str(question.get("func") ?? null);
  if (func === "save_schedule") return SCHEDULE_SAVED;
  return scheduleAnswer(Object.hasOwn(FAILED_AS, func) ? FAILED_AS[func] : func);
}

function nameIn(question: ValueMap): string {
  return str(question.get("name") ?? null);
}

/** Whether a job is pillar's alone, and cannot be changed here. */
function isPillars({ schedule }: MinionSchedule, name: string): boolean {
  return !schedule.own.has(name) && schedule.pillar.has(name);
}

/** Changes the jobs that are not pillar's, writes them if the question says so, and answers with all of them. */
function changed(
  schedule: MinionSchedule,
  question: ValueMap,
  what: string,
  change: (own: ValueMap, name: string) => void,
): QuestionAnswer {
  const own: ValueMap = new Map(schedule.schedule.own);
  change(own, nameIn(question));
  const persists = truthy(question.get("persist"));
  if (persists) schedule.checkSavable();
  schedule.setOwn(own);
  if (persists) schedule.save();
  return done(schedule, what);
}

function done(schedule: MinionSchedule, what: string): QuestionAnswer {
  return { tag: scheduleAnswer(what), data: map({ complete: true, schedule: listed(schedule, null) }) };
}

/** An answer that Salt does not send: only to our own functions. */
function answerAsked(question: ValueMap, what: string, data: ValueMap): QuestionAnswer | undefined {
  return question.has(QUESTION_ID) ? { tag: scheduleAnswer(what), data } : undefined;
}

function setEnabled(isEnabled: boolean): (own: ValueMap, name: string) => void {
  return (own, name) => {
    const entry = own.get(name);
    if (isMap(entry)) own.set(name, new Map(entry).set("enabled", isEnabled));
  };
}

function withEnabled(entry: ValueMap): ValueMap {
  return entry.has("enabled") ? entry : new Map(entry).set("enabled", true);
}

function onOwnItem(
  schedule: MinionSchedule,
  question: ValueMap,
  act: (item: ScheduleItem, zone: TimeZone) => void,
): void {
  const item = schedule.schedule.items.get(nameIn(question));
  if (item === undefined || item.source === "pillar") return;
  act(item, zoneOf(item));
  schedule.look();
}

function momentIn(question: ValueMap, key: string, zone: TimeZone): number {
  const moment = readTimeText(question.get(key) ?? null, question.get("time_fmt") ?? TIME_FORMAT, zone);
  if (moment === undefined) throw new CommandError("Date string could not be parsed.");
  return moment;
}

function zoneOf(item: ScheduleItem | undefined): TimeZone {
  return item?.job?.zone ?? LOCAL_ZONE;
}

/** All jobs and settings, those of one place if `where` names it. */
function listed({ schedule }: MinionSchedule, where: Value): ValueMap {
  const all = where === "pillar"
    ? schedule.pillar
    : where === "opts"
    ? schedule.own
    : new Map([...schedule.pillar, ...schedule.own]);
  return new Map([...all].map(([name, entry]) => {
    const item = schedule.items.get(str(name));
    return [name, item === undefined ? entry : shown(item, entry)];
  }));
}

/** An entry as the minion has it in memory. */
function shown({ name, error }: ScheduleItem, entry: Value): ValueMap {
  const made: ValueMap = isMap(entry) ? new Map(entry) : new Map();
  if (!made.has("name")) made.set("name", name);
  if (error !== undefined) made.set("_error", error);
  return made;
}

/** A job with its state. */
function statusOf(schedule: MinionSchedule, item: ScheduleItem): ValueMap {
  const status = shown(item, item.entry);
  const { job, state, name, error } = item;
  if (job === undefined) {
    const place = schedule.placeOf(name);
    if (place !== undefined && error !== undefined) status.set("_error_at", place);
    return status;
  }
  const time = (moment: number | undefined) => moment === undefined ? null : wallText(job.zone.wall(moment));
  const next = schedule.schedule.nextMoment(item);
  status.set("_next_fire_time", time(next));
  status.set("_splay", state.delay > 0 ? time(next) : null);
  status.set("_run_on_start", state.startPending);
  if (job.timing.stepMs !== undefined) status.set("_seconds", job.timing.stepMs / 1000);
  if (!status.has("splay")) status.set("splay", schedule.schedule.settings.splay);
  if (state.lastRun !== undefined) {
    status.set("_last_run", time(state.lastRun));
    if (job.jidInclude) status.set("jid_include", true).set("maxrunning", job.maxrunning);
  }
  if (state.skipped !== undefined) {
    status.set("_skip_reason", state.skipped.reason).set("_skipped", true);
    status.set("_skipped_time", time(state.skipped.at));
  }
  const explicit = (moments: readonly number[]) => moments.map((at) => map({ time: time(at), time_fmt: TIME_FORMAT }));
  if (state.skips.length > 0) status.set("skip_explicit", explicit(state.skips));
  if (state.explicit.length > 0) status.set("run_explicit", explicit(state.explicit)).set("run", false);
  return status;
}

/** The most moments of a preview for each job. */
const MOST_PREVIEWED = 1_000;

/** The next moments of one job or of all: a list of all, in the order of time. */
function preview(minion: MinionSchedule, question: ValueMap): Value {
  minion.look();
  const name = question.get("name") ?? null;
  const count = Math.min(Math.max(toNumber(question.get("count")) ?? 10, 1), MOST_PREVIEWED);
  const { schedule } = minion;
  const items = [...schedule.items.values()].filter((item) =>
    name === null ? !item.name.startsWith("__") : item.name === name
  );
  if (name !== null && items.length === 0) throw new CommandError(`Job ${str(name)} does not exist.`);
  const rows = items.flatMap((item): { at: number; row: ValueMap }[] => {
    const { job } = item;
    if (job === undefined) return [{ at: 0, row: map({ job: item.name, error: item.error }) }];
    const setting = { settings: schedule.settings, random: Math.random, count, nowMs: minion.nowMs };
    return previewRuns(job, item.state, setting).map(({ moment, reason, instead }) => {
      const row = map({ job: item.name, time: zonedText(job.zone, moment), runs: reason === undefined });
      row.set("timezone", job.zone.name ?? "local");
      if (reason !== undefined) row.set("reason", reason);
      if (instead !== undefined) row.set("function", instead);
      return { at: moment, row };
    });
  });
  return rows.sort((a, b) => a.at - b.at).slice(0, name === null ? count + brokenOf(rows) : count).map(({ row }) =>
    row
  );
}

function brokenOf(rows: readonly { readonly at: number }[]): number {
  return rows.filter(({ at }) => at === 0).length;
}

/** `2026-11-23T12:00:05+01:00`. */
function zonedText(zone: TimeZone, moment: number): string {
  const wall = zone.wall(moment);
  const minutes = Math.round((wall - moment) / 60_000), size = Math.abs(minutes);
  const two = (n: number) => String(Math.floor(n)).padStart(2, "0");
  return `${wallText(wall)}${minutes < 0 ? "-" : "+"}${two(size / 60)}:${two(size % 60)}`;
}
