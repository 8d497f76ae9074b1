/**
 * Plans of states: `/api/v1/plans`. A plan is made of a test run on each minion, and applied as it is: a minion on
 * which it would be another one by then is skipped and named.
 * @module
 */

import type { ApiParts, ApiRequest, Methods, ValueReply } from "#lib/api/endpoints/endpoint.ts";
import type { FleetPlan } from "#lib/api/endpoints/plans.ts";
import { provenToken } from "#lib/api/endpoints/proven.ts";
import { ApiError } from "#lib/api/http/api_error.ts";
import { t } from "#lib/api/http/json_schema.ts";
import { isMap, map, str, type Value, type ValueMap } from "#lib/values/value.ts";
import { checkedBody } from "./checked_body.ts";
import { fullReturns, isReturn } from "./full_returns.ts";

const PLAN = {
  hash: t.text("Names the plan: of all its minions."),
  made: t.number("Seconds since the epoch."),
  minions: t.mapOf(t.text(), "The plan of each minion."),
};

/** The path `/api/v1/plans`. */
export const PLANS: Methods = {
  POST: {
    summary: "Makes a plan: what states would change, on each minion of a target.",
    needs: "session",
    rights: "run state.plan on these minions",
    onlyJson: true,
    body: t.object({
      tgt: t.any("The target."),
      tgt_type: t.optional(t.text("Default: glob.")),
      mods: t.optional(t.list(t.text(), "The states. Default: those of the top file.")),
    }),
    answers: [{
      status: 201,
      doc: "The plan; it may be applied for half an hour.",
      schema: t.object({
        ...PLAN,
        returns: t.mapOf(t.any(), "What state.plan returned."),
        problems: t.list(t.text(), "Ids of minions that have no plan: `returns` says why, or they did not answer."),
      }),
    }],
    errors: [404],
    handle: makePlan,
  },
};

/** The path `/api/v1/plans/HASH`. */
export const PLAN_BY_HASH: Methods = {
  GET: {
    summary: "A plan of this user's.",
    needs: "session",
    onlyJson: true,
    answers: [{ doc: "The plan.", schema: t.object(PLAN) }],
    handle(request, parts) {
      return { value: map(shownPlan(ownPlan(request, parts))) };
    },
  },
};

/** The path `/api/v1/plans/HASH/apply`. */
export const PLAN_APPLY: Methods = {
  POST: {
    summary: "Applies exactly this plan, on all of its minions or on some.",
    needs: "session",
    rights: "run state.apply on these minions",
    onlyJson: true,
    body: t.object({ minions: t.optional(t.list(t.text(), "Only on these. Default: all of the plan.")) }),
    answers: [{
      doc: "What was done. A minion on which the plan would be another one by now is in `skipped`.",
      schema: t.object({
        applied: t.list(t.text()),
        failed: t.list(t.text("A state has failed.")),
        skipped: t.list(t.text("Nothing was changed; `returns` says why.")),
        silent: t.list(t.text("No answer.")),
        returns: t.mapOf(t.any()),
      }),
    }],
    errors: [404],
    handle: applyPlan,
  },
};

function ownerOf(request: ApiRequest): string {
  const { eauth, name } = provenToken(request);
  return `${eauth} ${name}`;
}

async function makePlan(request: ApiRequest, parts: ApiParts): Promise<ValueReply> {
  const body = checkedBody(request, ["tgt", "tgt_type", "mods"]);
  const mods = body.get("mods") ?? [];
  if (!Array.isArray(mods) || mods.some((name) => typeof name !== "string")) {
    throw new ApiError(400, "mods must be a list of texts");
  }
  const low = map({ tgt: body.get("tgt") ?? null, tgt_type: body.get("tgt_type") ?? "glob", fun: "state.plan" });
  if (mods.length > 0) low.set("arg", [mods]);
  const answers = await fullReturns(low, request, parts);
  if (answers.size === 0) throw new ApiError(404, "No minion matches the target, or none answers");
  const plans = new Map<string, string>();
  const returns = new Map<Value, Value>();
  for (const [id, full] of answers) {
    const value = full.get("ret") ?? null;
    returns.set(id, value);
    const hash = planIn(value);
    if (hash !== undefined) plans.set(id, hash);
  }
  const plan = parts.plans.keep(plans, ownerOf(request));
  const problems = [...answers.keys()].filter((id) => !plans.has(id));
  return { value: map({ ...shownPlan(plan), returns, problems }), status: 201 };
}

/** The hash in a return of state.plan. */
function planIn(value: Value): string | undefined {
  const plan = isMap(value) ? value.get("plan") : undefined;
  const hash = isMap(plan) ? plan.get("hash") : plan;
  return typeof hash === "string" ? hash : undefined;
}

function shownPlan({ hash, madeMs, minions }: FleetPlan) {
  return { hash, made: madeMs / 1000, minions: new Map<Value, Value>(minions) };
}

/** @throws {ApiError} 404 if this user has no such plan, or has it no more. */
function ownPlan(request: ApiRequest, { plans }: ApiParts): FleetPlan {
  const plan = plans.get(request.params.hash, ownerOf(request));
  if (plan === undefined) throw new ApiError(404, "There is no such plan; one may be applied for half an hour");
  return plan;
}

async function applyPlan(request: ApiRequest, parts: ApiParts): Promise<ValueReply> {
  const plan = ownPlan(request, parts);
  const wanted = checkedBody(request, ["minions"]).get("minions") ?? [...plan.minions.keys()];
  if (!Array.isArray(wanted)) throw new ApiError(400, "minions must be a list");
  const byHash = new Map<string, string[]>();
  for (const id of new Set(wanted)) {
    const hash = typeof id === "string" ? plan.minions.get(id) : undefined;
    if (hash === undefined || typeof id !== "string") throw new ApiError(400, `The plan has no minion ${str(id)}`);
    byHash.set(hash, [...byHash.get(hash) ?? [], id]);
  }
  const lists: Record<"applied" | "failed" | "skipped" | "silent", string[]> = {
    applied: [],
    failed: [],
    skipped: [],
    silent: [],
  };
  const returns = new Map<Value, Value>();
  for (const [hash, tgt] of byHash) {
    const low = map({ tgt, tgt_type: "list", fun: "state.apply", kwarg: map({ plan: hash }) });
    const answers = await fullReturns(low, request, parts);
    for (const id of tgt) {
      const full = answers.get(id);
      lists[outcomeOf(full)].push(id);
      if (full !== undefined) returns.set(id, full.get("ret") ?? null);
    }
  }
  return { value: map({ ...lists, returns }) };
}

/**
 * A plan that does not fit any more is refused with a text, or a list of them; a run has its states. What did not
 * return may have changed something, and has a text as well.
 */
function outcomeOf(full: ValueMap | undefined): "applied" | "failed" | "skipped" | "silent" {
  if (!isReturn(full)) return "silent";
  if (!isMap(full.get("ret"))) return "skipped";
  return full.get("retcode") === 0 ? "applied" : "failed";
}
