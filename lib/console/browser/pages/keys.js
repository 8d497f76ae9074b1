/**
 * The minions' keys: which wait, and what is to be done with them. Accepting names the fingerprint that was seen.
 * @module
 */

import { acceptKey, deleteKey, listKeys, rejectKey } from "../api.js";
import { onEvent, reload } from "../fleet.js";
import { count, counted, html, Icon, messageOf, MinionName, Placeholder, question, route, say, setQuery } from "../parts.js";
import { useEffect, useState } from "../vendor/hooks.js";

/** @typedef {import("../api.js").KeyRow} KeyRow */

const STATES = /** @type {const} */ ({ pending: "waiting", accepted: "accepted", rejected: "rejected", denied: "denied" });
/** Keys that are shown at a time. */
const PAGE = 50;
/** Hexadecimal digits after which a text is a fingerprint. */
const DIGITS = 8;

export default function Keys() {
  const { query } = route.value, is = /** @type {KeyRow["state"]} */ (query.get("is") ?? "pending");
  const { keys, problem, isLoading, again } = useKeys();
  const [text, setText] = useState("");
  const [from, setFrom] = useState(0);
  const [chosen, setChosen] = useState(/** @type {ReadonlySet<string>} */ (new Set()));
  const digits = /^[0-9a-f:\s]+$/i.test(text) ? text.toLowerCase().replace(/[^0-9a-f]/g, "") : "";
  const isFinger = digits.length >= DIGITS;
  const accepted = new Set(keys.filter(({ state }) => state === "accepted").map(({ id }) => id));
  const found = keys.filter((key) => isFinger ? plainFinger(key).startsWith(digits) : key.state === is && key.id.includes(text.trim()));
  const shown = found.slice(from, from + PAGE);
  const marked = shown.filter((key) => chosen.has(keyName(key)));
  const names = Object.keys(STATES).filter((state) => state !== "denied" || keys.some((key) => key.state === "denied"));
  /** @param {(key: KeyRow) => Promise<void>} act @param {readonly KeyRow[]} list @param {string} word */
  const each = async (act, list, word) => {
    let done = 0;
    for (const key of list) {
      try {
        await act(key);
        done++;
      } catch (error) {
        say(messageOf(error));
        await again();
        return;
      }
    }
    setChosen(new Set());
    say(list.length === 1 ? `${list[0].id} ${word}` : `${counted(done, "key")} ${word}`);
    await Promise.all([again(), reload()]);
  };
  return html`<div class="head"><div><h1>Keys</h1><p>Compare a fingerprint with <span class="mono">salt-call --local key.finger</span> on the host before you accept.</p></div>
    <div class="act">${marked.length > 0 && html`<button type="button" class="btn pri" onClick=${() => askAll(marked, each)}>Accept ${counted(marked.length, "key")}</button>`}</div></div>
  <div class="card clip"><div class="pad row under"><div class="keyl flat" role="group" aria-label="State of keys">${
    names.map((state) => html`<button type="button" class="chip" key=${state} aria-pressed=${String(is === state && !isFinger)} onClick=${() => {
      setQuery({ is: state });
      setFrom(0);
    }}><b>${count(keys.filter((key) => key.state === state).length)}</b> ${STATES[/** @type {KeyRow["state"]} */ (state)]}</button>`)
  }</div><label class="find grow"><${Icon} name="n-find" /><span class="sr">Name or fingerprint</span><input class="mono" id="finger" placeholder="A name, or paste a fingerprint" autocomplete="off" spellcheck="false" value=${text} onInput=${
    (/** @type {{ target: HTMLInputElement }} */ event) => {
      setText(event.target.value);
      setFrom(0);
    }
  } /></label></div>
    ${keys.length === 0 && (isLoading || problem !== "") ? html`<${Placeholder} loading=${isLoading} error=${problem} again=${again} />` : shown.length === 0 ? emptyText({ is, isFinger, text }) : html`<ul class="plain" aria-label="Keys">${
      shown.map((key) => html`<${Key} key=${keyName(key)} row=${key} digits=${isFinger ? digits : ""} hasOther=${key.state !== "accepted" && accepted.has(key.id)} each=${each} isChosen=${chosen.has(keyName(key))} choose=${() => {
        const next = new Set(chosen);
        if (!next.delete(keyName(key))) next.add(keyName(key));
        setChosen(next);
      }} />`)
    }</ul>`}
    ${found.length > PAGE && html`<div class="pad row"><button type="button" class="btn sm" disabled=${from === 0} onClick=${() => setFrom(Math.max(0, from - PAGE))}>Earlier</button><span class="dim num t1">${count(from + 1)} to ${count(Math.min(found.length, from + PAGE))} of ${count(found.length)}</span><button type="button" class="btn sm" disabled=${from + PAGE >= found.length} onClick=${() => setFrom(from + PAGE)}>Later</button></div>`}
  </div>`;
}

