/**
 * Crontabs in Salt's form: jobs below Salt's line, each with a comment that may contain its identifier. Pure functions
 * over text; functions that change a table return the new one. Source: crontab(5); Salt 3008.3, `salt/modules/cron.py`.
 * @module
 */

/** The line above the jobs that Salt manages. */
const TAG = "# Lines below here are managed by Salt, do not edit";
const IDENTIFIER = "SALT_CRON_IDENTIFIER";
/** The text for no identifier. */
const NO_IDENTIFIER = "NO ID SET";
const DISABLED = "#DISABLED#";

/** The fields of a time, in their order. */
export const TIME_FIELDS = ["minute", "hour", "daymonth", "month", "dayweek"] as const;

/** The fields of a time. */
export type CronTime = { readonly [F in typeof TIME_FIELDS[number]]: string };

/** The common fields of jobs and special jobs. */
export interface CronEntry {
  readonly cmd: string;
  readonly identifier: string | null;
  readonly comment: string | null;
  /** Whether it is disabled. */
  readonly commented: boolean;
}

/** A job with a time. */
export interface CronJob extends CronEntry, CronTime {}

/** A job with a special time: `@reboot`. */
export interface SpecialJob extends CronEntry {
  readonly spec: string;
}

/** A variable for the jobs below it. */
export interface CronVariable {
  readonly name: string;
  readonly value: string | null;
}

/** A table. */
export interface Crontab {
  /** The lines above Salt's. */
  readonly pre: readonly string[];
  readonly crons: readonly CronJob[];
  readonly special: readonly SpecialJob[];
  readonly env: readonly CronVariable[];
}

