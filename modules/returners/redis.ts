/**
 * Returner `redis`: stores loads and returns in Redis or Valkey, which removes them after `keep_jobs_seconds`.
 * Source: Salt 3007.15 `salt/returners/redis_return.py`.
 * @module
 */

import { formatStartedJob } from "#lib/jobs/listing.ts";
import { p } from "#lib/plugins/module.ts";
import { type ReturnerContext, returnerFn, type ReturnerFunction } from "#lib/plugins/returner.ts";
import { readReturnerJson, returnerJson, returnRow } from "#lib/returners/fields.ts";
import { ReturnerOptions } from "#lib/returners/options.ts";
import { isMap, type Value, type ValueMap } from "#lib/values/value.ts";

/** Milliseconds until a connection is given up. */
const CONNECT_MS = 10_000;
/** Seconds that a minion's entries are kept: its master's option is not known to it. Salt's default. */
const KEEP_S = 86_400;
/** Keys that one step of a scan looks at. */
const SCAN_COUNT = 1000;

const PERMISSIONS = "all";

export const returner: ReturnerFunction = returnerFn({
  doc: "Store the return in Redis. Options: redis.host, .port, .unix_socket_path, .db, .password.",
  params: { ret: p.dict() },
  permissions: PERMISSIONS,
  run: ({ ret }, context) =>
    within(context, ret, async (client) => {
      const { jid, id, fun, full } = returnRow(ret);
      const seconds = keepSeconds(context);
      const last = lastKey(id, fun);
      const all = client.multi()
        .hSet(`ret:${jid}`, id, full)
        .expire(`ret:${jid}`, seconds)
        .sAdd("minions", id);
      if (last !== undefined) all.set(last, jid, { expiration: { type: "EX", value: seconds } });
      await all.exec();
      return null;
    }),
});

export const save_load: ReturnerFunction = returnerFn({
  doc: "Store the load of a job.",
  params: { jid: p.str(), load: p.dict(), minions: p.any(null) },
  permissions: PERMISSIONS,
  run: ({ jid, load }, context) =>
    within(context, undefined, async (client) => {
      await client.setEx(`load:${jid}`, keepSeconds(context), returnerJson(load));
      return null;
    }),
});

export const get_load: ReturnerFunction = returnerFn({
  doc: "Return the load of a job.",
  params: { jid: p.str() },
  permissions: PERMISSIONS,
  run: ({ jid }, context) => within(context, undefined, async (client) => asMap(await client.get(`load:${jid}`))),
});

export const get_jid: ReturnerFunction = returnerFn({
  doc: "Return the returns of a job, by minion.",
  params: { jid: p.str() },
  permissions: PERMISSIONS,
  run: ({ jid }, context) =>
    within(context, undefined, async (client) => {
      const stored = await client.hGetAll(`ret:${jid}`);
      return new Map<Value, Value>(Object.entries(stored).map(([id, text]) => [id, asMap(text)]));
    }),
});

export const get_fun: ReturnerFunction = returnerFn({
  doc: "Return the last return of a function, by minion.",
  params: { fun: p.str() },
  permissions: PERMISSIONS,
  run: ({ fun }, context) =>
    within(context, undefined, async (client) => {
      const returns: ValueMap = new Map();
      for (const id of (await client.sMembers("minions")).sort()) {
        const last = lastKey(id, fun);
        const jid = last === undefined ? null : await client.get(last);
        const stored = jid === null ? null : await client.hGet(`ret:${jid}`, id);
        if (stored !== null && stored !== undefined) returns.set(id, asMap(stored));
      }
      return returns;
    }),
});

export const get_jids: ReturnerFunction = returnerFn({
  doc: "Return all jobs, by jid.",
  params: {},
  permissions: PERMISSIONS,
  run: (_none, context) =>
    within(context, undefined, async (client) => {
      const jobs: [string, Value][] = [];
      for await (const keys of client.scanIterator({ MATCH: "load:*", COUNT: SCAN_COUNT })) {
        for (const key of keys) {
          const jid = key.slice("load:".length);
          jobs.push([jid, formatStartedJob(jid, asMap(await client.get(key)))]);
        }
      }
      return new Map<Value, Value>(jobs.sort(([a], [b]) => a < b ? -1 : 1));
    }),
});

export const get_minions: ReturnerFunction = returnerFn({
  doc: "Return the ids of the minions that have returned.",
  params: {},
  permissions: PERMISSIONS,
  run: (_none, context) => within(context, undefined, async (client) => (await client.sMembers("minions")).sort()),
});

export const clean_old_jobs: ReturnerFunction = returnerFn({
  doc: "Remove returns of jobs whose load Redis has removed.",
  params: {},
  permissions: PERMISSIONS,
  run: (_none, context) =>
    within(context, undefined, async (client) => {
      for await (const keys of client.scanIterator({ MATCH: "ret:*", COUNT: SCAN_COUNT })) {
        for (const key of keys) {
          if (await client.exists(`load:${key.slice("ret:".length)}`) === 0) await client.del(key);
        }
      }
      return null;
    }),
});

/**
 * The key of a minion's last return of a function; `undefined` if it could be the key of a job, or of another minion:
 * the minion chooses the function, and may have chosen its id.
 */
function lastKey(id: string, fun: string): string | undefined {
  return /^(?:load|ret)(?::|$)/.test(id) || fun.includes(":") ? undefined : `${id}:${fun}`;
}

function keepSeconds({ opts }: ReturnerContext): number {
  return "keep_jobs_seconds" in opts && opts.keep_jobs_seconds > 0 ? opts.keep_jobs_seconds : KEEP_S;
}

function asMap(stored: string | null): ValueMap {
  const value = stored === null ? null : readReturnerJson(stored);
  return isMap(value) ? value : new Map();
}

async function open(context: ReturnerContext, ret: ValueMap | undefined) {
  const options = new ReturnerOptions(["redis"], context, ret);
  const library: typeof import("./_redis_library.ts") = await import(
    new URL("./_redis_library.ts", import.meta.url).href
  );
  const path = options.text("unix_socket_path");
  const timing = { connectTimeout: CONNECT_MS, reconnectStrategy: false as const };
  const password = options.text("password");
  const client = library.createClient({
    socket: path === undefined
      ? { host: options.text("host") ?? "salt", port: options.integer("port") ?? 6379, ...timing }
      : { path, tls: false, ...timing },
    database: options.integer("db") ?? 0,
    ...password !== undefined && { password },
  });
  // An error is also that of the command that waits.
  client.on("error", (error: Error) => context.log("debug", `The connection to Redis failed: ${error.message}`));
  await client.connect();
  return client;
}

/** Runs `use` with a connection, which is closed afterwards. */
async function within<T>(
  context: ReturnerContext,
  ret: ValueMap | undefined,
  use: (client: Awaited<ReturnType<typeof open>>) => Promise<T>,
): Promise<T> {
  const client = await open(context, ret);
  try {
    return await use(client);
  } finally {
    await client.close();
  }
}
