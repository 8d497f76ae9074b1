/**
 * Access rules, compared with the answers of Python Salt: tests/corpus/auth_rules.json.
 * @module
 */

import { authList } from "#lib/auth/auth_list.ts";
import { allowsJob, allowsMasterCall, publishCalls } from "#lib/auth/rules.ts";
import { idsOf } from "#lib/master/requests/rule_targets.ts";
import { isMap, repr, str, toValue, type Value } from "#lib/values/value.ts";
import { assert, assertEquals } from "#tests/support/assert.ts";
import { asMap } from "#tests/support/fleet/scripted_minion.ts";

/** One row: the kind, the rules, the request, Salt's answer. */
type Row = readonly [
  what: "job" | "master" | "list",
  rules: unknown,
  question: Record<string, unknown>,
  answer: unknown,
];

const CORPUS: { readonly ids: readonly string[] } & Record<Group, readonly Row[]> = JSON.parse(
  Deno.readTextFileSync(new URL("../corpus/auth_rules.json", import.meta.url)),
);
type Group = "jobs" | "targets" | "master" | "lists" | "prefix" | "compound";

function list(value: unknown): readonly Value[] {
  const converted = toValue(value ?? []);
  assert(Array.isArray(converted));
  return converted;
}

/** Our answer to a row's request. */
function answer([what, rules, question]: Row): Value {
  if (what === "list") {
    const groups = list(question.groups).map(str);
    return authList(asMap(toValue(rules)), str(toValue(question.user)), groups);
  }
  if (what === "job") {
    const calls = publishCalls(toValue(question.fun), list(question.arg));
    const matching = (expression: string) => idsOf(expression, { ids: CORPUS.ids, nodegroups: new Map() });
    return allowsJob(list(rules), calls, { minions: list(question.minions).map(str), matching });
  }
  const kwargs = toValue(question.kwarg ?? null);
  return allowsMasterCall(list(rules), {
    form: question.form === "wheel" ? "wheel" : "runner",
    fun: str(toValue(question.fun)),
    args: [...list(question.arg)],
    kwargs: isMap(kwargs) ? kwargs : new Map(),
  });
}

function disagreements(group: Group): string[] {
  return CORPUS[group].flatMap((row) => {
    const [ours, theirs] = [repr(answer(row)), repr(toValue(row[3]))];
    return ours === theirs ? [] : [`${JSON.stringify(row)}: ${ours}`];
  });
}

for (const group of ["jobs", "targets", "master", "lists"] as const) {
  Deno.test(`rules allow what Python Salt allows: ${CORPUS[group].length} questions about ${group}`, () => {
    assertEquals(disagreements(group), []);
  });
}

Deno.test("a rule must match a whole name or argument; in Salt it needs to match only the beginning", () => {
  assertEquals(CORPUS.prefix.map((row) => [row[3], answer(row)]), CORPUS.prefix.map(() => [true, false]));
});

Deno.test("every function of a compound job must be allowed, where Salt's rules allow all of them if one is", () => {
  assertEquals(CORPUS.compound.map((row) => [row[3], answer(row)]), CORPUS.compound.map(() => [true, false]));
});

Deno.test("a rule whose conditions on arguments are of the wrong type allows nothing", () => {
  const call = { fun: "touch", arg: ["/x"] };
  const allowed = (args: unknown) =>
    answer(["job", [{ "*": [{ touch: [args] }] }], { ...call, minions: ["web1"] }, null]);
  assertEquals(allowed({ args: ["/x"] }), true);
  for (const wrong of [{ args: "/x" }, { args: 1 }, { kwargs: ["/x"] }, { kwargs: "/x" }, "/x", null]) {
    assertEquals(allowed(wrong), false, JSON.stringify(wrong));
  }
});
