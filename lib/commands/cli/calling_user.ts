/**
 * The user who runs a command, as sent to the master; with sudo, the user who called sudo. The master believes it only
 * with a key of that user.
 * Source: Salt 3008.3 `salt/utils/user.py` (`get_specific_user`).
 * @module
 */

import { PROCESS, type ProcessEnvironment } from "#lib/config/place.ts";

/** Environment variable with the calling user, for a command in the background, which runs as the master's user. */
export const CALLER_VARIABLE = "SALT_CALLER";

/** The name of the user of this process; `sudo_<name>` for root after sudo. */
export function callingUser(environment: Pick<ProcessEnvironment, "env" | "user"> = PROCESS): string {
  const caller = environment.env(CALLER_VARIABLE);
  if (caller) return caller;
  const user = environment.user();
  const sudoUser = environment.env("SUDO_USER");
  return user === "root" && sudoUser ? `sudo_${sudoUser}` : user;
}
