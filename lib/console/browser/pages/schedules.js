/**
 * Schedules: what minions run by themselves and when; the drift that a schedule finds, and the offer to set it up; the
 * queues of the master.
 * @module
 */

import { askMinions, callMinions, listQueues, listScheduleOutcomes, listSchedules, previewTarget } from "../api.js";
import { DriftCards, hasDays, useDrift } from "../drift.js";
import { minions, session } from "../fleet.js";
import { mayCall } from "../functions.js";
import { Ago, count, counted, html, Icon, link, messageOf, Placeholder, plain, question, say } from "../parts.js";
import { useEffect, useState } from "../vendor/hooks.js";

/** @typedef {import("../api.js").QueueRow} QueueRow */
/**
 * A job of the same name and function on several minions.
 * @typedef {object} Scheduled
 * @property {string} name
 * @property {string} fun
 * @property {string} when
 * @property {string[]} ids
 * @property {string[]} off those on which it is disabled
 * @property {Record<string, any>} entry
 */
/** @typedef {import("../api.js").ScheduleOutcome} ScheduleOutcome */

/** The job of the schedule whose returns are the drift. */
const DRIFT = "drift";
/** Minions that plan at once when the schedule is set up; more wait for their turn. */
const AT_ONCE = 100;
/** Minions that are asked when a job runs next. */
const MOST_ASKED = 50;

export default function Schedules() {
  const [found, setFound] = useState({ jobs: /** @type {readonly Scheduled[] | undefined} */ (undefined), problem: "" });
  const [queues, setQueues] = useState({ rows: /** @type {readonly QueueRow[] | undefined} */ (undefined), problem: "" });
  const [outcomes, setOutcomes] = useState(/** @type {Record<string, Record<string, ScheduleOutcome>>} */ ({}));
  const [text, setText] = useState("");
  const days = useDrift();
  const read = async () => {
    const [schedules, waiting, ended] = await Promise.allSettled([listSchedules(), listQueues(), listScheduleOutcomes()]);
    // Without the right to see jobs the page has no outcomes.
    if (ended.status === "fulfilled") setOutcomes(ended.value);
    setFound((before) => schedules.status === "fulfilled" ? { jobs: jobsOf(schedules.value), problem: "" } : { ...before, problem: messageOf(schedules.reason) });
    setQueues((before) => waiting.status === "fulfilled" ? { rows: waiting.value, problem: "" } : { ...before, problem: messageOf(waiting.reason) });
  };
  useEffect(() => void read(), []);
  const { jobs, problem } = found;
  const shown = (jobs ?? []).filter(({ name, fun }) => `${name} ${fun}`.includes(text));
  return html`<div class="head"><div><h1>Schedules</h1><p>What minions run by themselves, and when.</p></div><div class="act"><button type="button" class="btn" onClick=${() => void read()}>Read again</button></div></div>
  <div class="grid two"><div class="grid"><div class="card clip"><div class="pad row under"><label class="find wide"><${Icon} name="n-find" /><span class="sr">Find a job</span><input placeholder="Name or function" autocomplete="off" value=${text} onInput=${
    (/** @type {{ target: HTMLInputElement }} */ event) => setText(event.target.value)
  } /></label></div>${
    jobs === undefined
      ? html`<${Placeholder} loading=${problem === ""} error=${problem} again=${read} />`
      : shown.length === 0
      ? html`<${Placeholder} title=${jobs.length === 0 ? "No minion has a schedule" : "No job matches"}><p>${jobs.length === 0 ? html`Drift beside is one to begin with. On the command line: <span class="mono">salt '*' schedule.add NAME function=… hours=24</span>` : "Another word may find it."}</p></${Placeholder}>`
      : shown.map((job) => html`<${ScheduledJob} key=${`${job.name} ${job.fun} ${job.when}`} job=${job} last=${lastOf(job, outcomes)} again=${read} />`)
  }</div><${Queues} ...${queues} again=${read} /></div>
  <div class="grid">${jobs !== undefined && html`<${DriftSetup} jobs=${jobs} again=${read} />`}${days !== undefined && hasDays(days) && html`<${DriftCards} found=${days} />`}</div></div>`;
}

