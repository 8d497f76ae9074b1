/**
 * The fleet, from the master's own tables: `/api/v1/minions`, and who a target means: `/api/v1/targets/preview`.
 * A user sees the minions that the rules reach.
 * @module
 */

import { fromWireArgs, toWireArgs } from "#lib/yaml/arguments.ts";
import { ApiError } from "#lib/api/http/api_error.ts";
import type { ApiParts, ApiRequest, Methods, ValueReply } from "#lib/api/endpoints/endpoint.ts";
import { t } from "#lib/api/http/json_schema.ts";
import type { MinionJob } from "#lib/api/endpoints/job_index.ts";
import { UserRights } from "#lib/api/endpoints/rights.ts";
import { DataCache } from "#lib/fleet/data_cache.ts";
import { type Presence, readPresence } from "#lib/fleet/presence_file.ts";
import { type KnownFleet, type Resolved, resolveTarget } from "#lib/fleet/resolve_target.ts";
import { TargetError, UsageError } from "#lib/errors.ts";
import { asList } from "#lib/values/shape.ts";
import { compareStrings, isMap, map, str, type Value, type ValueMap } from "#lib/values/value.ts";
import { checkedBody } from "./checked_body.ts";
import { limitOf, NEXT, PAGE_QUERY, pageOf } from "./pages.ts";

/** Ids that an answer names; the others are counted. */
const MAX_NAMED = 1_000;
const STATUSES = ["connected", "disconnected"];
const SORTS = ["id", "-id", "since", "-since"];

const MINION = t.object({
  id: t.text(),
  connected: t.bool(),
  since: t.orNull(t.number("Seconds since the epoch: since when it is connected, or is not; null: not known.")),
  version: t.orNull(t.text("The version of its Salt.")),
  os: t.orNull(t.text()),
  last: t.orNull(t.named("MinionJob")),
});

/** The path `/api/v1/minions`. */
export const FLEET: Methods = {
  GET: {
    summary: "The accepted minions, page by page.",
    needs: "session",
    rights: "see the minion: rules that reach it, or @wheel",
    onlyJson: true,
    query: {
      ...PAGE_QUERY,
      target: t.text("A target; default: all."),
      type: t.text("Its type. Default: glob."),
      status: t.oneOf(STATUSES, "Only those."),
      sort: t.oneOf(SORTS, "Default: id."),
    },
    answers: [{
      doc: "A page, and the number of all.",
      schema: t.object({ minions: t.list(MINION), total: t.int(), connected: t.int(), next: NEXT }),
    }],
    errors: [400],
    handle: listFleet,
  },
};

/** The path `/api/v1/minions/ID`. */
export const FLEET_MINION: Methods = {
  GET: {
    summary: "One minion.",
    needs: "session",
    rights: "see the minion",
    onlyJson: true,
    answers: [{ doc: "The minion.", schema: MINION }],
    async handle(request, parts) {
      const { id, rights } = seenMinion(request, parts);
      return { value: await shownMinion(id, readPresence(parts.opts.cachedir), viewOf(rights, parts)) };
    },
  },
};

/** The path `/api/v1/minions/ID/grains`. */
export const FLEET_GRAINS: Methods = {
  GET: {
    summary: "The grains of a minion, as the master knows them.",
    needs: "session",
    rights: "run grains.items on the minion",
    onlyJson: true,
    answers: [{ doc: "The grains.", schema: t.object({ id: t.text(), grains: t.mapOf(t.any()) }) }],
    handle(request, parts) {
      const { id, rights } = seenMinion(request, parts);
      if (!rights.mayPublish([{ fun: "grains.items", arg: [] }], [id])) {
        throw new ApiError(401, "Authorization error occurred: grains.items");
      }
      return { value: map({ id, grains: dataOf(parts).get(id)?.grains ?? new Map() }) };
    },
  },
};

