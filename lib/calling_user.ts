/**
 * Who gives a command, as the master is told: under sudo, whoever called sudo.
 * Source: Salt 3008.3 `salt/utils/user.py` (`get_specific_user`).
 * @module
 */

import { PROCESS, type Surroundings } from "./config_place.ts";

/** The name of the user of this process; `sudo_<name>` for root who came there through sudo. */
export function callingUser(surroundings: Pick<Surroundings, "env" | "user"> = PROCESS): string {
  const user = surroundings.user();
  const sudoUser = surroundings.env("SUDO_USER");
  return user === "root" && sudoUser ? `sudo_${sudoUser}` : user;
}
