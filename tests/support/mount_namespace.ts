/**
 * Processes in a mount namespace of their own: what they mount is seen by nobody else. Needs root, and a host that gives such
 * namespaces; a container often gives none.
 * @module
 */

import { messageOf } from "../../lib/errors.ts";

/** The words that start a program in a mount namespace. */
export const UNSHARE_MOUNTS = ["unshare", "-m"] as const;

/** Why there are no mount namespaces here; `undefined`: there are. */
export function whyNoMountNamespace(): string | undefined {
  if (Deno.build.os !== "linux" || Deno.uid() !== 0) return "mount namespaces need root on Linux";
  const [program, ...args] = [...UNSHARE_MOUNTS, "mount", "-t", "tmpfs", "none", "/mnt"];
  try {
    const { success, stderr } = new Deno.Command(program, { args }).outputSync();
    return success ? undefined : `no mount namespaces: ${new TextDecoder().decode(stderr).trim()}`;
  } catch (error) {
    return `no mount namespaces: ${messageOf(error)}`;
  }
}
