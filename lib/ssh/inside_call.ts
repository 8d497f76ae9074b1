/**
 * A function of Salt that a job runs elsewhere on its host, in another root directory or in a container, by a copy of
 * the minion's executable, which asks this minion for files and pillar as it would ask a master.
 * @module
 */

import { optsValues } from "#lib/config/opts_map.ts";
import { CommandError } from "#lib/errors.ts";
import { fileRequests } from "#lib/files/client/open.ts";
import { FILE_COMMANDS } from "#lib/files/server/file_commands.ts";
import type { JobContext } from "#lib/plugins/job_context.ts";
import { ownKeywords } from "#lib/plugins/keywords.ts";
import { readGrainsFile } from "#lib/programs/grains_file.ts";
import { LEVEL_NUMBERS } from "#lib/runtime/log.ts";
import { mapOrEmpty } from "#lib/values/shape.ts";
import { str, type Value, type ValueMap } from "#lib/values/value.ts";
import { toWireArgs } from "#lib/yaml/arguments.ts";
import { Executables, type HostExecutable } from "./executables.ts";
import { followHost, type HostChannel } from "./follow_host.ts";
import type { HostReturn, SshCall } from "./messages.ts";

/** What is to be run. */
export interface InsideCall {
  readonly fun: string;
  /** As on the wire. */
  readonly arg: readonly Value[];
  /** The pillar that it has. */
  readonly pillar: ValueMap;
  /** Whether plugins of the operator's own are fetched. */
  readonly syncs: boolean;
}

/** What a function there may ask this minion's master for, besides files. */
const PASSED_ON: readonly string[] = ["_master_opts", "_master_tops", "_ext_nodes", "_mine_get"];

/** Options of this minion that say how states are rendered and run; the others are of its own directories. */
const IS_OPTION_OF_STATES =
  /^(state_|jinja_|renderer|saltenv$|lock_saltenv$|failhard$|hash_type$|test$|default_top$|env_order$)/;

/** The environment of what runs there: programs are those of the place. */
export const INSIDE_ENVIRONMENT: Readonly<Record<string, string>> = {
  PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
  HOME: "/root",
  LANG: "C.UTF-8",
};

/** Keywords of a call of states that are not for the function there: the pillar is given, files are asked for. */
export const STATE_CALL_KEYWORDS: readonly string[] = ["pillar", "pillarenv", "extra_filerefs"];

/**
 * A call of a function, with the arguments that it gets.
 * @throws {CommandError} If no function is named.
 */
export function functionCall(fun: string, args: readonly Value[], kwargs: ValueMap): InsideCall {
  if (fun === "") throw new CommandError("Missing function parameter");
  return { fun, arg: toWireArgs([...args], ownKeywords(kwargs)), pillar: new Map(), syncs: false };
}

/**
 * A call of a function of `state`, with this minion's pillar.
 * @param kwargs Those of the function, and `pillar`: values that win over those of this minion's pillar.
 */
export function stateCall(
  fun: string,
  args: readonly Value[],
  kwargs: ValueMap,
  { pillar }: Pick<JobContext, "pillar">,
): InsideCall {
  const given = ownKeywords(kwargs);
  const values = new Map([...pillar, ...mapOrEmpty(given.get("pillar"))]);
  for (const name of STATE_CALL_KEYWORDS) given.delete(name);
  return { fun, arg: toWireArgs([...args], given), pillar: values, syncs: true };
}

/**
 * This minion's executable.
 * @param directory Where the launcher of a source tree is written.
 * @throws {SshError} If it cannot be read.
 */
export function ownExecutable(directory: string): Promise<HostExecutable> {
  return new Executables({ ssh_executables: new Map() }, directory).usual();
}

/** The words that start an executable there. */
export function insideWords(place: string, file: string, mark: string): string[] {
  return [`${place}/${file}`, "--as", "salt-ssh-host", mark, place];
}

/**
 * Gives a process that has begun its call, and answers it until the function has returned.
 * @param name The place, for messages.
 */
export async function followInside(
  channel: HostChannel,
  call: InsideCall,
  { name, context }: { readonly name: string; readonly context: JobContext },
): Promise<HostReturn> {
  return await followHost(channel, hostCall(call, context), {
    name,
    answer: answers(call.pillar, context),
    log: ({ level, message }) => context.log(level >= LEVEL_NUMBERS.error ? "error" : "warning", message),
  });
}

/** The call; the process there is this minion, with the grains that are set by hand. */
function hostCall({ fun, arg, syncs }: InsideCall, { opts, job }: JobContext): SshCall {
  const minionOpts = [...optsValues(opts)].filter(([name]) => IS_OPTION_OF_STATES.test(str(name)));
  return {
    id: opts.id ?? "",
    fun,
    arg,
    jid: str(job.jid ?? ""),
    minionOpts: new Map(minionOpts),
    grains: new Map([...readGrainsFile(opts.config_dir), ...opts.grains]),
    logLevel: LEVEL_NUMBERS.warning,
    syncs,
  };
}

/** Answers as a master: the pillar is known, and the rest is this minion's master's. */
function answers(pillar: ValueMap, context: JobContext): (load: ValueMap) => Promise<Value> {
  const request = fileRequests(context);
  return async (load) => {
    const cmd = str(load.get("cmd") ?? "");
    if (cmd === "_pillar") return pillar;
    if (Object.hasOwn(FILE_COMMANDS, cmd) || PASSED_ON.includes(cmd)) return await request(load);
    throw new CommandError(`${cmd} needs a master: a function that runs elsewhere on its host has none`);
  };
}
