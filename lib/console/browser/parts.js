/**
 * What the pages are made of: icons, the bar of outcomes, lists of which only the rows in sight exist, dialogs, words
 * for times and numbers.
 * @module
 */

import { h } from "./vendor/preact.js";
import { useEffect, useLayoutEffect, useRef, useState } from "./vendor/hooks.js";
import htm from "./vendor/htm.js";
import { signal } from "./vendor/signals.js";

/** Markup: texts in it are texts, never HTML. */
export const html = htm.bind(h);

/** @typedef {import("./vendor/preact.d.mts").Child} Child */
/** @typedef {"bad" | "chg" | "run" | "off" | "ok"} Mark how something is; each has a shape, a word and a colour */

/** The marks in the order in which they are shown: what needs a look comes first. @type {readonly Mark[]} */
export const MARKS = ["bad", "chg", "run", "off", "ok"];

/** @param {{ name: string, mark?: Mark }} props */
export function Icon({ name, mark }) {
  const classes = mark === undefined ? undefined : `g c-${mark}`;
  return html`<svg class=${classes} aria-hidden="true" focusable="false"><use href=${`#${name}`} /></svg>`;
}

/** @param {{ mark: Mark, word: string }} props */
export function MarkIcon({ mark, word }) {
  return html`<span title=${word}><${Icon} name=${`i-${mark}`} mark=${mark} /><span class="sr">${word}</span></span>`;
}

/**
 * The bar of outcomes, with its legend, whose chips filter.
 * @param {{ counts: Partial<Record<Mark, number>>, words: Record<Mark, string>, on: string, set: (mark: string) => void, label: string }} props
 */
export function OutcomeBar({ counts, words, on, set, label }) {
  const there = MARKS.filter((mark) => (counts[mark] ?? 0) > 0);
  const said = there.map((mark) => `${count(counts[mark] ?? 0)} ${words[mark]}`).join(", ");
  return html`<div class="card pad">
    <${Bar} counts=${counts} label=${`${label}: ${said || "none"}`} />
    <div class="keyl">${there.length === 0 && html`<span class="dim t1">Nothing yet</span>`}${
    there.map((mark) =>
      html`<button type="button" class="chip" key=${mark} aria-pressed=${String(on === mark)}
        onClick=${() => set(on === mark ? "" : mark)}><${Icon} name=${`i-${mark}`} mark=${mark} /><b>${
        count(counts[mark] ?? 0)
      }</b> ${words[mark]}</button>`
    )
  }</div></div>`;
}

/** @param {{ counts: Partial<Record<Mark, number>>, label: string, kind?: string }} props */
export function Bar({ counts, label, kind = "" }) {
  const there = MARKS.filter((mark) => (counts[mark] ?? 0) > 0);
  return html`<div class=${`bar ${kind}`} role="img" aria-label=${label}>${
    there.map((mark) => html`<i key=${mark} class=${`f-${mark}`} style=${{ flexGrow: String(counts[mark]) }}></i>`)
  }</div>`;
}

/**
 * The height of a row of lists, in pixels.
 * @returns {number}
 */
function rowHeight() {
  return innerWidth <= 640 ? 56 : 38;
}

/** Rows beyond each edge of what is in sight, and the most that exist. */
const BEYOND = 12, MOST_ROWS = 80;

/**
 * A list of which only the rows in sight are in the document.
 * @template T
 * @param {object} props
 * @param {readonly T[]} props.items
 * @param {(item: T) => string} props.keyOf
 * @param {(item: T) => Child} props.row the cells
 * @param {string} props.label
 * @param {string} [props.kind] the class of rows
 * @param {(item: T) => void} props.open
 * @param {ReadonlySet<string>} [props.selected]
 * @param {(item: T) => void} [props.select]
 * @param {string} [props.first] the key of the row that is current at first
 */
