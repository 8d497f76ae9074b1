/**
 * Runner `mine`: the values that minions have given their master for other minions. Source: Salt 3008.3
 * `salt/runners/mine.py`; `stale` is not in Salt.
 * @module
 */

import { CommandError, MsgpackError } from "#lib/errors.ts";
import { runner, type RunnerContext, runnerDoc, type RunnerFunction } from "#lib/client/runner_context.ts";
import { ageOf, type Mine, roundAge } from "#lib/fleet/mine.ts";
import { AGED } from "#lib/fleet/mine_form.ts";
import { answerMineGet } from "#lib/fleet/mine_query.ts";
import { acceptedFleet } from "#lib/fleet/resolve_target.ts";
import { p } from "#lib/plugins/module.ts";
import { decode } from "#lib/values/msgpack.ts";
import { isMap, map, truthy, type Value, type ValueMap } from "#lib/values/value.ts";
import { mineOf } from "./_mine.ts";
import { targetMinions } from "./_targeted.ts";

export const get: RunnerFunction = runner({
  doc: runnerDoc(
    `Return values of the mine, by minion. The master is no minion: values that only some minions may read are left out.

tgt, tgt_type : glob
    The minions. Values of pillar are compared whole, without globs.

fun
    The function, or several as a list or separated by commas: then the result is by function, and then by minion.

with_age : False
    Whether each value is a map of the value and its age in seconds. Not in Salt.

max_age : None
    Values that are older, in seconds, are left out. Not in Salt.`,
    "mine.get '*' network.interfaces",
    "mine.get 'web*' network.ip_addrs max_age=7200",
  ),
  params: {
    tgt: p.any(),
    fun: p.any(),
    tgt_type: p.any("glob"),
    with_age: p.any(false),
    max_age: p.float(null),
  },
  run: (query, context) => {
    const answer = answerMineGet(map({ ...query, id: context.opts.id }), {
      opts: context.opts,
      mine: mineOf(context),
      data: context.data,
      fleet: () => acceptedFleet(context.opts, context),
      warn: (text) => context.log("warning", text),
    });
    if (typeof answer === "string" && answer !== "") throw new CommandError(answer);
    return isMap(answer) && answer.has(AGED) ? answer.get("ret") : answer;
  },
});

export const update: RunnerFunction = runner({
  doc: runnerDoc(
    `Make minions fill the mine now, with mine.update, and return what they return.

tgt, tgt_type : glob
    The minions.

clear : False
    Whether the new values replace all that the minions have in the mine.

mine_functions : None
    The functions: a list, or a map as in the minions' configuration. Default: those of their configuration.`,
    "mine.update '*'",
    "mine.update 'juniper-edges' tgt_type='nodegroup'",
  ),
  params: { tgt: p.any(), tgt_type: p.str("glob"), clear: p.any(false), mine_functions: p.any(null) },
  run: async ({ tgt, tgt_type, clear, mine_functions }, context) => {
    const kwargs = map({ clear, mine_functions });
    const returns = await context.local.run(tgt, "mine.update", { kwargs, tgtType: tgt_type });
    return new Map([...returns].map(([id, { return: result }]): [Value, Value] => [id, result]));
  },
});

/** Twice the default of `mine_interval`. */
const STALE_S = 7_200;

export const stale: RunnerFunction = runner({
  doc: runnerDoc(
    `Return which values of the mine are old, with their ages in seconds, by minion; and which minions have none. Not in Salt.

seconds : ${STALE_S}
    The age from which a value is old. The default is twice that of the minions' option mine_interval.

tgt : *, tgt_type : glob
    The minions to look at.`,
    "mine.stale",
    "mine.stale 600 tgt='web*'",
  ),
  params: { seconds: p.float(STALE_S), tgt: p.any("*"), tgt_type: p.str("glob") },
  run: ({ seconds, tgt, tgt_type }, context) => {
    const ids = targetMinions({ tgt, tgt_type }, context);
    const mine = mineOf(context);
    const names = storedNames(ids, mine, context);
    const now = Date.now();
    const old: ValueMap = new Map();
    for (const id of ids) {
      const times = mine.times(id);
      if (times === undefined) continue;
      const ages = (names.get(id) ?? []).map((name) => ({ name, age: ageOf(name, times, now) }));
      const tooOld = ages.filter(({ age }) => age >= seconds).map((
        { name, age },
      ): [Value, Value] => [name, roundAge(age)]);
      if (tooOld.length > 0) old.set(id, new Map(tooOld));
    }
    return map({ stale: old, missing: ids.filter((id) => !truthy(names.get(id) ?? [])) });
  },
});

/** The names of the values of each minion. */
function storedNames(ids: readonly string[], mine: Mine, context: RunnerContext): ReadonlyMap<string, Value[]> {
  const names = new Map<string, Value[]>();
  mine.read(new Set(ids), (id, bytes) => {
    names.delete(id);
    try {
      const stored = bytes === undefined ? null : decode(bytes, "disk");
      if (isMap(stored)) names.set(id, [...stored.keys()]);
    } catch (error) {
      if (!(error instanceof MsgpackError)) throw error;
      context.log("warning", `The mine of ${id} cannot be read: ${error.message}`);
    }
  });
  return names;
}