/** The path `/api/v1/minions/ID/jobs`. */
export const FLEET_JOBS: Methods = {
  GET: {
    summary: "The jobs of a minion, the newest first: of others too, with the right to list jobs.",
    needs: "session",
    rights: "see the minion",
    onlyJson: true,
    query: PAGE_QUERY,
    answers: [{ doc: "A page.", schema: t.object({ jobs: t.list(t.named("MinionJob")), next: NEXT }) }],
    errors: [400],
    async handle(request, parts) {
      const { id, rights } = seenMinion(request, parts);
      const after = request.query.get("after");
      const jobs = (await parts.jobs.ofMinion(id)).filter(viewOf(rights, parts).sees);
      const { page, next } = pageOf(jobs, {
        limit: limitOf(request.query),
        isAfter: ({ jid }) => after === null || jid < after,
        cursor: ({ jid }) => jid,
      });
      return { value: map({ jobs: page.map((job) => shownJob(job, parts)), next }) };
    },
  },
};

/** The path `/api/v1/targets/preview`. */
export const TARGET_PREVIEW: Methods = {
  POST: {
    summary: "Who would run a function, before it runs.",
    needs: "session",
    onlyJson: true,
    body: t.object({
      tgt: t.any("The target."),
      tgt_type: t.optional(t.text("Default: glob.")),
      fun: t.optional(t.text("The function; without it `allowed` is about test.ping.")),
      arg: t.optional(t.list(t.any())),
      kwarg: t.optional(t.mapOf(t.any())),
    }),
    answers: [{
      doc: `The minions, at most ${MAX_NAMED} by name.`,
      schema: t.object({
        minions: t.list(t.text()),
        total: t.int(),
        connected: t.int(),
        missing: t.list(t.text("Ids of a list that no accepted key has.")),
        allowed: t.bool("Whether the user may run the function on them."),
        explain: t.list(t.text("What to know before it runs, a sentence each.")),
      }),
    }],
    handle: previewTarget,
  },
};

function dataOf({ opts, log }: ApiParts): DataCache {
  return new DataCache(opts.cachedir, { log: log.warning });
}

/** @throws {ApiError} 404 for a minion that is not there, or that the user does not see. */
function seenMinion(request: ApiRequest, parts: ApiParts): { readonly id: string; readonly rights: UserRights } {
  const rights = UserRights.of(request, parts);
  const { id } = request.params;
  if (!rights.minions().has(id)) throw new ApiError(404, "There is no such minion");
  return { id, rights };
}

/** What the pages of minions come from, and which of their jobs the user sees. */
interface View {
  readonly parts: ApiParts;
  sees(job: MinionJob): boolean;
}

function viewOf(rights: UserRights, parts: ApiParts): View {
  const sees = rights.seenJobs();
  return { parts, sees: ({ jid }) => sees(parts.jobs.get(jid)?.user) };
}

/** @throws {ApiError} 400 for a target that cannot be read. */
function resolved(tgt: Value, tgtType: string, fleet: KnownFleet): Resolved {
  try {
    return resolveTarget({ tgt, tgtType }, fleet);
  } catch (error) {
    if (error instanceof TargetError || error instanceof UsageError) throw new ApiError(400, error.message);
    throw error;
  }
}

async function listFleet(request: ApiRequest, parts: ApiParts): Promise<ValueReply> {
  const { query } = request;
  const rights = UserRights.of(request, parts);
  const [status, sort] = [choiceOf(query, "status", STATUSES), choiceOf(query, "sort", SORTS) ?? "id"];
  const seen = rights.minions();
  const presence = readPresence(parts.opts.cachedir);
  const target = query.get("target");
  const wanted = target === null ? [...seen] : resolved(target, query.get("type") ?? "glob", rights.fleet).minions;
  const all = wanted.filter((id) =>
    seen.has(id) && (status === undefined || isConnected(id, presence) === (status === "connected"))
  );
  const descending = sort.startsWith("-") ? -1 : 1;
  const key = sort.endsWith("since")
    ? (id: string) => String(sinceMs(id, presence) ?? 0).padStart(16, "0") + id
    : (id: string) => id;
  const sorted = all.map((id) => ({ id, key: key(id) })).sort((a, b) => descending * compareStrings(a.key, b.key));
  const after = query.get("after");
  const { page, next } = pageOf(sorted, {
    limit: limitOf(query),
    isAfter: (one) => after === null || descending * compareStrings(one.key, after) > 0,
    cursor: (one) => one.key,
  });
  const minions: Value[] = [], view = viewOf(rights, parts);
  for (const { id } of page) minions.push(await shownMinion(id, presence, view));
  const connected = all.filter((id) => isConnected(id, presence)).length;
  return { value: map({ minions, total: all.length, connected, next }) };
}

