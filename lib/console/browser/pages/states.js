/**
 * States: a plan of what a run would change, in groups of the same change, and exactly that plan applied.
 * @module
 */

import { callMinions, previewTarget } from "../api.js";
import { DriftCards, hasDays, useDrift } from "../drift.js";
import { minions, statesOf } from "../fleet.js";
import { agoText, count, counted, html, Icon, messageOf, Placeholder, question, route, say, timeText } from "../parts.js";
import { useEffect, useState } from "../vendor/hooks.js";

/**
 * @typedef {object} Plan
 * @property {string} name a digest of the plans of all minions
 * @property {string} mods
 * @property {number} madeMs
 * @property {ReadonlyMap<string, string>} hashes the plan of each minion
 * @property {readonly Group[]} groups
 * @property {ReadonlyMap<string, string>} problems why a minion has no plan
 */
/** @typedef {{ key: string, tag: string, changes: any, comment: string, sls: string, ids: string[], isFailure: boolean }} Group */
/** @typedef {{ id: string, kind: "applied" | "refused" | "failed", text: string }} Outcome */

/** Minutes for which a plan may be applied from this page. */
const VALID_MIN = 15;

export default function States() {
  const { query } = route.value;
  const [tgt, setTgt] = useState(query.get("tgt") ?? "*");
  const [mods, setMods] = useState(query.get("mods") ?? "");
  const [plan, setPlan] = useState(/** @type {Plan | undefined} */ (undefined));
  const [skipped, setSkipped] = useState(/** @type {ReadonlySet<string>} */ (new Set()));
  const [outcomes, setOutcomes] = useState(/** @type {readonly Outcome[]} */ ([]));
  const [busy, setBusy] = useState("");
  const [problem, setProblem] = useState("");
  const [, setTurn] = useState(0);
  const days = useDrift();
  useEffect(() => {
    const timer = setInterval(() => setTurn((turn) => turn + 1), 10_000);
    return () => clearInterval(timer);
  }, []);
  const make = async () => {
    setBusy("Planning");
    setProblem("");
    setOutcomes([]);
    try {
      setPlan(await makePlan(tgt, mods.trim()));
      setSkipped(new Set());
    } catch (error) {
      setProblem(messageOf(error));
    } finally {
      setBusy("");
    }
  };
  const changing = plan === undefined ? [] : changingIds(plan, skipped);
  const isOld = plan !== undefined && Date.now() - plan.madeMs > VALID_MIN * 60_000;
  const apply = async () => {
    if (plan === undefined) return;
    setBusy("Applying");
    try {
      setOutcomes(await applyPlan(plan, changing));
      say("The plan is applied; what was skipped is named");
    } catch (error) {
      setProblem(messageOf(error));
    } finally {
      setBusy("");
    }
  };
  const ask = () => {
    if (plan === undefined) return;
    question.value = {
      title: `Apply plan ${plan.name}?`,
      text: `${counted(changing.length, "minion")} ${changing.length === 1 ? "changes" : "change"}. A minion whose plan differs by then is skipped and named.`,
      yes: `Apply to ${count(changing.length)}`,
      act: () => void apply(),
    };
  };
  const canApply = changing.length > 0 && busy === "" && !isOld && outcomes.length === 0;
  return html`<div class="head"><div><h1>States</h1><p>${plan === undefined ? "A plan shows what a run would change, before anything does." : html`Plan <b class="mono">${plan.name}</b> of <span class="mono">${plan.mods || "the top file"}</span> for ${counted(plan.hashes.size, "minion")}, made <span title=${timeText(plan.madeMs)}>${agoText(plan.madeMs)}</span>, ${isOld ? "no longer valid" : `valid for ${VALID_MIN} minutes`}`}</p></div>
    <div class="act"><button type="button" class=${`btn ${plan === undefined ? "pri" : ""}`} id="plan" disabled=${busy !== ""} onClick=${make}>${busy === "Planning" ? "Planning" : plan === undefined ? "Make a plan" : "Plan again"}</button>${plan !== undefined && html`<button type="button" class="btn pri" id="apply" disabled=${!canApply} onClick=${ask}>${busy === "Applying" ? "Applying" : "Apply exactly this plan"}</button>`}</div></div>
  <div class="grid two"><div class="card clip">${busy === "Planning" && html`<div class="loading"></div>`}${
    plan === undefined
      ? html`<${Placeholder} title="No plan has been made"><p>Name the minions and the states beside, then make a plan: a test run, with a hash of all that it stands on.</p></${Placeholder}>`
      : html`<${Summary} plan=${plan} changing=${changing} />${plan.groups.map((group) => html`<${GroupView} key=${group.key} group=${group} isSkipped=${skipped.has(group.key)} skip=${() => {
        const next = new Set(skipped);
        if (!next.delete(group.key)) next.add(group.key);
        setSkipped(next);
      }} />`)}`
  }</div>
  <div class="grid"><div class="card pad"><h2>What is planned</h2><label class="f gap">Minions <span class="h">a compound target</span><input class="in mono" id="tgt" spellcheck="false" autocomplete="off" value=${tgt} onInput=${(/** @type {{ target: HTMLInputElement }} */ event) => setTgt(event.target.value)} /></label>
    <label class="f">States <span class="h">SLS names with commas; empty: the top file</span><input class="in mono" id="mods" spellcheck="false" autocomplete="off" value=${mods} onInput=${(/** @type {{ target: HTMLInputElement }} */ event) => setMods(event.target.value)} /></label>
    <p class="dim t1">The same on the command line: <span class="mono wrap">salt -C '${tgt}' state.plan${mods.trim() === "" ? "" : ` ${mods.trim()}`}</span></p>
    <div role="alert">${problem !== "" && html`<p class="note b">${problem}</p>`}${plan !== undefined && plan.problems.size > 0 && html`<div class="note b">${[...plan.problems].slice(0, 20).map(([id, text]) => html`<div key=${id}><b>${id}</b> ${text}</div>`)}</div>`}</div></div>
    ${outcomes.length > 0 && html`<${Outcomes} outcomes=${outcomes} />`}
    ${days !== undefined && (hasDays(days) ? html`<${DriftCards} found=${days} />` : html`<div class="card pad"><h2>Drift</h2><p class="dim t1">A schedule can make a plan on each minion every day, and keep for a month what differs.</p><a class="btn sm" href="#/schedules">Set it up</a></div>`)}</div></div>`;
}

