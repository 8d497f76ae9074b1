/**
 * Who gives a command, as the master is told: under sudo, whoever called sudo. Believed it is only with a key of that user's.
 * Source: Salt 3008.3 `salt/utils/user.py` (`get_specific_user`).
 * @module
 */

import { PROCESS, type Surroundings } from "../config/place.ts";

/** Tells a command in the background, which has the rights of the master's user, who gave it. */
export const CALLER_VARIABLE = "SALT_CALLER";

/** The name of the user of this process; `sudo_<name>` for root who came there through sudo. */
export function callingUser(surroundings: Pick<Surroundings, "env" | "user"> = PROCESS): string {
  const told = surroundings.env(CALLER_VARIABLE);
  if (told) return told;
  const user = surroundings.user();
  const sudoUser = surroundings.env("SUDO_USER");
  return user === "root" && sudoUser ? `sudo_${sudoUser}` : user;
}
