/**
 * Runner `sdb`: values of the stores that profiles of the master's configuration name.
 * Source: Salt 3008.3 `salt/runners/sdb.py`.
 * @module
 */

import { runner, type RunnerContext, runnerDoc, type RunnerFunction } from "#lib/client/runner_context.ts";
import { p } from "#lib/plugins/module.ts";
import type { Value } from "#lib/values/value.ts";

/** The functions of the execution module do it, on the master's host and with the master's options. */
function sdb(fun: string, args: readonly Value[], context: RunnerContext): Promise<Value> {
  return context.execute({ fun: `sdb.${fun}`, args, kwargs: new Map() });
}

export const get: RunnerFunction = runner({
  doc: runnerDoc(
    "Return the value at an address `sdb://<profile>/<key>`; what is no such address is returned as it is.",
    "sdb.get sdb://mymemcached/foo",
  ),
  params: { uri: p.any() },
  run: ({ uri }, context) => sdb("get", [uri], context),
});

export const set: RunnerFunction = runner({
  doc: runnerDoc(
    "Store a value at an address `sdb://<profile>/<key>`. Return False for what is no such address.",
    "sdb.set sdb://mymemcached/foo bar",
  ),
  params: { uri: p.any(), value: p.any() },
  run: ({ uri, value }, context) => sdb("set", [uri, value], context),
});

export const delete_: RunnerFunction = runner({
  doc: runnerDoc(
    "Remove the value at an address `sdb://<profile>/<key>`. Return False for what is no such address.",
    "sdb.delete sdb://mymemcached/foo",
  ),
  params: { uri: p.any() },
  run: ({ uri }, context) => sdb("delete", [uri], context),
});

export const get_or_set_hash: RunnerFunction = runner({
  doc: runnerDoc(
    "Return the value at an address `sdb://<profile>/<key>`. If there is none, store a random text there and return it.",
    "sdb.get_or_set_hash 'sdb://mymemcached/SECRET_KEY' 50",
  ),
  params: {
    uri: p.any(),
    length: p.int(8),
    chars: p.str("abcdefghijklmnopqrstuvwxyz0123456789!@#$%^&*(-_=+)"),
  },
  run: ({ uri, length, chars }, context) => sdb("get_or_set_hash", [uri, length, chars], context),
});
