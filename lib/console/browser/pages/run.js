/**
 * Running a function: whom, what, and a confirmation. Nothing starts that was not shown.
 * @module
 */

import { previewTarget, runBatch, startJob } from "../api.js";
import { jobs, minions, session } from "../fleet.js";
import { commandText, curlText, fieldValue, mayCall, riskOf, useFunctions, useSignature } from "../functions.js";
import { Ago, copy, count, counted, goTo, html, Icon, jidTime, messageOf, question, route, say } from "../parts.js";
import { useEffect, useRef, useState } from "../vendor/hooks.js";

/** The kinds of targets, with what the command line calls each. */
export const KINDS = /** @type {const} */ ([
  ["glob", "glob", ""],
  ["list", "list", "-L"],
  ["grain", "grain", "-G"],
  ["pcre", "regular expression", "-E"],
  ["compound", "compound", "-C"],
  ["nodegroup", "node group", "-N"],
]);

/** Names that are shown of a target, and the number above which it must be typed. */
const SHOWN_NAMES = 24, TYPED_ABOVE = 100;
/** Parameters that are shown at once. */
const FIRST_FIELDS = 3;

export default function Run() {
  const { query } = route.value;
  const [kind, setKind] = useState(query.get("kind") ?? "glob");
  const [tgt, setTgt] = useState(query.get("tgt") ?? "*");
  const [fun, setFun] = useState(query.get("fun") ?? "test.ping");
  const [values, setValues] = useState(/** @type {Record<string, string>} */ ({}));
  const [rest, setRest] = useState(query.get("arg") ?? "");
  const [atOnce, setAtOnce] = useState("all");
  const target = useTarget({ tgt, kind });
  const given = useRef(rest);
  const witness = minions.value.find(({ id, connected }) => connected && target.ids.includes(id))?.id ??
    minions.value.find(({ connected }) => connected)?.id;
  const functions = useFunctions(witness);
  const signature = useSignature(fun, witness);
  useEffect(() => {
    // Arguments that a link brings go to their fields, once it is known which there are.
    if (signature === undefined || given.current === "") return;
    const placed = placeWords(given.current, signature.fields);
    given.current = "";
    setValues(placed.values);
    setRest(placed.rest);
  }, [signature]);
  const call = callOf({ fun, values, rest, signature });
  const isAllowed = mayCall(session.value?.perms, fun);
  const risk = riskOf(fun);
  const shell = { tgt, flag: KINDS.find(([name]) => name === kind)?.[2] ?? "", fun, arg: call.arg, kwarg: call.kwarg, atOnce };
  const isReady = target.ids.length > 0 && call.problems.size === 0 && isAllowed && !target.isLoading && fun !== "";

  /** @param {Record<string, unknown>} [more] */
  const start = async (more = {}) => {
    try {
      const now = await previewTarget({ tgt: splitList(tgt, kind), tgt_type: kind });
      if (now.join() !== target.ids.join()) {
        target.take(now);
        return say("The target matches other minions now. Look at the list again");
      }
      const job = { tgt: now, tgt_type: "list", fun, arg: call.arg, kwarg: { ...call.kwarg, ...more } };
      if (atOnce !== "all") {
        void runBatch({ ...job, batch: atOnce }).then(() => say(`${fun} has run on all`), (error) => say(messageOf(error)));
        say("Started in parts; each part is a job of its own");
        return goTo(["jobs"]);
      }
      const { jid } = await startJob(job);
      if (jid === undefined) return say("No minion matches any more");
      goTo(["job", jid]);
    } catch (error) {
      say(messageOf(error));
    }
  };
  const ask = () => {
    if (risk.kind === "reads") return void start();
    question.value = {
      title: `${fun} on ${counted(target.ids.length, "minion")}?`,
      text: html`<span class="cmd whole">${commandText(shell).whole}</span>${risk.text} What has run stays done; you can stop the job at any time.`,
      yes: "Run",
      typed: risk.kind === "any" && target.ids.length > TYPED_ABOVE ? target.ids.length : undefined,
      act: () => void start(),
    };
  };
  return html`<div class="head"><div><h1>Run</h1><p>Choose whom and what. Nothing starts before the list is shown.</p></div></div>
  <div class="grid two"><div class="card pad">
    <h2>1. Whom</h2>
    <div class="seg gap" role="group" aria-label="Kind of target">${
    KINDS.map(([name, word]) => html`<button type="button" key=${name} aria-pressed=${String(kind === name)} onClick=${() => setKind(name)}>${word}</button>`)
  }</div>
    <label class="f gap">Target<input class="in mono" id="tgt" spellcheck="false" autocomplete="off" value=${tgt} onInput=${
    (/** @type {{ target: HTMLInputElement }} */ event) => setTgt(event.target.value)
  } /></label>
    <${Preview} target=${target} />
    <h2 class="gap">2. What</h2>
    <label class="f gap">Function<input class="in mono" id="fun" list="functions" spellcheck="false" autocomplete="off" value=${fun} aria-invalid=${String(!isAllowed)} onInput=${
    (/** @type {{ target: HTMLInputElement }} */ event) => setFun(event.target.value.trim())
  } />${!isAllowed && html`<span class="err-text">Your rights do not include this function.</span>`}</label>
    <datalist id="functions">${functions.filter((name) => name.includes(fun) && mayCall(session.value?.perms, name)).slice(0, 200).map((name) => html`<option key=${name} value=${name} />`)}</datalist>
    <${Fields} signature=${signature} values=${values} problems=${call.problems} set=${(/** @type {string} */ name, /** @type {string} */ value) => setValues({ ...values, [name]: value })} />
    ${(signature === undefined || signature.takesMore) && html`<label class="f">${signature === undefined || signature.fields.length === 0 ? "Arguments" : "More arguments"} <span class="h">as on the command line</span><input class="in mono" spellcheck="false" autocomplete="off" value=${rest} onInput=${
    (/** @type {{ target: HTMLInputElement }} */ event) => setRest(event.target.value)
  } /></label>`}
    ${signature !== undefined && signature.doc !== "" && html`<details class="doc"><summary>What ${fun} does</summary><pre class="cmd" tabindex="0">${signature.doc}</pre></details>`}
  </div>
  <div class="grid"><div class="card pad"><h2>3. Confirm</h2>
    <pre class="cmd whole gap" tabindex="0" role="region" aria-label="The same on the command line">salt ${shell.flag !== "" && `${shell.flag} `}<span class="tok-t">${commandText(shell).target}</span> <span class="tok-f">${fun}</span>${commandText(shell).rest}</pre>
    <div class="row tight gap"><button type="button" class="btn sm" onClick=${() => copy(commandText(shell).whole, "Command")}>Copy as command</button><button type="button" class="btn sm" onClick=${() => copy(curlText({ tgt: target.ids, fun, arg: call.arg, kwarg: call.kwarg }), "Request")}>Copy as curl</button></div>
    <label class="f gap">At once <span class="h">of them at the same time</span><select class="in" value=${atOnce} onChange=${
    (/** @type {{ target: HTMLSelectElement }} */ event) => setAtOnce(event.target.value)
  }><option value="all">all</option><option value="10%">10 %, one part after another</option><option value="1">1, one after another</option></select></label>
    <div class=${`note ${risk.kind === "reads" ? "i" : ""}`}><b>${risk.title}</b> ${risk.text}</div>
    <div class="row gap">${signature?.fields.some(({ name }) => name === "test") === true || fun.startsWith("state.") ? html`<button type="button" class="btn" disabled=${!isReady} onClick=${() => void start({ test: true })}>Test first</button>` : null}
    <button type="button" class="btn pri" id="start" disabled=${!isReady} onClick=${ask}>${target.ids.length === 0 ? "Nobody matches" : `Run on ${counted(target.ids.length, "minion")}`}</button></div></div>
    <${LastTimes} fun=${fun} /></div></div>`;
}