/** @param {{ plan: Plan, changing: readonly string[] }} props */
function Summary({ plan, changing }) {
  const changes = plan.groups.filter(({ isFailure }) => !isFailure).length;
  return html`<div class="pad three"><div><div class="fig">${count(changes)}</div><div class="dim">${changes === 1 ? "change" : "different changes"}</div></div><div><div class="fig">${count(changing.length)}</div><div class="dim">${changing.length === 1 ? "minion changes" : "minions change"}</div></div><div><div class="fig">${count(plan.hashes.size - changing.length)}</div><div class="dim">${plan.hashes.size - changing.length === 1 ? "stays as it is" : "stay as they are"}</div></div></div>`;
}

/** @param {{ group: Group, isSkipped: boolean, skip: () => void }} props */
function GroupView({ group, isSkipped, skip }) {
  const { tag, changes, comment, sls, ids, isFailure } = group;
  const [module, name, path, fun] = tag.split("_|-");
  const mark = isFailure ? "bad" : "chg";
  return html`<details open=${ids.length > 0}><summary><${Icon} name=${`i-${mark}`} mark=${mark} /><b class="wrap">${name}</b> <span class="mono dim">${module}.${fun}</span>${isSkipped && html`<span class="tag">skipped</span>`}<span class="w">${counted(ids.length, "minion")}${ids.length > 1 ? ", the same" : ""}</span></summary>
    <div class="diff" tabindex="0" role="region" aria-label=${`Change of ${name} ${path}, ${fun}`}><div class="hh">${path === name ? "" : `${path} · `}${sls}</div>${changeLines(changes, comment)}</div>
    <div class="pad row tight"><span class="tags">${ids.slice(0, 12).map((id) => html`<span class="tag" key=${id}>${id}</span>`)}${ids.length > 12 && html`<span class="tag">+ ${count(ids.length - 12)} more</span>`}</span>${!isFailure && html`<button type="button" class="btn sm grow" onClick=${skip}>${isSkipped ? "Take it in again" : "Skip these minions"}</button>`}</div></details>`;
}

/** @param {any} changes @param {string} comment */
function changeLines(changes, comment) {
  const lines = typeof changes?.diff === "string"
    ? changes.diff.trimEnd().split("\n").filter((/** @type {string} */ line) => !/^(---|\+\+\+)( |$)/.test(line))
    : valueLines(changes);
  const shown = lines.length === 0 ? comment.trimEnd().split("\n") : lines;
  return shown.slice(0, 200).map((/** @type {string} */ line, /** @type {number} */ i) => {
    const sign = /^[+-](?![+-]{2})/.test(line) ? line[0] : "";
    return html`<div key=${i} class=${sign === "+" ? "a" : sign === "-" ? "d" : line.startsWith("@@") ? "at" : undefined}><b>${sign}</b><span>${sign === "" ? line : line.slice(1)}</span></div>`;
  });
}

/** @param {any} changes @returns {string[]} */
function valueLines(changes) {
  return Object.entries(changes ?? {}).flatMap(([name, change]) => {
    if (change !== null && typeof change === "object" && ("old" in change || "new" in change)) {
      return [`-${name} ${text(change.old)}`, `+${name} ${text(change.new)}`];
    }
    return name === "old" ? [`-${text(change)}`] : name === "new" ? [`+${text(change)}`] : [`+${name} ${text(change)}`];
  });
}

/** @param {unknown} value */
function text(value) {
  return typeof value === "string" ? value : JSON.stringify(value) ?? "";
}