export function Rows({ items, keyOf, row, label, kind = "", open, selected, select, first }) {
  const box = useRef(/** @type {HTMLElement | null} */ (null));
  const [view, setView] = useState({ top: 0, height: 600, row: rowHeight() });
  const [current, setCurrent] = useState(first ?? "");
  const look = () => {
    const element = box.current;
    if (element === null) return;
    const next = { top: element.scrollTop, height: element.clientHeight, row: rowHeight() };
    setView((before) => before.top === next.top && before.height === next.height && before.row === next.row ? before : next);
  };
  useLayoutEffect(look, [items.length]);
  useEffect(() => {
    addEventListener("resize", look);
    return () => removeEventListener("resize", look);
  }, []);
  const at = items.findIndex((item) => keyOf(item) === current);
  const from = Math.max(0, Math.floor(view.top / view.row) - BEYOND);
  const shown = Math.min(MOST_ROWS, Math.ceil(view.height / view.row) + 2 * BEYOND);
  const page = Math.max(1, Math.floor(view.height / view.row) - 1);

  /** @param {number} index */
  const goTo = (index) => {
    const element = box.current;
    const item = items[Math.max(0, Math.min(items.length - 1, index))];
    if (item === undefined || element === null) return;
    setCurrent(keyOf(item));
    const top = items.indexOf(item) * view.row;
    if (top < element.scrollTop) element.scrollTop = top;
    else if (top + view.row > element.scrollTop + element.clientHeight) {
      element.scrollTop = top + view.row - element.clientHeight;
    }
  };
  const typed = useRef({ text: "", at: 0 });
  /** @param {string} key */
  const typeAhead = (key) => {
    const now = Date.now();
    typed.current = { text: now - typed.current.at < 700 ? typed.current.text + key : key, at: now };
    goTo(items.findIndex((item) => keyOf(item).startsWith(typed.current.text)));
  };
  /** @param {KeyboardEvent} event */
  const onKeyDown = (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    /** @type {Record<string, () => void>} */
    const acts = {
      ArrowDown: () => goTo(at + 1),
      ArrowUp: () => goTo(at - 1),
      PageDown: () => goTo(at + page),
      PageUp: () => goTo(at - page),
      Home: () => goTo(0),
      End: () => goTo(items.length - 1),
      Enter: () => at >= 0 && open(items[at]),
      x: () => at >= 0 && select?.(items[at]),
    };
    const act = acts[event.key];
    if (act !== undefined) {
      event.preventDefault();
      event.stopPropagation();
      act();
    } else if (event.shiftKey && event.key.length === 1) typeAhead(event.key.toLowerCase());
  };
  const rows = items.slice(from, from + shown).map((item, i) => {
    const key = keyOf(item), index = from + i;
    return html`<div class=${`r ${kind} ${key === current ? "cur" : ""}`} role="option" key=${key} id=${`o${index}`}
      aria-setsize=${items.length} aria-posinset=${index + 1} aria-selected=${
      String(selected === undefined ? key === current : selected.has(key))
    } style=${{ top: `${index * view.row}px` }} onClick=${() => {
      setCurrent(key);
      open(item);
    }}>${row(item)}</div>`;
  });
  return html`<div class="vl" ref=${box} tabindex="0" role="listbox" aria-label=${label}
    aria-multiselectable=${selected === undefined ? undefined : "true"}
    aria-activedescendant=${at >= from && at < from + shown ? `o${at}` : undefined}
    onScroll=${look} onKeyDown=${onKeyDown} onFocus=${() => current === "" && items.length > 0 && setCurrent(keyOf(items[0]))}>
    <div class="vs" role="presentation" style=${{ height: `${items.length * view.row}px` }}>${rows}</div></div>`;
}

/**
 * What stands where a list would be: while it loads, if it is empty, or if it could not be had.
 * @param {{ loading?: boolean, error?: string, again?: () => void, title?: string, children?: Child }} props
 */