/** @param {string} tgt @param {string} kind */
function splitList(tgt, kind) {
  return kind === "list" ? tgt.split(",").map((id) => id.trim()).filter((id) => id !== "") : tgt;
}

/**
 * The minions of a target, a moment after one stops typing.
 * @param {{ tgt: string, kind: string }} target
 */
function useTarget({ tgt, kind }) {
  const of = `${kind} ${tgt}`;
  const [found, setFound] = useState({ ids: /** @type {string[]} */ ([]), problem: "", of: "" });
  useEffect(() => {
    const stop = new AbortController();
    const timer = setTimeout(async () => {
      try {
        const ids = tgt.trim() === "" ? [] : await previewTarget({ tgt: splitList(tgt, kind), tgt_type: kind }, stop.signal);
        setFound({ ids, problem: "", of });
      } catch (error) {
        if (!stop.signal.aborted) setFound({ ids: [], problem: messageOf(error), of });
      }
    }, 250);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [tgt, kind, minions.value.length]);
  // A list that is only read again, because a minion came or went, stays in use: what one is about to press stays.
  return { ...found, isLoading: found.of !== of, take: (/** @type {string[]} */ ids) => setFound({ ids, problem: "", of }) };
}

/** @param {{ target: ReturnType<typeof useTarget> }} props */
function Preview({ target }) {
  const { ids, problem, isLoading } = target;
  const here = new Set(minions.value.filter(({ connected }) => connected).map(({ id }) => id));
  const away = ids.filter((id) => !here.has(id)), names = [...away, ...ids.filter((id) => here.has(id))];
  if (problem !== "") return html`<p class="note b" role="alert">${problem}</p>`;
  return html`<div class="row" role="status" aria-busy=${String(isLoading)}><span class="fig">${count(ids.length)}</span><div><b>${ids.length === 1 ? "minion matches" : "minions match"}</b><div class="dim t1">${
    ids.length === 0 ? "check the spelling" : away.length === 0 ? "all of them connected" : `${count(away.length)} not connected, named first`
  }</div></div></div>
    <div class="tags gap">${names.slice(0, SHOWN_NAMES).map((id) => html`<span key=${id} class=${`tag ${here.has(id) ? "" : "d"}`}>${id}</span>`)}${
    names.length > SHOWN_NAMES && html`<span class="tag">+ ${count(names.length - SHOWN_NAMES)} more</span>`
  }</div>`;
}

/** @param {{ signature: import("../functions.js").Signature | undefined, values: Record<string, string>, problems: ReadonlyMap<string, string>, set: (name: string, value: string) => void }} props */
function Fields({ signature, values, problems, set }) {
  const fields = signature?.fields ?? [];
  const first = fields.filter(({ isNeeded }, i) => isNeeded || i < FIRST_FIELDS), others = fields.filter((field) => !first.includes(field));
  /** @param {import("../functions.js").Field} field */
  const field = ({ name, type, isNeeded, shown }) => {
    const value = values[name] ?? "", problem = value === "" ? undefined : problems.get(name);
    /** @param {{ target: HTMLInputElement }} event */
    const onInput = (event) => set(name, event.target.value);
    return html`<label class="f" key=${name}><span class="mono">${name}</span> <span class="h">${isNeeded ? "needed" : ""}</span>${
      type === "bool"
        ? html`<select class="in" value=${value} onChange=${onInput}><option value="">${shown}, as usual</option><option>True</option><option>False</option></select>`
        : html`<input class=${`in mono ${problem === undefined ? "" : "err"}`} spellcheck="false" autocomplete="off" placeholder=${shown} value=${value} aria-invalid=${String(problem !== undefined)} onInput=${onInput} />`
    }${problem !== undefined && html`<span class="err-text">${problem}</span>`}</label>`;
  };
  return html`${first.map(field)}${others.length > 0 && html`<details class="doc more"><summary>Further parameters <span class="w">${count(others.length)}</span></summary><div class="pad">${others.map(field)}</div></details>`}`;
}

/** @param {{ fun: string }} props */
function LastTimes({ fun }) {
  const times = jobs.value.filter((job) => job.fun === fun).slice(0, 3);
  if (times.length === 0) return null;
  return html`<div class="card pad"><h2 class="small">The last times</h2><div class="grid dense gap t1 plainly">${
    times.map(({ jid, minions, failed, user }) =>
      html`<div class="row" key=${jid}><${Icon} name=${failed > 0 ? "i-bad" : "i-ok"} mark=${failed > 0 ? "bad" : "ok"} /><a href=${`#/job/${jid}`}><${Ago} ms=${jidTime(jid)} />, ${counted(minions, "minion")}${failed > 0 && `, ${count(failed)} failed`}</a><span class="dim grow">${user}</span></div>`
    )
  }</div></div>`;
}

/** An argument with a name. */
const NAMED = /^([A-Za-z_]\w*)=(.*)$/s;

/** @param {string} text @returns {string[]} */
function wordsOf(text) {
  return text.match(/(?:[^\s"']+|"[^"]*"|'[^']*')+/g) ?? [];
}

/** @param {string} word */
function unquoted(word) {
  return word.replace(/(["'])(.*?)\1/g, "$2");
}

/**
 * The fields that words of a command line fill, and the words that fit none.
 * @param {string} text
 * @param {readonly import("../functions.js").Field[]} fields
 */
function placeWords(text, fields) {
  /** @type {Record<string, string>} */
  const values = {};
  /** @type {string[]} */
  const rest = [];
  let at = 0;
  for (const word of wordsOf(text)) {
    const named = NAMED.exec(unquoted(word));
    const field = named !== null ? fields.find(({ name }) => name === named[1]) : rest.length === 0 ? fields[at] : undefined;
    const value = named !== null ? named[2] : unquoted(word);
    if (field === undefined || value === "" || fieldValue(value, field.type).problem !== undefined) rest.push(word);
    else {
      values[field.name] = field.type === "bool" ? value[0].toUpperCase() + value.slice(1).toLowerCase() : value;
      if (named === null) at++;
    }
  }
  return { values, rest: rest.join(" ") };
}

/**
 * The arguments of the call, and what is wrong with them by field.
 * @param {{ fun: string, values: Record<string, string>, rest: string, signature: import("../functions.js").Signature | undefined }} parts
 */
function callOf({ values, rest, signature }) {
  /** @type {unknown[]} */
  const arg = [];
  /** @type {Record<string, unknown>} */
  const kwarg = {};
  /** @type {Map<string, string>} */
  const problems = new Map();
  let isInOrder = true;
  for (const { name, type, isNeeded } of signature?.fields ?? []) {
    const text = values[name] ?? "";
    if (text === "") {
      if (isNeeded && rest === "") problems.set(name, "This is needed.");
      isInOrder = false;
      continue;
    }
    const { value, problem } = fieldValue(text, type);
    if (problem !== undefined) problems.set(name, problem);
    else if (isInOrder) arg.push(value);
    else kwarg[name] = value;
  }
  for (const word of wordsOf(rest)) {
    const text = unquoted(word), named = NAMED.exec(text);
    if (named === null) arg.push(fieldValue(text, "any").value);
    else kwarg[named[1]] = fieldValue(named[2], "any").value;
  }
  return { arg, kwarg, problems };
}