/** @param {{ outcomes: readonly Outcome[] }} props */
function Outcomes({ outcomes }) {
  const order = ["refused", "failed", "applied"];
  const sorted = [...outcomes].sort((a, b) => order.indexOf(a.kind) - order.indexOf(b.kind));
  const words = { refused: "skipped", failed: "failed", applied: "applied" };
  return html`<div class="card pad" role="status"><h2>What was done</h2><p class="dim t1">${order.map((kind) => [kind, sorted.filter((one) => one.kind === kind).length]).filter(([, number]) => number).map(([kind, number]) => `${count(Number(number))} ${words[/** @type {Outcome["kind"]} */ (kind)]}`).join(", ")}</p>
    <div class="grid dense t1">${sorted.slice(0, 60).map(({ id, kind, text }) => html`<div key=${id}><${Icon} name=${kind === "applied" ? "i-ok" : "i-bad"} mark=${kind === "applied" ? "ok" : "bad"} /> <b>${id}</b> ${words[kind]}${text !== "" && html`<pre class="cmd" tabindex="0">${text}</pre>`}</div>`)}</div></div>`;
}

/** @param {Plan} plan @param {ReadonlySet<string>} skipped */
function changingIds({ groups, hashes }, skipped) {
  const out = new Set(groups.filter(({ key, isFailure }) => isFailure || skipped.has(key)).flatMap(({ ids }) => ids));
  return [...new Set(groups.flatMap(({ ids }) => ids))].filter((id) => hashes.has(id) && !out.has(id)).sort();
}

/** @param {string} tgt @param {string} mods @returns {Promise<Plan>} */
async function makePlan(tgt, mods) {
  const ids = await previewTarget({ tgt, tgt_type: "compound" });
  const here = new Set(minions.value.filter(({ connected }) => connected).map(({ id }) => id));
  const asked = ids.filter((id) => here.has(id));
  if (asked.length === 0) throw new Error(ids.length === 0 ? "No minion matches this target." : "None of these minions is connected.");
  const answers = await callMinions({ tgt: asked, tgt_type: "list", fun: "state.plan", arg: mods === "" ? [] : [mods] });
  /** @type {Map<string, string>} */
  const hashes = new Map();
  /** @type {Map<string, string>} */
  const problems = new Map();
  /** @type {Map<string, Group>} */
  const groups = new Map();
  for (const id of asked) {
    const answer = answers[id], hash = planOf(answer);
    if (hash === undefined) problems.set(id, answer === undefined ? "did not answer" : text(answer));
    else hashes.set(id, hash);
    for (const [tag, state] of Object.entries(statesOf(answer))) {
      const isFailure = state.result === false;
      if (state.result !== null && !isFailure) continue;
      const key = JSON.stringify([tag, isFailure, state.changes, isFailure ? state.comment : ""]);
      const group = groups.get(key) ??
        { key, tag, changes: state.changes, comment: String(state.comment ?? ""), sls: String(state.__sls__ ?? ""), ids: [], isFailure };
      group.ids.push(id);
      groups.set(key, group);
    }
  }
  const sorted = [...groups.values()].sort((a, b) => Number(b.isFailure) - Number(a.isFailure) || b.ids.length - a.ids.length);
  return { name: await digest([...hashes].sort().join()), mods, madeMs: Date.now(), hashes, groups: sorted, problems };
}

/** The name of the plan in an answer of state.plan. @param {any} answer @returns {string | undefined} */
function planOf(answer) {
  const plan = answer?.plan;
  return typeof plan === "string" ? plan : typeof plan?.hash === "string" ? plan.hash : undefined;
}

/** @param {string} text */
async function digest(text) {
  const bytes = new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)));
  const hex = [...bytes.subarray(0, 4)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return `${hex.slice(0, 4)}·${hex.slice(4)}`;
}

/** Applies to each minion its own plan. @param {Plan} plan @param {readonly string[]} ids @returns {Promise<Outcome[]>} */
async function applyPlan({ hashes }, ids) {
  /** @type {Map<string, string[]>} */
  const byHash = new Map();
  for (const id of ids) {
    const hash = hashes.get(id) ?? "";
    byHash.set(hash, [...byHash.get(hash) ?? [], id]);
  }
  /** @type {Outcome[]} */
  const outcomes = [];
  for (const [hash, group] of byHash) {
    const answers = await callMinions({ tgt: group, tgt_type: "list", fun: "state.apply", kwarg: { plan: hash } });
    for (const id of group) outcomes.push(outcomeOf(id, answers[id]));
  }
  return outcomes;
}

/** @param {string} id @param {any} answer @returns {Outcome} */
function outcomeOf(id, answer) {
  if (answer === undefined) return { id, kind: "failed", text: "It did not answer." };
  const states = Object.values(statesOf(answer));
  if (states.length === 0) return { id, kind: "refused", text: Array.isArray(answer) ? answer.join("\n") : text(answer) };
  const failed = states.filter(({ result }) => result === false);
  return { id, kind: failed.length > 0 ? "failed" : "applied", text: failed.map(({ comment }) => String(comment)).join("\n") };
}
