/**
 * Whether a service starts with the system: enabled and disabled for the states of services.
 * Source: Salt 3008.3 `salt/states/service.py`.
 * @module
 */

import { failureText, hasFunction, keywords } from "./_execution.ts";
import type { StateContext } from "#lib/plugins/job_context.ts";
import type { StateResult } from "#lib/plugins/state_module.ts";
import { isTrue } from "#lib/values/is_true.ts";
import { map, truthy, type ValueMap } from "#lib/values/value.ts";

/** The fields of a result that these functions set. */
export type ResultParts = Partial<Pick<StateResult, "result" | "comment" | "changes">>;

/** The data of a service when it is enabled or disabled. */
export interface BootRequest {
  /** Whether it runs after the state's work; `null`: unchanged. */
  readonly started: boolean | null;
  /** The result if it is enabled or disabled now. Default: true. */
  readonly result?: boolean;
}

/**
 * Whether the host has a service; the parts of a failure if not.
 * @throws {CommandError}
 */
async function unavailable(name: string, context: StateContext): Promise<ResultParts | undefined> {
  let isThere = false;
  if (await hasFunction("service.available", context)) {
    isThere = truthy(await context.call("service.available", [name]));
  } else if (await hasFunction("service.get_all", context)) {
    const all = await context.call("service.get_all");
    isThere = Array.isArray(all) && all.includes(name);
  }
  return isThere ? undefined : { result: false, comment: `The named service ${name} is not available` };
}

/** The same, but returns the text of an error. */
export async function lookUpService(
  name: string,
  context: StateContext,
): Promise<{ readonly missing?: ResultParts; readonly error?: ResultParts }> {
  try {
    const missing = await unavailable(name, context);
    return missing === undefined ? {} : { missing };
  } catch (error) {
    return { error: { result: false, comment: failureText(error) } };
  }
}

/** The texts for the state of a service. */
function condition(started: boolean | null): string {
  return started === null ? "is in the desired state" : started ? "is running" : "is dead";
}

/** Makes a service start at boot. */
export async function enableService(
  name: string,
  { started, result = true }: BootRequest,
  kwargs: ValueMap,
  context: StateContext,
): Promise<ResultParts> {
  const { missing, error } = await lookUpService(name, context);
  if (missing ?? error) return missing ?? error ?? {};
  if (!await hasFunction("service.enable", context) || !await hasFunction("service.enabled", context)) {
    return { result, comment: `Enable is not available on this minion,${unsupportedText(name, started)}` };
  }
  const own = keywords({}, kwargs);
  const before = truthy(await context.call("service.enabled", [name], own));
  if (before) {
    return {
      result,
      comment: `Service ${name} is already enabled, and ${condition(started)}`,
      ...started === null && { changes: new Map() },
    };
  }
  if (context.test) return { result: null, comment: `Service ${name} set to be enabled` };
  let details = "";
  try {
    if (truthy(await context.call("service.enable", [name], own))) {
      const after = truthy(await context.call("service.enabled", [name], own));
      return {
        result,
        comment: `Service ${name} has been enabled, and ${condition(started)}`,
        changes: before === after ? new Map() : map({ [name]: true }),
      };
    }
  } catch (error) {
    details = `. Additional information follows:\n\n${failureText(error)}`;
  }
  return {
    result: false,
    comment: `Failed when setting service ${name} to start at boot,${failedStart(started)}${details}`,
  };
}

function unsupportedText(name: string, started: boolean | null): string {
  return started === null
    ? ` service ${name} is in the desired state`
    : started
    ? ` service ${name} started`
    : ` service ${name} is dead`;
}

function failedStart(started: boolean | null): string {
  return started === null
    ? " but the service was already running"
    : started
    ? " but the service is running"
    : " and the service is dead";
}

/** Makes a service not start at boot. */
export async function disableService(
  name: string,
  { started, result = true }: BootRequest,
  kwargs: ValueMap,
  context: StateContext,
): Promise<ResultParts> {
  const { missing, error } = await lookUpService(name, context);
  if (missing !== undefined) return { ...missing, result: true };
  if (error !== undefined) return error;
  if (!await hasFunction("service.disable", context) || !await hasFunction("service.disabled", context)) {
    return { result, comment: `Disable is not available on this minion,${unsupportedText(name, started)}` };
  }
  const before = truthy(await context.call("service.disabled", [name]));
  if (before) {
    return {
      result,
      comment: `Service ${name} is already disabled, and ${condition(started)}`,
      ...started === null && { changes: new Map() },
    };
  }
  if (context.test) return { result: null, comment: `Service ${name} set to be disabled` };
  if (truthy(await context.call("service.disable", [name], keywords({}, kwargs)))) {
    const after = truthy(await context.call("service.disabled", [name]));
    return {
      result,
      comment: `Service ${name} has been disabled, and ${condition(started)}`,
      changes: before === after ? new Map() : map({ [name]: true }),
    };
  }
  const failure = started === null
    ? " to not start at boot, but the service was already running"
    : started
    ? " to not start at boot, and is running"
    : " to not start at boot, and the service is dead";
  return { result: false, comment: `Failed when setting service ${name}${failure}` };
}

/**
 * Masks or unmasks a service.
 * @param wanted Whether it is to be masked.
 */
export async function maskService(
  name: string,
  { wanted, runtime }: { readonly wanted: boolean; readonly runtime: boolean },
  context: StateContext,
): Promise<StateResult> {
  const done = (parts: ResultParts): StateResult => ({ name, result: true, comment: "", changes: new Map(), ...parts });
  if (!await hasFunction("service.masked", context)) {
    return done({ result: false, comment: "Service masking not available on this minion" });
  }
  const isMasked = async () => isTrue(await context.call("service.masked", [name, runtime]));
  const masked = runtime ? "runtime masked" : "masked";
  const action = wanted ? masked : runtime ? "runtime unmasked" : "unmasked";
  const changes: ValueMap = map({ [masked]: { old: !wanted, new: wanted } });
  try {
    if (await isMasked() === wanted) {
      return done({ comment: `Service ${name} ${wanted ? "is already" : "was already"} ${action}` });
    }
    if (context.test) return done({ result: null, changes, comment: `Service ${name} would be ${action}` });
    await context.call(wanted ? "service.mask" : "service.unmask", [name, runtime]);
    return await isMasked() === wanted
      ? done({ changes, comment: `Service ${name} was ${action}` })
      : done({ comment: `Failed to ${wanted ? "mask" : "unmask"} service ${name}` });
  } catch (error) {
    return done({ result: false, comment: failureText(error) });
  }
}
