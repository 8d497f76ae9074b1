/**
 * A hint for the operator when a target of grains or pillar matches no minion, while there are minions that the master knows
 * no data of: they are not expected to answer, so nothing was published.
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
  // A master that keeps no data knows nobody.
  if (unknown.length === 0 || fleet.data === undefined) return "";
  // A user who copies the command must not run what is in an id.
  const harmless = unknown.filter((id) => /^[\w.-]+$/.test(id)).slice(0, 5);
  const command = typedCommand(`salt -L ${harmless.join(",")} saltutil.refresh_grains`, place);
  const advice = harmless.length === 0 ? "" : ` To have them sent: ${command}`;
  return sanitize(`No grains are known of these minions, so they were not asked: ${truncateList(unknown)}.${advice}\n`);
}