export function Placeholder({ loading = false, error, again, title, children }) {
  if (error !== undefined && error !== "") {
    return html`<div class="empty" role="alert"><h2>This could not be loaded</h2><p>${error}</p><p><button type="button" class="btn sm" onClick=${again}>Try again</button></p></div>`;
  }
  if (loading) return html`<div class="empty"><div class="loading"></div><p class="dim">Loading</p></div>`;
  return html`<div class="empty"><h2>${title}</h2>${children}</div>`;
}

/** @param {{ target: string }} props */
export function MinionName({ target }) {
  const dot = target.indexOf(".");
  return html`<span class="id">${dot < 0 ? target : target.slice(0, dot)}${dot >= 0 && html`<span>${target.slice(dot)}</span>`}</span>`;
}

/**
 * @typedef {object} Question
 * @property {string} title
 * @property {Child} text
 * @property {string} yes what the button says
 * @property {number} [typed] a number that must be typed first
 * @property {boolean} [isDangerous]
 * @property {() => void} act
 */

/** The question that is asked now. */
export const question = signal(/** @type {Question | undefined} */ (undefined));

/** The dialog that asks; the focus returns to where it was. */
export function QuestionDialog() {
  const box = useRef(/** @type {HTMLDialogElement | null} */ (null));
  const [typed, setTyped] = useState("");
  const asked = question.value;
  useEffect(() => {
    if (asked === undefined) return;
    setTyped("");
    const before = document.activeElement;
    const dialog = box.current;
    dialog?.showModal();
    // Enter does what the button says, unless it cannot be undone.
    if (asked.typed === undefined && !asked.isDangerous) {
      const yes = dialog?.querySelector("button[type=submit]");
      if (yes instanceof HTMLElement) yes.focus();
    }
    return () => {
      dialog?.close();
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, [asked]);
  if (asked === undefined) return html`<dialog ref=${box} aria-label="Question"></dialog>`;
  const close = () => question.value = undefined;
  const isReady = asked.typed === undefined || typed.replace(/\D/g, "") === String(asked.typed);
  return html`<dialog ref=${box} aria-labelledby="asked" onCancel=${close} onClose=${close}>
    <form method="dialog" onSubmit=${(/** @type {Event} */ event) => {
    event.preventDefault();
    if (!isReady) return;
    close();
    asked.act();
  }}>
    <h2 id="asked">${asked.title}</h2><p>${asked.text}</p>
    ${asked.typed !== undefined && html`<label class="f">Type the number of minions, ${count(asked.typed)}<input class="in num" inputmode="numeric" value=${typed} onInput=${
    (/** @type {{ target: HTMLInputElement }} */ event) => setTyped(event.target.value)
  } /></label>`}
    <div class="row end"><button type="button" class="btn" onClick=${close}>Not now</button><button type="submit" class=${`btn ${asked.isDangerous ? "danger" : "pri"}`} disabled=${!isReady}>${asked.yes}</button></div></form></dialog>`;
}

/** What was just done, in a few words. */
export const said = signal("");
/** @type {number | undefined} */
let saidTimer;

/** @param {string} text */
export function say(text) {
  said.value = text;
  clearTimeout(saidTimer);
  saidTimer = setTimeout(() => said.value = "", 3500);
}

/** @param {string} text @param {string} what */
export async function copy(text, what) {
  try {
    await navigator.clipboard.writeText(text);
    say(`${what} copied`);
  } catch {
    say("The browser does not let this page copy");
  }
}

/** @param {string} name @param {string} type @param {string} text */
export function download(name, type, text) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

/** @param {number} number */
export function count(number) {
  return number.toLocaleString("en-US");
}

/** @param {number} number @param {string} one @param {string} [many] */
export function counted(number, one, many = `${one}s`) {
  return `${count(number)} ${number === 1 ? one : many}`;
}

/** @param {number} ms */
export function duration(ms) {
  const s = ms / 1000;
  if (s < 60) return `${s.toFixed(1)} s`;
  if (s < 3600) return `${Math.floor(s / 60)} min ${Math.floor(s % 60)} s`;
  return `${Math.floor(s / 3600)} h ${Math.floor(s % 3600 / 60)} min`;
}

/** The start of a job, in milliseconds since the epoch; NaN for another text. @param {string} jid */
export function jidTime(jid) {
  const parts = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)(\d{3})/.exec(jid)?.slice(1).map(Number);
  if (parts === undefined) return NaN;
  const [year, month, day, hour, minute, second, ms] = parts;
  return Date.UTC(year, month - 1, day, hour, minute, second, ms);
}

/** A time: relative under a day, the exact one as its title. @param {{ ms: number }} props */
export function Ago({ ms }) {
  if (Number.isNaN(ms)) return html`<span class="dim">unknown</span>`;
  const exact = new Date(ms);
  return html`<time class="num" datetime=${exact.toISOString()} title=${`${timeText(ms)} (${exact.toISOString()})`}>${agoText(ms)}</time>`;
}

/** A day and, if it is wanted, the time, in words that are the same in every browser. @param {number} ms @param {boolean} [isDay] */
export function timeText(ms, isDay = false) {
  const day = new Date(ms).toLocaleDateString("en-GB", { day: "numeric", month: "long", year: "numeric" });
  return isDay ? day : `${day}, ${new Date(ms).toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit" })}`;
}

/** A target in a few words: of a list of names the first ones. @param {string} target */
export function targetText(target) {
  const names = target.split(",");
  const isList = names.length > 2 && names.every((name) => /^[\w.-]+$/.test(name));
  return isList ? `${names[0]} and ${count(names.length - 1)} more` : target;
}

/** @param {number} ms */
export function agoText(ms) {
  const s = Math.max(0, (Date.now() - ms) / 1000);
  if (s < 60) return `${Math.floor(s)} s ago`;
  if (s < 3600) return `${Math.floor(s / 60)} min ago`;
  if (s < 86_400) return `${Math.floor(s / 3600)} h ago`;
  return new Date(ms).toLocaleDateString("en-GB", { day: "numeric", month: "long" });
}

/** A word of a shell. @param {string} text */
export function shellWord(text) {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

/** A value as text. @param {unknown} value */
export function plain(value) {
  return typeof value === "string" ? value : JSON.stringify(value, undefined, 2) ?? "";
}

/** @param {unknown} error */
export function messageOf(error) {
  return error instanceof Error ? error.message : String(error);
}

/** @typedef {{ page: string, rest: string[], query: URLSearchParams }} Route */

/** The page in the URL, so that a reload, "back" and a link show the same. */
export const route = signal(readRoute());

/** @returns {Route} */
function readRoute() {
  const [path, query = ""] = location.hash.replace(/^#\/?/, "").split("?");
  const [page, ...rest] = path.split("/").map(decodeURIComponent);
  return { page: page === "" ? "fleet" : page, rest, query: new URLSearchParams(query) };
}

addEventListener("hashchange", () => route.value = readRoute());

/** The URL of a page. @param {string[]} path @param {Record<string, string>} [query] */
export function link(path, query = {}) {
  const set = Object.entries(query).filter(([, value]) => value !== "");
  const text = new URLSearchParams(set).toString();
  return `#/${path.map(encodeURIComponent).join("/")}${text === "" ? "" : `?${text}`}`;
}

/** @param {string[]} path @param {Record<string, string>} [query] */
export function goTo(path, query) {
  location.hash = link(path, query);
}

/** Changes the query of this page; "back" does not step through it. @param {Record<string, string>} query */
export function setQuery(query) {
  const { page, rest, query: before } = route.peek();
  const all = { ...Object.fromEntries(before), ...query };
  history.replaceState(null, "", link([page, ...rest], all));
  route.value = readRoute();
}
