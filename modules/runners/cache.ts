/**
 * Runner `cache`: the master's cached data of its minions, and any other bank of its cache directory. Source: Salt
 * 3008.3 `salt/runners/cache.py`, `salt/utils/master.py` (`MasterPillarUtil`).
 * @module
 */

import { CommandError, InvocationError } from "#lib/errors.ts";
import { runner, type RunnerContext, runnerDoc, type RunnerFunction } from "#lib/client/runner_context.ts";
import type { MasterOpts } from "#lib/config/options.ts";
import { optsValues } from "#lib/config/opts_map.ts";
import type { LockResult } from "#lib/plugins/file_backend.ts";
import { BankFiles } from "#lib/fleet/bank_files.ts";
import { changeNotes } from "#lib/config/master_paths.ts";
import { p } from "#lib/plugins/module.ts";
import { compileGlob } from "#lib/text/glob.ts";
import { isMap, map, type Value, type ValueMap } from "#lib/values/value.ts";
import { keepsMine } from "#lib/fleet/mine_requests.ts";
import { mineOf, withStore } from "./_mine.ts";
import { type MinionsTarget, targetMinions } from "./_targeted.ts";
import { BACKENDS } from "#modules/fileserver/_built_in.ts";

const TARGETED = `

tgt, tgt_type
    The minions, and the kind of that target: glob, list, grain, compound and so on.`;

export const grains: RunnerFunction = runner({
  doc: runnerDoc(
    `Return the cached grains of minions, by id; an empty map if there are none.${TARGETED}`,
    "cache.grains '*'",
  ),
  params: { tgt: p.any(), tgt_type: p.str("glob") },
  run: ({ tgt, tgt_type }, context) =>
    ofEach(targetMinions({ tgt, tgt_type }, context), (id) => minionData(id, context)?.grains ?? new Map()),
});

export const pillar: RunnerFunction = runner({
  doc: runnerDoc(
    `Return the cached pillar of minions, by id; without \`tgt\`, of all that have one.${TARGETED}`,
    "cache.pillar",
    "cache.pillar 'web*'",
  ),
  params: { tgt: p.any(null), tgt_type: p.str("glob") },
  run(target, context) {
    const pillars = ofEach(wantedMinions(target, context), (id) => minionData(id, context)?.pillar ?? new Map());
    // Without a target, those that have one.
    return target.tgt === null
      ? new Map([...pillars].filter(([, pillar]) => isMap(pillar) && pillar.size > 0))
      : pillars;
  },
});

export const mine: RunnerFunction = runner({
  doc: runnerDoc(
    `Return the cached mine of minions, by id; without \`tgt\`, of all that have cached grains.${TARGETED}`,
    "cache.mine",
    "cache.mine 'web*'",
  ),
  params: { tgt: p.any(null), tgt_type: p.str("glob") },
  run(target, context) {
    const mines = mineOf(context);
    return ofEach(
      wantedMinions(target, context),
      (id) => keepsMine(context.opts) ? mines.get(id) ?? new Map() : new Map(),
    );
  },
});

/** A function that removes cached data of minions. */
function clearing(name: string, what: string, banks: readonly string[]): RunnerFunction {
  return runner({
    doc: runnerDoc(
      `Remove the cached ${what} of minions. False without a target, else True.${TARGETED}`,
      `cache.${name} '*'`,
    ),
    params: { tgt: p.any(null), tgt_type: p.str("glob") },
    run(target, context) {
      if (target.tgt === null) return false;
      const files = bankFiles(context), mines = mineOf(context);
      for (const id of targetMinions(target, context)) {
        for (const bank of banks) withStore(() => bank === "mine" ? mines.flush(id) : files.flush(bank, id));
      }
      return true;
    },
  });
}

export const clear_pillar: RunnerFunction = clearing("clear_pillar", "pillar", ["pillar"]);
export const clear_grains: RunnerFunction = clearing("clear_grains", "grains", ["grains"]);
export const clear_mine: RunnerFunction = clearing("clear_mine", "mine", ["mine"]);
export const clear_all: RunnerFunction = clearing("clear_all", "pillar, grains and mine", ["pillar", "grains", "mine"]);

export const clear_mine_func: RunnerFunction = runner({
  doc: runnerDoc(
    `Remove the results of one function from the cached mine of minions. False without a target or a function, else True.${TARGETED}

clear_mine_func_flag
    The function.`,
    "cache.clear_mine_func tgt='*' clear_mine_func_flag='network.interfaces'",
  ),
  params: { tgt: p.any(null), tgt_type: p.str("glob"), clear_mine_func_flag: p.any(null) },
  run({ clear_mine_func_flag: fun, ...target }, context) {
    if (target.tgt === null || fun === null) return false;
    const mines = mineOf(context);
    for (const id of targetMinions(target, context)) withStore(() => mines.delete(id, fun));
    return true;
  },
});

/** The kinds of repositories that Salt has locks for. */
const GIT_ROLES = ["gitfs", "git_pillar", "winrepo"];