/** @param {Record<string, Record<string, any>>} schedules @returns {Scheduled[]} */
function jobsOf(schedules) {
  /** @type {Map<string, Scheduled>} */
  const found = new Map();
  for (const [id, entries] of Object.entries(schedules)) {
    for (const [name, entry] of Object.entries(entries ?? {})) {
      if (entry === null || typeof entry !== "object") continue;
      const fun = String(entry.function ?? entry.fun ?? entry.func ?? ""), when = whenText(entry);
      const key = JSON.stringify([name, fun, when]);
      /** @type {Scheduled} */
      const job = found.get(key) ?? { name, fun, when, ids: [], off: [], entry };
      job.ids.push(id);
      if (entry.enabled === false) job.off.push(id);
      found.set(key, job);
    }
  }
  return [...found.values()].sort((a, b) => a.name < b.name ? -1 : 1);
}

const UNITS = ["seconds", "minutes", "hours", "days", "weeks"];

/** When a job runs, in words. @param {Record<string, any>} entry */
function whenText(entry) {
  const every = UNITS.filter((unit) => entry[unit] !== undefined).map((unit) => counted(Number(entry[unit]), unit.slice(0, -1)));
  if (every.length > 0) return `every ${every.join(", ")}`;
  if (entry.cron !== undefined) return `cron ${entry.cron}`;
  if (entry.when !== undefined) return `at ${[entry.when].flat().map((one) => typeof one === "object" ? plain(one) : one).join(", ")}`;
  if (entry.once !== undefined) return `once, ${entry.once}`;
  return "at the start";
}

/**
 * How a job ended last, on each minion where that is known: those that did not return first.
 * @param {Scheduled} job @param {Record<string, Record<string, ScheduleOutcome>>} outcomes
 */
function lastOf({ name, ids }, outcomes) {
  const known = ids.flatMap((id) => {
    const last = Object.hasOwn(outcomes, id) && Object.hasOwn(outcomes[id], name) ? outcomes[id][name] : undefined;
    return last === undefined ? [] : [{ id, ...last }];
  });
  return known.sort((a, b) => Number(a.outcome === "returned") - Number(b.outcome === "returned") || (a.jid < b.jid ? 1 : -1));
}

/** How often it ended how, in words. @param {ReturnType<typeof lastOf>} last */
function endsText(last) {
  const failed = last.filter(({ outcome }) => outcome !== "returned").length;
  if (last.length === 0) return "";
  return failed === 0 ? ", last without a failure" : `, last failed on ${count(failed)}`;
}

/** The last outcomes, with their jobs. @param {{ last: ReturnType<typeof lastOf>, all: number }} props */
function LastOutcomes({ last, all }) {
  if (last.length === 0) return html`<p class="t1 dim">The job cache has no return of it.</p>`;
  return html`<p class="t1">Last: ${last.length < all && `${count(last.length)} of ${counted(all, "minion")} have returned. `}${
    last.slice(0, 12).map(({ id, jid, outcome }) => html`<a class="tag" key=${id} href=${link(["job", jid])}><${Icon} name=${outcome === "returned" ? "i-ok" : "i-bad"} mark=${outcome === "returned" ? "ok" : "bad"} />${id}: ${outcome}</a> `)
  }${last.length > 12 && html`<span class="tag">+ ${count(last.length - 12)} more</span>`}</p>`;
}

/** @param {{ job: Scheduled, last: ReturnType<typeof lastOf>, again: () => Promise<void> }} props */
function ScheduledJob({ job, last, again }) {
  const { name, fun, when, ids, off, entry } = job;
  const [next, setNext] = useState(/** @type {string | undefined} */ (undefined));
  const isOff = off.length === ids.length;
  const ask = async () => {
    if (next !== undefined || isOff) return;
    try {
      const answers = await askMinions({ tgt: ids.slice(0, MOST_ASKED), tgt_type: "list", fun: "schedule.show_next_fire_time", arg: [name] });
      const times = Object.values(answers).map((answer) => answer?.next_fire_time).filter((time) => typeof time === "string").sort();
      setNext(times[0]?.slice(0, 16).replace("T", " ") ?? "not known");
    } catch (error) {
      setNext(messageOf(error));
    }
  };
  const may = mayCall(session.value?.perms, isOff ? "schedule.enable_job" : "schedule.disable_job");
  return html`<details onToggle=${(/** @type {{ currentTarget: HTMLDetailsElement }} */ event) => event.currentTarget.open && void ask()}>
    <summary><${Icon} name=${isOff ? "i-off" : "i-ok"} mark=${isOff ? "off" : "ok"} /><b>${name}</b> <span class="mono dim">${fun}</span>${off.length > 0 && html`<span class="tag">${isOff ? "disabled" : `disabled on ${count(off.length)}`}</span>`}<span class="w">${when}, ${counted(ids.length, "minion")}${endsText(last)}</span></summary>
    <div class="pad grid dense flush"><div class="row tight t1"><span>${isOff ? "It does not run while it is disabled." : html`Next: <span class="num">${next ?? "asking"}</span>${ids.length > 1 && next !== undefined && " on the first of them"}`}</span><a class="grow" href=${link(["jobs"], { q: fun })}>Its newest jobs</a></div>
    <${LastOutcomes} last=${last} all=${ids.length} />
    <div class="tags">${ids.slice(0, 12).map((id) => html`<a class="tag" key=${id} href=${link(["minion", id], { tab: "schedule" })}>${id}</a>`)}${ids.length > 12 && html`<span class="tag">+ ${count(ids.length - 12)} more</span>`}</div>
    <pre class="cmd" tabindex="0" aria-label=${`The entry of ${name}`} role="region">${plain(entry)}</pre>
    <div class="row"><button type="button" class="btn sm" disabled=${isOff} aria-label=${`Run now: ${name}`} onClick=${() => askRun(job)}>Run now</button><button type="button" class="btn sm" disabled=${!may} aria-label=${`${isOff ? "Enable" : "Disable"} ${name}`} onClick=${() => askSwitch(job, isOff, again)}>${isOff ? "Enable" : "Disable"}</button></div></div></details>`;
}

