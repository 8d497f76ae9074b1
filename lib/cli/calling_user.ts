/**
 * The user who runs a command, as sent to the master; with sudo, the user who called sudo. The master believes it only
 * with a key of that user.
 * Source: Salt 3008.3 `salt/utils/user.py` (`get_specific_user`).
 * @module
 */

import { PROCESS, type Surroundings } from "../config/place.ts";

/** Environment variable with the calling user, for a command in the background, which runs as the master's user. */
export const CALLER_VARIABLE = "SALT_CALLER";

/** The name of the user of this process; `sudo_<name>` for root after sudo. */
export function callingUser(surroundings: Pick<Surroundings, "env" | "user"> = PROCESS): string {
  const caller = surroundings.env(CALLER_VARIABLE);
  if (caller) return caller;
  const user = surroundings.user();
  const sudoUser = surroundings.env("SUDO_USER");
  return user === "root" && sudoUser ? `sudo_${sudoUser}` : user;
}
