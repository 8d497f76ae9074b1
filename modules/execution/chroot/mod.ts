/**
 * Execution module `chroot`: the functions of its parts. The compiler refuses a name that two parts export.
 * Source: the functions of Salt 3008.3 `salt/modules/chroot.py`.
 * @module
 */

import type { Virtual } from "#lib/plugins/virtual.ts";

export const virtual: Virtual = {
  serves: [{ programs: ["chroot"], otherwise: "Module chroot requires the command chroot" }],
};

export { create, exist, in_chroot } from "./directories.ts";
export * from "./calling.ts";
