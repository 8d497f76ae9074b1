/**
 * What can be called: `/api/v1/functions`.
 * @module
 */

import type { CataloguedFunction } from "#lib/api/calls/function_catalogue.ts";
import { ApiError } from "#lib/api/http/api_error.ts";
import type { Methods } from "#lib/api/endpoints/endpoint.ts";
import { t } from "#lib/api/http/json_schema.ts";
import { map, type ValueMap } from "#lib/values/value.ts";

const KINDS = ["local", "runner", "wheel"];

const SHORT = {
  kind: t.oneOf(KINDS, "Where it runs."),
  name: t.text(),
  risk: t.oneOf(["reads", "changes", "any command"], "By what it declares; what starts programs counts as changes."),
  summary: t.text(),
};

const WHOLE = t.object({
  ...SHORT,
  doc: t.text(),
  params: t.list(t.object({
    name: t.text(),
    type: t.text(),
    required: t.bool(),
    default: t.optional(t.any()),
  })),
  args: t.orNull(t.text("The name of further arguments by place.")),
  kwargs: t.orNull(t.text("The name of further arguments by name.")),
});

/** The path `/api/v1/functions`. */
export const FUNCTIONS: Methods = {
  GET: {
    summary: "The functions that there are.",
    needs: "session",
    onlyJson: true,
    query: { kind: t.oneOf(KINDS, "Only those.") },
    answers: [{ doc: "Sorted by kind and name.", schema: t.object({ functions: t.list(t.object(SHORT)) }) }],
    async handle({ query }, { functions }) {
      const kind = query.get("kind");
      const all = (await functions.all()).filter((one) => kind === null || one.kind === kind);
      return { value: map({ functions: all.map(short) }) };
    },
  },
};

/** The path `/api/v1/functions/NAME`. */
export const FUNCTION_BY_NAME: Methods = {
  GET: {
    summary: "One function, with its parameters and documentation.",
    needs: "session",
    onlyJson: true,
    query: { kind: t.oneOf(KINDS, "Default: local, else runner, else wheel.") },
    answers: [{ doc: "The function.", schema: WHOLE }],
    async handle({ query, params: { name } }, { functions }) {
      const kind = query.get("kind");
      const all = await functions.all();
      const found = all.find((one) => one.name === name && (kind === null || one.kind === kind));
      if (found === undefined) throw new ApiError(404, "There is no such function");
      return { value: whole(found) };
    },
  },
};

function short({ kind, name, risk, doc }: CataloguedFunction): ValueMap {
  return map({ kind, name, risk, summary: doc.trim().split("\n", 1)[0] });
}

function whole(one: CataloguedFunction): ValueMap {
  const params = Object.entries(one.params).map(([name, { type, default: value }]) =>
    map({ name, type, required: value === undefined, ...value !== undefined && { default: value } })
  );
  const rest = { doc: one.doc, params, args: one.varArgs ?? null, kwargs: one.varKwargs ?? null };
  return new Map([...short(one), ...map(rest)]);
}