/** Reads a table. */
export function parseCrontab(text: string): Crontab {
  const [pre, crons, special, env]: [string[], CronJob[], SpecialJob[], CronVariable[]] = [[], [], [], []];
  let isOurs = false;
  let [comment, identifier]: [string | null, string | null] = [null, null];
  for (const whole of text.replace(/\n$/, "").split("\n")) {
    if (whole === TAG) isOurs = true;
    else if (!isOurs) {
      if (text !== "") pre.push(whole);
    } else {
      const commented = whole.startsWith(DISABLED);
      const line = commented ? whole.slice(DISABLED.length) : whole;
      const words = line.split(" ");
      if (line.startsWith("@")) {
        const [spec, ...cmd] = line.trim().split(/\s+/);
        if (cmd.length === 0) continue;
        special.push({ spec, cmd: cmd.join(" "), identifier, comment, commented });
        [comment, identifier] = [null, null];
      } else if (line.startsWith("#")) {
        let description = line.replace(/^[# ]+/, "");
        const at = description.indexOf(IDENTIFIER);
        if (at >= 0) {
          const id = description.slice(at + IDENTIFIER.length).split(IDENTIFIER)[0];
          if (id.length > 1) identifier = id.slice(1);
          description = description.slice(0, at).trimEnd();
        }
        comment = comment === null ? description : `${comment}\n${description}`;
      } else if (/^[^ =]+=/.test(line)) {
        const equals = line.indexOf("=");
        env.push({ name: line.slice(0, equals), value: line.slice(equals + 1) });
      } else if (words.length > 5) {
        const [minute, hour, daymonth, month, dayweek, ...cmd] = words;
        const job = { minute, hour, daymonth, month, dayweek, identifier, cmd: cmd.join(" "), comment, commented };
        crons.push(job);
        [comment, identifier] = [null, null];
      }
    }
  }
  return { pre, crons, special, env };
}

/** The text of a table. */
export function crontabText({ pre, crons, special, env }: Crontab): string {
  const lines = [...pre, ...pre.at(-1) === TAG ? [] : [TAG]];
  for (const { name, value } of env) lines.push(`${name}=${value === null || value === "" ? '""' : value}`);
  for (const job of crons) {
    const time = TIME_FIELDS.map((field) => job[field]).join(" ");
    lines.push(...commentLines(job, job.comment), `${job.commented ? DISABLED : ""}${time} ${job.cmd}`);
  }
  for (const job of special) {
    lines.push(
      ...commentLines(job, job.comment?.trimEnd() ?? null),
      `${job.commented ? DISABLED : ""}${job.spec} ${job.cmd}`,
    );
  }
  return `${lines.join("\n")}\n`;
}

function commentLines({ identifier, comment: ownComment }: CronEntry, comment: string | null): string[] {
  if (ownComment === null && identifier === null) return [];
  const description = comment ? ` ${comment.replaceAll("\n", "\n# ")}` : "";
  return [`#${description}${identifier ? ` ${IDENTIFIER}:${identifier}` : ""}`];
}

/** Whether a job is the wanted one: by its identifier, or without one by its command. */
export function isSameJob(job: CronEntry, cmd: string, identifier: string | null): boolean {
  const wanted = identifier || NO_IDENTIFIER;
  const own = job.identifier || NO_IDENTIFIER;
  if (own === NO_IDENTIFIER && wanted === NO_IDENTIFIER) return job.cmd === cmd;
  // A job without an identifier gets the requested one if its command is the same.
  return own === NO_IDENTIFIER && job.cmd === cmd || own === wanted;
}

/** Whether a field must be changed; a random time stays as it is. */
export function differs(old: string | boolean | null, wanted: string | boolean | null): boolean {
  if (old === wanted) return false;
  return wanted === "random" ? old === "*" : wanted !== null;
}

/** The kind of a change. */
export type CronAnswer = "new" | "updated" | "present" | "removed" | "absent";

/** The result of a change; without a table there is nothing to write. */
export interface CronChange {
  readonly answer: CronAnswer;
  readonly table?: Crontab;
}

/** A requested job: with a time, or with a special word such as `@daily`. */
export type WantedJob = CronEntry & ({ readonly time: CronTime } | { readonly spec: string });

/**
 * Adds a job, or changes the wanted one.
 * @param random A number from `low` to `high`.
 */
export function setJob(table: Crontab, wanted: WantedJob, random: (low: number, high: number) => number): CronChange {
  const existing = [...table.crons, ...table.special].find((job) => isSameJob(job, wanted.cmd, wanted.identifier));
  if (existing === undefined) return { answer: "new", table: withJob(table, wanted, random) };
  const old: Partial<CronJob & SpecialJob> = existing;
  const fields: [string | boolean | null, string | boolean | null][] = [
    [existing.comment, wanted.comment],
    [existing.commented, wanted.commented],
    [wanted.identifier, existing.identifier ?? NO_IDENTIFIER],
    [existing.cmd, wanted.cmd],
    ...TIME_FIELDS.map((field): [string | null, string | null] => [
      old[field] ?? null,
      "time" in wanted ? wanted.time[field] : null,
    ]),
    [old.spec ?? null, "spec" in wanted ? wanted.spec : null],
  ];
  if (!fields.some(([is, should]) => differs(is, should))) return { answer: "present" };
  const others = {
    ...table,
    crons: table.crons.filter((job) => job !== existing),
    special: table.special.filter((job) => job !== existing),
  };
  const merged: CronEntry = {
    cmd: wanted.cmd,
    comment: wanted.comment ?? existing.comment,
    commented: wanted.commented,
    identifier: wanted.identifier ?? existing.identifier,
  };
  const timed: WantedJob = "spec" in wanted
    ? { ...merged, spec: wanted.spec }
    : { ...merged, time: keptTime(wanted.time, old) };
  return { answer: "updated", table: withJob(others, timed, random) };
}

/** A random field that has a value keeps it. */
function keptTime(time: CronTime, old: Partial<CronTime>): CronTime {
  const field = (name: keyof CronTime): string => {
    const is = old[name];
    return is !== undefined && !differs(is, time[name]) ? is : time[name];
  };
  return {
    minute: field("minute"),
    hour: field("hour"),
    daymonth: field("daymonth"),
    month: field("month"),
    dayweek: field("dayweek"),
  };
}

function withJob(table: Crontab, job: WantedJob, random: (low: number, high: number) => number): Crontab {
  const { cmd, identifier, comment, commented } = job;
  const entry = { cmd, identifier, comment, commented };
  if ("spec" in job) return { ...table, special: [...table.special, { ...entry, spec: job.spec }] };
  return { ...table, crons: [...table.crons, { ...entry, ...chosenTime(job.time, random) }] };
}

const RANGES = { minute: [0, 59], hour: [0, 23], month: [1, 12], dayweek: [0, 6] } as const;

/** A time whose fields `random` and `5:10` are chosen at random. */
function chosenTime(time: CronTime, random: (low: number, high: number) => number): CronTime {
  const choose = (field: keyof typeof RANGES): string => {
    const value = time[field];
    const [, a, b] = /^(\d+):(\d+)$/.exec(value) ?? [];
    if (a !== undefined) return String(random(Math.min(Number(a), Number(b)), Math.max(Number(a), Number(b))));
    const [low, high] = RANGES[field];
    return value === "random" ? String(random(low, high)) : value;
  };
  const month = choose("month");
  const days = ["1", "3", "5", "7", "8", "10", "12"].includes(month)
    ? 31
    : ["4", "6", "9", "11"].includes(month)
    ? 30
    : 28;
  const daymonth = time.daymonth === "random" ? String(random(1, days)) : time.daymonth;
  return { minute: choose("minute"), hour: choose("hour"), daymonth, month, dayweek: choose("dayweek") };
}

/**
 * Removes the requested job.
 * @param time The fields that it must have; others may have any value.
 */
export function removeJob(
  table: Crontab,
  { cmd, identifier, time = {} }: {
    readonly cmd: string;
    readonly identifier: string | null;
    readonly time?: Partial<CronTime>;
  },
): CronChange {
  const hasTime = (job: CronJob) =>
    TIME_FIELDS.every((field) => {
      const wanted = time[field];
      return wanted === undefined || job[field] === wanted || (wanted.toLowerCase() === "random" && job[field] !== "*");
    });
  const old = table.crons.find((job) => isSameJob(job, cmd, identifier) && hasTime(job));
  if (old === undefined) return { answer: "absent" };
  return { answer: "removed", table: { ...table, crons: table.crons.filter((job) => job !== old) } };
}

/** Removes a special job. */
export function removeSpecial(
  table: Crontab,
  { cmd, identifier, spec }: { readonly cmd: string; readonly identifier: string | null; readonly spec: string | null },
): CronChange {
  const old = table.special.find((job) => isSameJob(job, cmd, identifier) && (spec === null || job.spec === spec));
  if (old === undefined) return { answer: "absent" };
  return { answer: "removed", table: { ...table, special: table.special.filter((job) => job !== old) } };
}

/** Sets a variable; if its value changes, it moves after the others. */
export function setVariable(table: Crontab, name: string, value: string | null): CronChange {
  const existing = table.env.find((variable) => variable.name === name);
  if (existing !== undefined && existing.value === value) return { answer: "present" };
  const env = [...table.env.filter((variable) => variable !== existing), { name, value }];
  return { answer: existing === undefined ? "new" : "updated", table: { ...table, env } };
}

/** Removes a variable from a table; the answer is `absent` if there was none. */
export function removeVariable(table: Crontab, name: string): CronChange {
  const env = table.env.filter((variable) => variable.name !== name);
  return env.length === table.env.length ? { answer: "absent" } : { answer: "removed", table: { ...table, env } };
}