/** @param {Scheduled} job */
function askRun({ name, fun, ids }) {
  question.value = {
    title: `Run ${name} now?`,
    text: html`${counted(ids.length, "minion")} ${ids.length === 1 ? "runs" : "run"} <span class="mono">${fun}</span>, besides the planned times: <span class="mono wrap">schedule.run_job ${name}</span>.`,
    yes: `Run on ${count(ids.length)}`,
    typed: ids.length > AT_ONCE ? ids.length : undefined,
    act: () => void told(callMinions({ tgt: ids, tgt_type: "list", fun: "schedule.run_job", arg: [name] }), `${name} runs on`),
  };
}

/** @param {Scheduled} job @param {boolean} isOff @param {() => Promise<void>} again */
function askSwitch({ name, ids }, isOff, again) {
  const fun = isOff ? "schedule.enable_job" : "schedule.disable_job";
  question.value = {
    title: `${isOff ? "Enable" : "Disable"} ${name}?`,
    text: html`On ${counted(ids.length, "minion")}: <span class="mono wrap">${fun} ${name}</span>.`,
    yes: isOff ? "Enable" : "Disable",
    act: () => void told(callMinions({ tgt: ids, tgt_type: "list", fun, arg: [name] }), `${name} is ${isOff ? "enabled" : "disabled"} on`).then(again),
  };
}

/** Says on how many minions it was done, and what the first of the others says. @param {Promise<Record<string, any>>} calling @param {string} words */
async function told(calling, words) {
  try {
    const answers = Object.entries(await calling);
    const refused = answers.find(([, answer]) => answer?.result !== true);
    say(refused === undefined ? `${words} ${counted(answers.length, "minion")}` : `${refused[0]}: ${plain(refused[1]?.comment ?? refused[1])}`);
  } catch (error) {
    say(messageOf(error));
  }
}

