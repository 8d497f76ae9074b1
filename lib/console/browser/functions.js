/**
 * Functions of minions: their names, parameters and documentation, who may call them, how risky they are, and how a
 * call is typed on the command line.
 * @module
 */

import { askMinions } from "./api.js";
import { shellWord } from "./parts.js";
import { useEffect, useState } from "./vendor/hooks.js";

/** @typedef {{ name: string, type: "bool" | "number" | "any", isNeeded: boolean, shown: string }} Field */
/** @typedef {{ fields: Field[], takesMore: boolean, doc: string }} Signature */

/** What was asked of a minion, by question. @type {Map<string, Promise<any>>} */
const answers = new Map();

/**
 * The answer of one minion, asked once.
 * @param {string} id
 * @param {string} fun
 * @param {unknown[]} [arg]
 */
function askOnce(id, fun, arg = []) {
  const question = JSON.stringify([fun, arg]);
  const asked = answers.get(question) ?? askMinions({ tgt: id, tgt_type: "list", fun, arg }).then((found) => found[id]);
  answers.set(question, asked);
  asked.then((answer) => answer === undefined && answers.delete(question), () => answers.delete(question));
  return asked;
}

/** The functions that a minion has. @param {string | undefined} id @returns {string[]} */
export function useFunctions(id) {
  const [names, setNames] = useState(/** @type {string[]} */ ([]));
  useEffect(() => {
    if (id === undefined) return;
    // Without the right to ask, one types the name.
    askOnce(id, "sys.list_functions").then((found) => Array.isArray(found) && setNames(found), () => {});
  }, [id]);
  return names;
}

/** The parameters of a function. @param {string} fun @param {string | undefined} id */
export function useSignature(fun, id) {
  const [found, setFound] = useState(/** @type {{ fun: string, signature: Signature } | undefined} */ (undefined));
  useEffect(() => {
    if (id === undefined || !/^\w+\.\w+$/.test(fun)) return;
    let isCurrent = true;
    const timer = setTimeout(() => {
      Promise.all([askOnce(id, "sys.argspec", [fun]), askOnce(id, "sys.doc", [fun])]).then(([specs, docs]) => {
        if (isCurrent && specs?.[fun] !== undefined) setFound({ fun, signature: signatureOf(specs[fun], docs?.[fun] ?? "") });
      }, () => {});
    }, 250);
    return () => {
      isCurrent = false;
      clearTimeout(timer);
    };
  }, [fun, id]);
  return found?.fun === fun ? found.signature : undefined;
}

/**
 * @param {{ args: string[] | null, defaults: unknown[] | null, varargs: unknown, kwargs: unknown }} spec
 * @param {string} doc
 * @returns {Signature}
 */
function signatureOf({ args, defaults, varargs, kwargs }, doc) {
  const names = args ?? [], usual = defaults ?? [];
  const fields = names.map((name, i) => {
    const at = i - (names.length - usual.length), isNeeded = at < 0, value = isNeeded ? undefined : usual[at];
    const type = typeof value === "boolean" ? "bool" : typeof value === "number" ? "number" : "any";
    return /** @type {Field} */ ({ name, type, isNeeded, shown: isNeeded ? "" : pythonText(value) });
  });
  return { fields, takesMore: Boolean(varargs) || Boolean(kwargs), doc: String(doc).trim() };
}

/** @param {unknown} value */
function pythonText(value) {
  if (value === null || value === undefined) return "none";
  if (typeof value === "boolean") return value ? "True" : "False";
  return typeof value === "string" ? value : JSON.stringify(value);
}

/**
 * The value of a text that one typed.
 * @param {string} text
 * @param {Field["type"]} type
 * @returns {{ value?: unknown, problem?: string }}
 */