/** @throws {ApiError} 400 for a word that is none of `words`. */
function choiceOf(query: URLSearchParams, name: string, words: readonly string[]): string | undefined {
  const word = query.get(name);
  if (word === null || words.includes(word)) return word ?? undefined;
  throw new ApiError(400, `${name} must be one of ${words.join(", ")}`);
}

function isConnected(id: string, { present }: Presence): boolean {
  return present.has(id);
}

function sinceMs(id: string, { present, gone }: Presence): number | undefined {
  return present.get(id) ?? gone.get(id);
}

async function shownMinion(id: string, presence: Presence, { parts, sees }: View): Promise<ValueMap> {
  const grains = dataOf(parts).get(id)?.grains;
  const text = (name: string) => {
    const value = grains?.get(name);
    return typeof value === "string" ? value : null;
  };
  const since = sinceMs(id, presence);
  const last = (await parts.jobs.ofMinion(id)).find(sees);
  return map({
    id,
    connected: isConnected(id, presence),
    since: since === undefined ? null : since / 1000,
    version: text("saltversion"),
    os: text("osfinger") ?? text("os"),
    last: last === undefined ? null : shownJob(last, parts),
  });
}

function shownJob({ jid, outcome }: { readonly jid: string; readonly outcome?: string }, { jobs }: ApiParts): ValueMap {
  return map({ jid, fun: jobs.get(jid)?.fun ?? null, outcome: outcome ?? null });
}

function previewTarget(request: ApiRequest, parts: ApiParts): ValueReply {
  const body = checkedBody(request, ["tgt", "tgt_type", "fun", "arg", "kwarg"]);
  const [tgt, fun, kwarg] = [body.get("tgt"), body.get("fun") ?? "test.ping", body.get("kwarg") ?? new Map()];
  if (tgt === undefined || tgt === null) throw new ApiError(400, "tgt is needed");
  if (typeof fun !== "string") throw new ApiError(400, "fun must be a text");
  if (!isMap(kwarg)) throw new ApiError(400, "kwarg must be a map");
  const rights = UserRights.of(request, parts);
  const tgtType = str(body.get("tgt_type") ?? "glob"), reached = rights.minions();
  // Of the others the user learns nothing: they are as those that are not there.
  const ids = rights.fleet.ids.filter((id) => reached.has(id));
  const { minions: seen, missing, byData, unknown } = resolved(tgt, tgtType, { ...rights.fleet, ids });
  const arg = toWireArgs(asList(body.get("arg") ?? []), kwarg);
  const { ambiguity } = fromWireArgs(arg);
  const { minions } = resolved(tgt, tgtType, rights.fleet);
  const allowed = ambiguity === undefined && rights.mayPublish([{ fun, arg }], minions);
  const presence = readPresence(parts.opts.cachedir);
  const connected = seen.filter((id) => isConnected(id, presence)).length;
  const explain = [
    ...seen.length === 0 ? ["No accepted minion matches."] : [],
    ...connected < seen.length ? [`${seen.length - connected} of ${seen.length} are not connected.`] : [],
    ...missing.length > 0 ? [`${missing.length} ids of the list have no accepted key.`] : [],
    ...byData ? ["Grains or pillar decide: a minion whose data have changed may decide otherwise."] : [],
    ...unknown.length > 0 ? [`Of ${unknown.length} minions no data are known; they may run it.`] : [],
    ...ambiguity !== undefined ? [ambiguity] : [],
    ...allowed ? [] : [`You may not run ${fun} on all that match.`],
  ];
  const value = {
    minions: seen.slice(0, MAX_NAMED),
    total: seen.length,
    connected,
    missing: missing.slice(0, MAX_NAMED),
  };
  return { value: map({ ...value, allowed, explain }) };
}
