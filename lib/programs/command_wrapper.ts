/**
 * Changes to a child between fork and exec that Deno does not offer, by small programs that exec the command itself, so
 * the pid and the return code are the command's. Starts nothing itself. `setpriv` (util-linux) changes to a user with
 * all groups; if it is missing, Deno changes to the user with one group. `/bin/sh` sets the umask, merges stderr into
 * stdout, and keeps the command's name as given.
 * @module
 */

import type { ChildSpec } from "./child_process.ts";
import type { CommandEnvironment } from "./command_environment.ts";
import { findUser, type Group, groupIdsOf, type User } from "#lib/os/users.ts";
import { which } from "./which.ts";

/** The changes for a command. */
export interface Wrapping {
  /** The user to run as; `undefined`: this process's. */
  readonly user: User | undefined;
  /** The primary group; `undefined`: the user's. */
  readonly group: Group | undefined;
  /** Octal digits. */
  readonly umask: string | undefined;
  /** Whether stderr is merged into stdout. */
  readonly joinOutput: boolean;
  /** The command's environment; nothing may be added to it. */
  readonly env: CommandEnvironment;
}

/** Variables that a shell sets for the programs it starts. */
const SET_BY_SHELLS = ["PWD", "OLDPWD", "SHLVL"];

/** The words to start instead of `words`, and the user that Deno must change to. */
export function wrapCommand(words: readonly string[], wrapping: Wrapping): Pick<ChildSpec, "argv" | "user"> {
  const { argv, user } = asUser(words, wrapping);
  const setup = [
    ...wrapping.umask === undefined ? [] : [`umask ${wrapping.umask}`],
    ...wrapping.joinOutput ? ["exec 2>&1"] : [],
  ];
  // Deno would pass the full path of a program from PATH as its name, and the program would show it in its messages.
  if (setup.length === 0 && argv[0].includes("/")) return { argv, user };
  const added = SET_BY_SHELLS.filter((name) => !Object.hasOwn(wrapping.env, name));
  if (added.length > 0) setup.push(`unset ${added.join(" ")}`);
  return { argv: ["/bin/sh", "-c", [...setup, 'exec "$@"'].join("; "), "sh", ...argv], user };
}

/** The words that {@linkcode wrapCommand} was given, from those that it made. */
export function unwrapCommand(argv: readonly string[]): readonly string[] {
  const isWrapped = argv[1] === "-c" && argv[3] === "sh" && argv[2].endsWith('exec "$@"');
  const words = isWrapped ? argv.slice(4) : argv;
  const isAsUser = words[0]?.endsWith("/setpriv") && words[1]?.startsWith("--reuid=") && words[4] === "--";
  return isAsUser ? words.slice(5) : words;
}

function asUser(words: readonly string[], { user, group }: Wrapping): Pick<ChildSpec, "argv" | "user"> {
  const own = Deno.uid();
  const target = user ?? (group === undefined ? undefined : findUser(own ?? 0));
  if (target === undefined) return { argv: words };
  const gid = group?.gid ?? target.gid;
  if (target.uid === own && gid === Deno.gid()) return { argv: words };
  const setpriv = own === 0 ? which("setpriv") : undefined;
  // Busybox's setpriv does not have these options.
  if (setpriv === undefined || Deno.realPathSync(setpriv).endsWith("busybox")) {
    return { argv: words, user: { uid: target.uid, gid } };
  }
  const groups = groupIdsOf(target).join(",");
  return { argv: [setpriv, `--reuid=${target.uid}`, `--regid=${gid}`, `--groups=${groups}`, "--", ...words] };
}
