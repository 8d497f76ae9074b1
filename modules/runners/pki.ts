/**
 * Runner `pki`: how many keys of minions the master has. Source: the functions of Salt 3008.3 `salt/runners/pki.py`.
 * @module
 */

import { CommandError } from "#lib/errors.ts";
import { runner, type RunnerContext, runnerDoc, type RunnerFunction } from "#lib/client/runner_context.ts";
import { p } from "#lib/plugins/module.ts";

export const status: RunnerFunction = runner({
  doc: runnerDoc("Count the keys of each state, as a text.", "pki.status"),
  params: {},
  run: (_, context) => counts(context),
});

export const migrate_to_mmap: RunnerFunction = runner({
  doc: runnerDoc(
    `Salt moves keys with it from files into its cache mmap_key. This master keeps keys in files alone: only the count of
dry_run=True is there.`,
    "pki.migrate_to_mmap dry_run=True",
  ),
  params: { dry_run: p.bool(false) },
  run: ({ dry_run }, context) => {
    if (dry_run) return counts(context);
    throw new CommandError("The cache mmap_key is not built: keys stay in the files of pki_dir");
  },
});

function counts({ keys }: RunnerContext): string {
  const states = ["accepted", "pending", "rejected", "denied"] as const;
  const numbers = states.map((state) => keys.list(state).length);
  const total = numbers.reduce((sum, number) => sum + number, 0);
  const line = (name: string, number: number) => `  ${`${name}:`.padEnd(10)}${number.toLocaleString("en-US")}`;
  return [
    "PKI migration dry-run (no changes written):",
    ...states.map((state, i) => line(state[0].toUpperCase() + state.slice(1), numbers[i])),
    line("Total", total),
  ].join("\n");
}
