/**
 * Processes in their own mount namespace: no other process sees their mounts. Needs root, and a host that permits mount
 * namespaces; many containers do not.
 * @module
 */

import { messageOf } from "#lib/errors.ts";

/** The words that start a program in a mount namespace. */
export const UNSHARE_MOUNTS = ["unshare", "-m"] as const;

/** Why this host has no mount namespaces; `undefined` if it has. */
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
