/**
 * What Deno cannot do to a child between fork and exec, done by small programs that end in an exec of the command itself:
 * the pid and the return code stay the command's own. Starts nothing.
 *
 * `setpriv` (util-linux) takes on a user with all groups; where it is missing, Deno takes on the user with one group.
 * `/bin/sh` sets the file mode mask, joins stderr to stdout, and keeps the command's name as it was called.
 * @module
 */

import type { ChildSpec } from "./child_process.ts";
import type { Environment } from "./command_environment.ts";
import { findUser, type Group, groupIdsOf, type User } from "../os/users.ts";
import { which } from "./which.ts";

/** What is to be different for a command. */
export interface Wrapping {
  /** The user to become; `undefined`: this process's own. */
  readonly user: User | undefined;
  /** The primary group to run with; `undefined`: the user's own. */
  readonly group: Group | undefined;
  /** Octal digits. */
  readonly umask: string | undefined;
  /** Whether stderr goes into stdout. */
  readonly joinOutput: boolean;
  /** The command's environment, to which nothing is to be added. */
  readonly env: Environment;
}

/** Variables that a shell sets for the programs it starts. */
const SET_BY_SHELLS = ["PWD", "OLDPWD", "SHLVL"];

/** The words to start in place of `words`, and the user that Deno is to become for them. */
export function wrapCommand(words: readonly string[], wrapping: Wrapping): Pick<ChildSpec, "argv" | "user"> {
  const { argv, user } = asUser(words, wrapping);
  const setup = [
    ...wrapping.umask === undefined ? [] : [`umask ${wrapping.umask}`],
    ...wrapping.joinOutput ? ["exec 2>&1"] : [],
  ];
  // Deno would start a program found in PATH under its full path, which the program would then show in its messages.
  if (setup.length === 0 && argv[0].includes("/")) return { argv, user };
  const added = SET_BY_SHELLS.filter((name) => !Object.hasOwn(wrapping.env, name));
  if (added.length > 0) setup.push(`unset ${added.join(" ")}`);
  return { argv: ["/bin/sh", "-c", [...setup, 'exec "$@"'].join("; "), "sh", ...argv], user };
}

function asUser(words: readonly string[], { user, group }: Wrapping): Pick<ChildSpec, "argv" | "user"> {
  const own = Deno.uid();
  const target = user ?? (group === undefined ? undefined : findUser(own ?? 0));
  if (target === undefined) return { argv: words };
  const gid = group?.gid ?? target.gid;
  if (target.uid === own && gid === Deno.gid()) return { argv: words };
  const setpriv = own === 0 ? which("setpriv") : undefined;
  // Busybox has a setpriv that knows none of this.
  if (setpriv === undefined || Deno.realPathSync(setpriv).endsWith("busybox")) {
    return { argv: words, user: { uid: target.uid, gid } };
  }
  const groups = groupIdsOf(target).join(",");
  return { argv: [setpriv, `--reuid=${target.uid}`, `--regid=${gid}`, `--groups=${groups}`, "--", ...words] };
}