export function fieldValue(text, type) {
  if (/^(true|false)$/i.test(text)) return { value: text.toLowerCase() === "true" };
  if (type === "number") {
    return text.trim() !== "" && Number.isFinite(Number(text)) ? { value: Number(text) } : { problem: "This must be a number." };
  }
  if (type === "bool") return { problem: "This must be True or False." };
  if (/^-?(0|[1-9]\d*)(\.\d+)?$/.test(text)) return { value: Number(text) };
  if (!/^[[{]/.test(text)) return { value: text };
  try {
    return { value: JSON.parse(text) };
  } catch {
    return { value: text };
  }
}

/**
 * Whether a user may call a function of a minion, as far as the log-in says; the API decides.
 * @param {unknown} perms
 * @param {string} fun
 */
export function mayCall(perms, fun) {
  if (perms === undefined || fun === "") return true;
  const rules = Array.isArray(perms) ? perms : [];
  return rules.some((rule) => typeof rule === "string" ? allows(rule, fun) : Object.values(rule ?? {}).flat().some((one) =>
    typeof one === "string" ? allows(one, fun) : Object.keys(one ?? {}).some((name) => allows(name, fun))
  ));
}

/** @param {string} rule @param {string} fun */
function allows(rule, fun) {
  if (rule.startsWith("@")) return false;
  try {
    return new RegExp(`^(?:${rule})$`).test(fun);
  } catch {
    return true;
  }
}

/** @typedef {{ kind: "reads" | "changes" | "any", title: string, text: string }} Risk */

/** @type {readonly [RegExp, Risk][]} */
const RISKS = [
  [/^(cmd|ssh|dockercompose|docker)\.|^cp\.push|^salt\.|^module\.run/, {
    kind: "any",
    title: "Any command.",
    text: "It runs as the minion's user, usually root, and is kept with the job, word for word.",
  }],
  [/\.(restart|stop|reboot|shutdown|poweroff|halt|kill\w*)$/, {
    kind: "changes",
    title: "Interrupts service.",
    text: "What it stops is not there until it is started again.",
  }],
  [/^state\.(test|show_\w+|plan|list_\w+|check_\w+)$|\.(list\w*|get\w*|items?|keys|show\w*|status|version\w*|info\w*|ls|find\w*|has_\w+|is_\w+|exists|available|enabled|running|ping|echo|doc|argspec)$|^(test|sys|grains\.item\w*|status|network|disk)\./, {
    kind: "reads",
    title: "Reads.",
    text: "It changes nothing on the hosts, and starts at once.",
  }],
];

/** How risky a function is, in words. @param {string} fun @returns {Risk} */
export function riskOf(fun) {
  return RISKS.find(([pattern]) => pattern.test(fun))?.[1] ??
    { kind: "changes", title: "Changes hosts.", text: "It may change the hosts that are named." };
}

/**
 * A call as one types it.
 * @param {{ tgt: string, flag: string, fun: string, arg: unknown[], kwarg: Record<string, unknown>, atOnce?: string }} call
 */
export function commandText({ tgt, flag, fun, arg, kwarg, atOnce = "all" }) {
  const words = [...arg.map(valueText), ...Object.entries(kwarg).map(([name, value]) => `${name}=${valueText(value)}`)];
  const options = atOnce === "all" ? "" : ` -b ${atOnce}`;
  const target = shellWord(tgt), rest = `${words.map((word) => ` ${shellWord(word)}`).join("")}${options}`;
  return { target, rest, whole: `salt ${flag === "" ? "" : `${flag} `}${target} ${fun}${rest}` };
}

/** @param {unknown} value */
function valueText(value) {
  if (typeof value === "boolean") return value ? "True" : "False";
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** The same as a request. @param {{ tgt: string[], fun: string, arg: unknown[], kwarg: Record<string, unknown> }} call */
export function curlText({ tgt, fun, arg, kwarg }) {
  const low = { client: "local_async", tgt, tgt_type: "list", fun, arg, kwarg };
  const body = shellWord(JSON.stringify([low]));
  return `curl -s ${new URL("../", document.baseURI)} -H 'X-Auth-Token: TOKEN' -H 'Content-Type: application/json' -d ${body}`;
}