export const clear_git_lock: RunnerFunction = runner({
  doc: runnerDoc(
    `Remove the update locks of git remotes.

role
    The user of the remotes: gitfs, git_pillar.

remote : None
    Only remotes whose URL matches this glob.

type : update
    The kind of lock; there is one here, and Salt's others are ignored.`,
    "cache.clear_git_lock gitfs",
    "cache.clear_git_lock gitfs remote='*github*'",
  ),
  params: { role: p.str(), remote: p.str(null), type: p.any("update") },
  async run({ role, remote }, { opts, log }) {
    if (!GIT_ROLES.includes(role)) throw new InvocationError(`Invalid role '${role}'`);
    if (role === "winrepo") throw new CommandError(`${role} is not built yet`);
    if (role === "git_pillar") return await clearedLocks(await pillarLocks(opts, remote));
    const [{ FileServer }, { changeLocks }] = await Promise.all([
      import("#lib/files/server/file_server.ts"),
      import("#lib/files/server/upkeep.ts"),
    ]);
    const server = new FileServer(opts, { log, backends: BACKENDS });
    const { done, errors } = await changeLocks(server, "clearLock", {
      backend: ["gitfs"],
      pattern: remote ?? undefined,
    });
    return clearedLocks({ done, errors });
  },
});

/** Removes the locks of the repositories of pillar whose URL matches a glob. */
async function pillarLocks(opts: MasterOpts, remote: string | null): Promise<LockResult> {
  const { configuredPillarRepositories } = await import("#lib/files/git/pillar_updates.ts");
  const matches = remote === null ? () => true : compileGlob(remote);
  const chosen = configuredPillarRepositories(optsValues(opts)).filter(({ options }) => matches(options.url));
  const results = await Promise.all(chosen.map(({ lock }) => lock.clear()));
  return { done: results.flatMap(({ done }) => done), errors: results.flatMap(({ errors }) => errors) };
}

function clearedLocks({ done, errors }: LockResult): Value {
  if (done.length === 0 && errors.length === 0) return "No locks were removed";
  return map({ ...done.length > 0 ? { cleared: [...done] } : {}, ...errors.length > 0 ? { errors: [...errors] } : {} });
}

/** Where a bank is. */
const BANK = `

bank
    The bank: a directory below the cache directory, such as \`grains\`.

cachedir : None
    Another cache directory than the master's.`;

export const store: RunnerFunction = runner({
  doc: runnerDoc(
    `Store data under a key of a bank.${BANK}`,
    "cache.store mycache mykey 'The time has come the walrus said'",
  ),
  params: { bank: p.str(), key: p.str(), data: p.any(), cachedir: p.str(null) },
  run: ({ bank, key, data, cachedir }, context) =>
    withStore(() => {
      bankFiles(context, cachedir).store(bank, key, data);
      return null;
    }),
});

export const list_: RunnerFunction = runner({
  doc: runnerDoc(`List the keys of a bank, and the banks within it.${BANK}`, "cache.list grains"),
  params: { bank: p.str(), cachedir: p.str(null) },
  run: ({ bank, cachedir }, context) => withStore(() => bankFiles(context, cachedir).list(bank)),
});

export const fetch: RunnerFunction = runner({
  doc: runnerDoc(
    `Return the data of a key of a bank; an empty map if there are none.${BANK}`,
    "cache.fetch grains web1",
  ),
  params: { bank: p.str(), key: p.str(), cachedir: p.str(null) },
  run: ({ bank, key, cachedir }, context) => withStore(() => bankFiles(context, cachedir).fetch(bank, key)),
});

export const flush: RunnerFunction = runner({
  doc: runnerDoc(
    `Remove a key of a bank, or, without a key, the whole bank. Returns whether there was one.${BANK}`,
    "cache.flush mycache mykey",
    "cache.flush mycache",
  ),
  params: { bank: p.str(), key: p.str(null), cachedir: p.str(null) },
  run: ({ bank, key, cachedir }, context) =>
    withStore(() => bankFiles(context, cachedir).flush(bank, key ?? undefined)),
});

/** The minions of a target; without one, all that are in the cache. */
function wantedMinions(target: MinionsTarget, context: RunnerContext): readonly string[] {
  if (target.tgt !== null) return targetMinions(target, context);
  return context.opts.minion_data_cache ? context.data.list() : [];
}

function ofEach(ids: readonly string[], of: (id: string) => Value): ValueMap {
  return new Map(ids.map((id) => [id, of(id)]));
}

function minionData(id: string, { opts, data }: RunnerContext) {
  return opts.minion_data_cache ? data.get(id) : undefined;
}

function bankFiles({ opts, log }: RunnerContext, cachedir: string | null = null): BankFiles {
  return new BankFiles(cachedir ?? opts.cachedir, {
    log: (message) => log("warning", message),
    ...cachedir === null && { notes: changeNotes(opts) },
  });
}
