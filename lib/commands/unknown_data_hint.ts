/**
 * A hint for the operator when a target of grains or pillar matches no minion, but the master has no data of some
 * minions. Such minions are not expected to answer, so nothing was published.
 * @module
 */

import { typedCommand } from "../config/typed_command.ts";
import { TargetError } from "../errors.ts";
import { type KnownFleet, type ResolveOptions, resolveTarget } from "../fleet/resolve_target.ts";
import type { TypedTarget } from "../target/target.ts";
import { sanitize } from "../text/terminal.ts";
import { truncateList } from "../text/truncate.ts";

/** How a target is read, and the master's options, for commands that are shown. */
interface HintOptions extends ResolveOptions {
  readonly place: { readonly config_dir: string };
}

/** A line for standard error, or the empty string. */
export function unknownDataHint(target: TypedTarget, fleet: KnownFleet, { place, ...how }: HintOptions): string {
  let unknown: readonly string[];
  try {
    ({ unknown } = resolveTarget(target, fleet, how));
  } catch (error) {
    if (error instanceof TargetError) return "";
    throw error;
  }
  // A master that stores no data of minions gives no hint.
  if (unknown.length === 0 || fleet.data === undefined) return "";
  // The user may copy this command into a shell: an id must not inject shell code.
  const harmless = unknown.filter((id) => /^[\w.-]+$/.test(id)).slice(0, 5);
  const command = typedCommand(`salt -L ${harmless.join(",")} saltutil.refresh_grains`, place);
  const advice = harmless.length === 0 ? "" : ` To have them sent: ${command}`;
  return sanitize(
    `The master has no grains of these minions, so the job was not sent to them: ${truncateList(unknown)}.${advice}\n`,
  );
}
