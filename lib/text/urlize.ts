/**
 * Links for the addresses in a text: Jinja's `urlize`.
 * Source: jinja2 3.1, "urlize".
 * @module
 */

import { escapeHtml } from "./html.ts";

/** Options of the links. */
export interface UrlizeOptions {
  /** Longer addresses are shortened. */
  readonly limit: number | undefined;
  readonly rel: string;
  readonly target: string | undefined;
  /** Additional schemes besides those of the web and of mail: `tel:`. */
  readonly schemes: readonly string[];
}

const TAIL = "(?::\\d{1,5})?(?:[/?#]\\S*)?$";
const WEB = [
  new RegExp(`^(?:https?://|www\\.)(?:(?:[\\w%-]+\\.)+)?(?:[a-z]{2,63}|xn--[\\w%]{2,59})${TAIL}`, "i"),
  new RegExp(`^(?:[\\w%-]{2,63}\\.)+(?:com|net|int|edu|gov|org|info|mil)${TAIL}`, "i"),
  new RegExp(
    `^https?://(?:\\d{1,3}(?:\\.\\d{1,3}){3}|\\[(?:[\\da-f]{0,4}:){2}(?:[\\da-f]{0,4}:?){1,6}\\])${TAIL}`,
    "i",
  ),
];
const MAIL = /^\S+@\w[\w.-]*\.\w+$/;

/** Longer words are not searched for addresses, because that would take too long. */
const LONGEST = 2_000;

/** @param escaped The text, escaped already. */
export function urlize(escaped: string, options: UrlizeOptions): string {
  return escaped.split(/(\s+)/).map((word) => word.length > LONGEST ? word : linkWord(word, options)).join("");
}

/** Where the closing marks and the punctuation at the end of a word begin. */
function endOfMiddle(word: string): number {
  let end = word.length;
  while (end > 0) {
    if (")>.,\n".includes(word[end - 1])) end--;
    else if (word.endsWith("&gt;", end)) end -= 4;
    else break;
  }
  return end;
}

function linkWord(word: string, options: UrlizeOptions): string {
  const head = /^(?:[(<]|&lt;)+/.exec(word)?.[0] ?? "";
  let middle = word.slice(head.length);
  const end = endOfMiddle(middle);
  let tail = middle.slice(end);
  middle = middle.slice(0, end);
  for (const [open, close] of [["(", ")"], ["<", ">"], ["&lt;", "&gt;"]]) {
    const opened = count(middle, open);
    if (opened <= count(middle, close)) continue;
    for (let i = Math.min(opened, count(tail, close)); i > 0; i--) {
      const end = tail.indexOf(close) + close.length;
      middle += tail.slice(0, end);
      tail = tail.slice(end);
    }
  }
  return head + link(middle, options) + tail;
}

function count(text: string, part: string): number {
  return text.split(part).length - 1;
}

function link(text: string, { limit, rel, target, schemes }: UrlizeOptions): string {
  const attributes = (rel === "" ? "" : ` rel="${escapeHtml(rel)}"`) +
    (target === undefined ? "" : ` target="${escapeHtml(target)}"`);
  const shown = limit !== undefined && text.length > limit ? `${text.slice(0, limit)}...` : text;
  if (WEB.some((pattern) => pattern.test(text))) {
    const url = /^https?:\/\//.test(text) ? text : `https://${text}`;
    return `<a href="${url}"${attributes}>${shown}</a>`;
  }
  if (text.startsWith("mailto:") && MAIL.test(text.slice(7))) return `<a href="${text}">${text.slice(7)}</a>`;
  if (text.includes("@") && !text.startsWith("www.") && text[0] !== "@" && !text.includes(":") && MAIL.test(text)) {
    return `<a href="mailto:${text}">${text}</a>`;
  }
  const scheme = schemes.find((each) => text !== each && text.startsWith(each));
  return scheme === undefined ? text : `<a href="${text}"${attributes}>${text}</a>`;
}