/** The offer: each minion plans its states on a schedule. @param {{ jobs: readonly Scheduled[], again: () => Promise<void> }} props */
function DriftSetup({ jobs, again }) {
  const own = new Set(jobs.filter(({ name }) => name === DRIFT).flatMap(({ ids }) => ids));
  const missing = minions.value.filter(({ id, connected }) => connected && !own.has(id));
  const [tgt, setTgt] = useState("*");
  const [hours, setHours] = useState("24");
  const [problem, setProblem] = useState("");
  if (missing.length === 0) return null;
  const every = Math.max(1, Math.round(Number(hours)) || 24);
  /** @param {Event} event */
  const ask = async (event) => {
    event.preventDefault();
    setProblem("");
    try {
      const wanted = new Set(await previewTarget({ tgt: tgt.trim() || "*", tgt_type: "compound" }));
      const ids = missing.map(({ id }) => id).filter((id) => wanted.has(id));
      if (ids.length === 0) return setProblem("No connected minion without this schedule matches.");
      question.value = {
        title: `Plan the states of ${counted(ids.length, "minion")} every ${counted(every, "hour")}?`,
        text: html`Nothing is changed by a plan. ${ids.length <= AT_ONCE ? "Each plans once now." : "Each plans for the first time after that."} On each: <span class="mono wrap">schedule.add ${DRIFT} function=state.plan hours=${every}</span>. Minions without <span class="mono">state.plan</span> run <span class="mono">state.apply test=True</span>.`,
        yes: `Set it up on ${count(ids.length)}`,
        act: () => void setUp(ids, every).then(again, (error) => setProblem(messageOf(error))),
      };
    } catch (error) {
      setProblem(messageOf(error));
    }
  };
  return html`<div class="card pad" id="setup"><h2>Watch for drift</h2><p class="t1 dim">${own.size === 0 ? "No connected minion tells yet how it differs from its states." : `${counted(missing.length, "connected minion")} ${missing.length === 1 ? "does" : "do"} not tell yet.`} A schedule makes a plan on each, changes nothing, and its findings are kept for 30 days.</p>
    <form onSubmit=${ask}><div class="pair gap"><label class="f">Minions <span class="h">a compound target</span><input class="in mono" spellcheck="false" autocomplete="off" value=${tgt} onInput=${(/** @type {{ target: HTMLInputElement }} */ event) => setTgt(event.target.value)} /></label>
    <label class="f">Hours between<input class="in num" type="number" min="1" max="168" required value=${hours} onInput=${(/** @type {{ target: HTMLInputElement }} */ event) => setHours(event.target.value)} /></label></div>
    <button type="submit" class=${`btn ${own.size === 0 ? "pri" : ""}`} disabled=${!mayCall(session.value?.perms, "schedule.add")}>Set the schedule up</button></form>
    <div role="alert">${problem !== "" && html`<p class="note b gap">${problem}</p>`}</div></div>`;
}

/** @param {readonly string[]} ids @param {number} hours */
async function setUp(ids, hours) {
  const known = await askMinions({ tgt: [...ids], tgt_type: "list", fun: "sys.list_functions", arg: ["state.plan"] });
  const plans = ids.filter((id) => (known[id] ?? []).includes("state.plan"));
  const tests = ids.filter((id) => known[id] !== undefined && !plans.includes(id));
  // Many minions that plan at the same moment would ask the master for the same files at once.
  const parts = /** @type {const} */ ([
    [plans, { function: "state.plan", splay: "auto" }],
    [tests, { function: "state.apply", job_kwargs: { test: true }, splay: 600 }],
  ]);
  let done = 0;
  for (const [tgt, kwarg] of parts) {
    if (tgt.length === 0) continue;
    const answers = await callMinions({ tgt, tgt_type: "list", fun: "schedule.add", arg: [DRIFT], kwarg: { ...kwarg, hours, return_job: true, run_on_start: false } });
    const ready = tgt.filter((id) => answers[id]?.result === true);
    done += ready.length;
    if (ready.length > 0 && ids.length <= AT_ONCE) {
      await callMinions({ tgt: ready, tgt_type: "list", fun: "schedule.run_job", arg: [DRIFT] });
    }
    const refused = tgt.find((id) => !ready.includes(id));
    if (refused !== undefined) throw new Error(`${refused}: ${plain(answers[refused]?.comment ?? answers[refused] ?? "It did not answer.")}`);
  }
  say(`The schedule is set up on ${counted(done, "minion")}`);
}

/** @param {{ rows?: readonly QueueRow[], problem: string, again: () => Promise<void> }} props */
function Queues({ rows, problem, again }) {
  return html`<div class="card clip"><div class="row pad under"><h2 class="small">Queues of the master</h2></div>${
    rows === undefined
      ? html`<${Placeholder} loading=${problem === ""} error=${problem} again=${again} />`
      : rows.length === 0
      ? html`<${Placeholder} title="No queue"><p>The reactor, returners of the master, a database of jobs and the runner <span class="mono">queue</span> have one each, when they are in use.</p></${Placeholder}>`
      : html`<ul class="plain">${rows.map(({ queue, waiting, oldest, dropped, error }) => html`<li class="pad row under" key=${queue}><${Icon} name=${error !== "" ? "i-bad" : "i-ok"} mark=${error !== "" ? "bad" : "ok"} /><div><b>${queue}</b>${error !== "" && html`<div class="dim t1 wrap">${error}</div>`}</div><span class="grow dim t1 num">${count(waiting)} waiting${oldest !== "" && html`, the oldest <${Ago} ms=${Date.parse(oldest)} />`}${dropped > 0 && `, ${count(dropped)} dropped`}</span></li>`)}</ul>`
  }</div>`;
}