/** The keys, read again when one comes or changes. */
function useKeys() {
  const [keys, setKeys] = useState(/** @type {KeyRow[]} */ ([]));
  const [problem, setProblem] = useState("");
  const [isLoading, setLoading] = useState(true);
  const again = async () => {
    try {
      setKeys(await listKeys());
      setProblem("");
    } catch (error) {
      setProblem(messageOf(error));
    } finally {
      setLoading(false);
    }
  };
  useEffect(() => {
    void again();
    let timer = 0;
    const stop = onEvent(({ tag }) => {
      if (tag !== "salt/auth" && tag !== "salt/key") return;
      clearTimeout(timer);
      timer = setTimeout(again, 300);
    });
    return () => {
      stop();
      clearTimeout(timer);
    };
  }, []);
  return { keys, problem, isLoading, again };
}

/** @param {KeyRow} key */
function keyName({ id, state }) {
  return `${state}/${id}`;
}

/** @param {KeyRow} key */
function plainFinger({ finger }) {
  return finger.toLowerCase().replaceAll(":", "");
}

/** @param {{ is: string, isFinger: boolean, text: string }} filter */
function emptyText({ is, isFinger, text }) {
  if (isFinger) {
    return html`<${Placeholder} title="No key has this fingerprint"><p>Do not accept a key that only looks like it.</p></${Placeholder}>`;
  }
  if (text !== "") return html`<${Placeholder} title="No key matches" />`;
  if (is === "pending") {
    return html`<${Placeholder} title="No key waits"><p>On a host: <span class="mono">salt-minion</span> with <span class="mono">master: HOST</span>. Its key then waits here.</p></${Placeholder}>`;
  }
  return html`<${Placeholder} title="There is no such key" />`;
}

/** @param {{ row: KeyRow, digits: string, hasOther: boolean, isChosen: boolean, choose: () => void, each: (act: (key: KeyRow) => Promise<void>, list: readonly KeyRow[], word: string) => Promise<void> }} props */
function Key({ row, digits, hasOther, isChosen, choose, each }) {
  const { id, state } = row, isWaiting = state === "pending";
  const mark = hasOther ? "bad" : isWaiting ? "chg" : state === "accepted" ? "ok" : "off";
  const accept = () => hasOther ? askReplace(row, each) : void each(acceptKey, [row], "accepted");
  return html`<li class=${`k ${isChosen ? "cur" : ""}`}>
    ${isWaiting ? html`<input type="checkbox" checked=${isChosen} onChange=${choose} aria-label=${`Select ${id}`} />` : html`<${Icon} name=${`i-${mark}`} mark=${mark} />`}
    <${MinionName} target=${id} />${fingerprint(row, digits)}
    <span class="dim when t1">${hasOther ? "another key of this name is accepted" : STATES[state]}</span>
    <div class="row tight do">${state !== "accepted" && html`<button type="button" class=${`btn sm ${hasOther ? "danger" : ""}`} onClick=${accept}>${hasOther ? "Compare" : "Accept"}<span class="sr"> ${id}</span></button>`}${
    isWaiting && html`<button type="button" class="btn sm danger" onClick=${() => void each(rejectKey, [row], "rejected")}>Reject<span class="sr"> ${id}</span></button>`
  }${!isWaiting && html`<button type="button" class="btn sm danger" onClick=${() => askDelete(row, each)}>Delete<span class="sr"> ${id}</span></button>`}</div></li>`;
}

/** Eight groups of eight digits; those that were looked for are marked. @param {KeyRow} key @param {string} digits */
function fingerprint(key, digits) {
  const groups = plainFinger(key).match(/.{1,8}/g) ?? [];
  const text = groups.join(" "), end = digits.length + Math.floor((digits.length - 1) / 8);
  return html`<span class="fp">${digits === "" ? text : html`<mark>${text.slice(0, end)}</mark>${text.slice(end)}`}</span>`;
}

/** @param {readonly KeyRow[]} list @param {(act: (key: KeyRow) => Promise<void>, list: readonly KeyRow[], word: string) => Promise<void>} each */
function askAll(list, each) {
  question.value = {
    title: `Accept ${counted(list.length, "key")}?`,
    text: `${list.slice(0, 8).map(({ id }) => id).join(", ")}${list.length > 8 ? " and others" : ""}. Each is accepted with the fingerprint that is shown.`,
    yes: "Accept",
    act: () => void each(acceptKey, list, "accepted"),
  };
}

/** @param {KeyRow} key @param {(act: (key: KeyRow) => Promise<void>, list: readonly KeyRow[], word: string) => Promise<void>} each */
function askReplace(key, each) {
  question.value = {
    title: "Another key is accepted for this name",
    text: "If the host was not installed anew, someone else is asking. Compare both fingerprints on the host.",
    yes: "Replace the old key",
    isDangerous: true,
    act: () => void each(acceptKey, [key], "accepted"),
  };
}

/** @param {KeyRow} key @param {(act: (key: KeyRow) => Promise<void>, list: readonly KeyRow[], word: string) => Promise<void>} each */
function askDelete(key, each) {
  question.value = {
    title: `Delete the key of ${key.id}?`,
    text: "All keys of this name are deleted. The minion loses its connection, and asks again.",
    yes: "Delete",
    isDangerous: true,
    act: () => void each(deleteKey, [key], "deleted"),
  };
}
