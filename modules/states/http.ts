/**
 * State module `http`: what a web server answers. Nothing of the host is changed.
 * Source: Salt 3008.3 `salt/states/http.py`.
 * @module
 */

import { sleep } from "#lib/os/sleep.ts";
import type { StateContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { failState, stateFn, type StateResult } from "#lib/plugins/state_module.ts";
import { pythonRegex } from "#lib/regex/regex.ts";
import { hasMatch } from "#lib/regex/replace.ts";
import { isMap, str, toNumber, truthy, type Value, type ValueMap } from "#lib/values/value.ts";

/** What the answer is to be. */
interface Expected {
  readonly match: Value;
  readonly match_type: string;
  readonly status: Value;
  readonly status_type: string;
}

const PARAMS = {
  name: p.str(),
  match: p.any(null),
  match_type: p.str("string"),
  status: p.any(null),
  status_type: p.str("string"),
};

const DOC = `name
    The URL.

match
    What the text of the answer has.

match_type : string
    string, or pcre: a regular expression.

status
    The status of the answer.

status_type : string
    string, list or pcre.

More keywords are those of http.query.`;

/** What is said of an answer. */
class Judgement {
  result: boolean | null = null;
  readonly comments: string[] = [];

  say(holds: boolean, comment: string): void {
    this.comments.push(comment);
    if (!holds) this.result = false;
    else this.result ??= true;
  }
}

function judge(data: ValueMap, { match, match_type, status, status_type }: Expected): Judgement {
  const judgement = new Judgement();
  const body = str(data.get("text") ?? ""), code = str(data.get("status") ?? "");
  const matches = (pattern: Value, of: string) => hasMatch(pythonRegex(str(pattern), { search: true }), of);
  if (match !== null && match_type === "string") {
    const holds = body.includes(str(match));
    judgement.say(holds, `Match text "${str(match)}" was ${holds ? "" : "not "}found.`);
  } else if (match !== null && match_type === "pcre") {
    const holds = matches(match, body);
    judgement.say(holds, `Match pattern "${str(match)}" was ${holds ? "" : "not "}found.`);
  }
  if (status !== null && status_type === "list") {
    const statuses = Array.isArray(status) ? status.map(str) : [...str(status)];
    for (const one of statuses) if (one === code) judgement.say(true, `Status ${one} was found.`);
    if (judgement.result !== true) judgement.say(false, `Statuses ${str(status)} were not found.`);
  } else if (status !== null && status_type === "pcre") {
    const holds = matches(status, code);
    judgement.say(holds, `Status pattern "${str(status)}" was ${holds ? "" : "not "}found.`);
  } else if (status !== null && status_type === "string") {
    const holds = code === str(status);
    judgement.say(holds, `Status ${str(status)} was ${holds ? "" : "not "}found.`);
  }
  return judgement;
}

interface Query extends Expected {
  readonly name: string;
  readonly wait_for: Value;
}

async function ask(
  { name, wait_for, ...expected }: Query,
  kwargs: ValueMap,
  context: StateContext,
): Promise<StateResult> {
  if (expected.match === null && expected.status === null) {
    return { ...failState(name, " Either match text (match) or a status code (status) is required."), data: new Map() };
  }
  const query: ValueMap = new Map<Value, Value>([["decode", false], ...kwargs, ["text", true], ["status", true]]);
  if (context.test) query.set("test", true);
  const answer = truthy(wait_for)
    ? await context.call("http.wait_for_successful_query", [name], new Map([...query, ["wait_for", wait_for]]))
    : await context.call("http.query", [name], query);
  const data = isMap(answer) ? answer : new Map<Value, Value>();
  const { result, comments } = judge(data, expected);
  const comment = comments.join(" ");
  if (!context.test) return { name, result, comment, changes: new Map(), data };
  const url = kwargs.has("test_url") ? `, TEST URL WAS: ${str(kwargs.get("test_url") ?? null)}` : "";
  return { name, result: null, comment: `${comment} (TEST MODE${url})`, changes: new Map(), data };
}

export const query: ModuleFunction<StateContext> = stateFn({
  doc: `Send a request, and succeed if the response is as expected. The response is in the result's \`data\`.

${DOC}

wait_for
    The maximum time in seconds for repeating a request that fails.`,
  params: { ...PARAMS, wait_for: p.any(null) },
  varKwargs: "kwargs",
  run: (given, context, { kwargs }) => ask(given, kwargs, context),
});

/** What the answer is to be, taken out of other keywords. */
function expectedOf(given: ValueMap): { readonly expected: Expected; readonly kwargs: ValueMap } {
  const kwargs: ValueMap = new Map(given);
  const take = (key: string): Value => {
    const value = kwargs.get(key) ?? null;
    kwargs.delete(key);
    return value;
  };
  const type = (key: string) => str(take(key) ?? "string");
  const expected = {
    match: take("match"),
    match_type: type("match_type"),
    status: take("status"),
    status_type: type("status_type"),
  };
  return { expected, kwargs };
}

/** Seconds between two requests if the state says nothing; Salt asks again at once. */
const INTERVAL = 0.1;

export const wait_for_successful_query: ModuleFunction<StateContext> = stateFn({
  doc: `Repeat a request until the response is as expected.

${DOC}

wait_for : 300
    The maximum time in seconds.

request_interval
    Seconds between two requests.`,
  params: { name: PARAMS.name, wait_for: p.float(300) },
  varKwargs: "kwargs",
  run: async ({ name, wait_for }, context, rest) => {
    const { expected, kwargs } = expectedOf(rest.kwargs);
    const end = performance.now() + wait_for * 1000;
    const interval = toNumber(kwargs.get("request_interval")) ?? INTERVAL;
    for (;;) {
      let thrown: unknown;
      let ret: StateResult | undefined;
      try {
        ret = await ask({ name, ...expected, wait_for: null }, kwargs, context);
        if (ret.result === true) return ret;
      } catch (error) {
        thrown = error;
      }
      if (performance.now() > end) {
        if (ret === undefined) throw thrown;
        return ret;
      }
      await sleep(interval * 1000, context.signal);
    }
  },
});
