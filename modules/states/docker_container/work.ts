/**
 * What the states of containers share: the result that is being made, and networks as people write them.
 * Source: Salt 3006.28 `salt/states/docker_container.py` (`_format_comments`, `_parse_networks`, `_resolve_image`).
 * @module
 */

import { CommandError, InvocationError } from "#lib/errors.ts";
import { DetailedError } from "#lib/host/docker/translate_input.ts";
import type { StateContext } from "#lib/plugins/job_context.ts";
import type { StateResult } from "#lib/plugins/state_module.ts";
import type { Virtual } from "#lib/plugins/virtual.ts";
import { repackDictList } from "#lib/host/docker/dict_list.ts";
import { asList, listOrEmpty, mapOrEmpty } from "#lib/values/shape.ts";
import { splitInput } from "#lib/values/split_input.ts";
import { compareStrings, isMap, map, str, truthy, type Value, type ValueMap } from "#lib/values/value.ts";

/** The states load where the execution module does. */
export const NEEDS_DOCKER: Virtual = {
  serves: [{ functions: ["docker.version"], otherwise: "'docker.version' is not available." }],
};

/** The text of what a function of `docker` refuses, or of what the engine does. */
export function dockerFailure(error: unknown): string {
  if (error instanceof CommandError || error instanceof InvocationError) return error.message;
  throw error;
}

/** Several comments as one. */
function joinedComments(comments: readonly string[]): string {
  return comments.length > 1 ? `${comments.join(". ")}.` : comments.join("");
}

/** A state that is being reached. */
export class ContainerWork {
  readonly changes: ValueMap = new Map();
  readonly comments: string[] = [];
  readonly warnings: string[] = [];

  constructor(readonly name: string, readonly context: StateContext) {}

  /** Calls a function of `docker`. */
  async call(
    fun: string,
    args: Value[] = [],
    kwargs: Readonly<Record<string, unknown>> | ValueMap = {},
  ): Promise<Value> {
    return await this.context.call(`docker.${fun}`, args, kwargs instanceof Map ? kwargs : map(kwargs));
  }

  /** The result so far, with one more comment. */
  end(result: boolean | null, ...comments: readonly string[]): StateResult {
    const comment = joinedComments([...this.comments, ...comments]);
    const { name, changes, warnings } = this;
    return { name, result, comment, changes, ...warnings.length > 0 && { warnings } };
  }

  /** The result of a failure: its list of errors, or its text. */
  failed(error: unknown): StateResult {
    const text = dockerFailure(error);
    if (error instanceof DetailedError && Array.isArray(error.details)) {
      return this.end(false, ...error.details.map(str));
    }
    return this.end(false, text);
  }
}

/**
 * The configurations of networks by name. Given is a list of names, and of maps of a name and its configuration.
 * @throws {CommandError} If it is none, or a network does not exist.
 */
export async function parseNetworks(given: Value, work: ContainerWork): Promise<ValueMap> {
  if (!truthy(given)) return new Map();
  const list: Value = Array.isArray(given) || isMap(given) ? given : splitInput(given);
  const packed = isMap(list) ? list : repackDictList(list);
  if (packed === undefined || packed.size === 0) {
    throw new CommandError("Invalid network configuration (see documentation)");
  }
  const networks = new Map(
    [...packed].map(([name, config]): [Value, ValueMap] => [name, networkConfig(str(name), config)]),
  );
  const errors = [...networks].flatMap(([name, config]) =>
    [...config].filter(([, value]) => value === null).map(([key]) =>
      `Config option '${str(key)}' for network '${str(name)}' is missing a value`
    )
  );
  if (errors.length > 0) throw new DetailedError("Invalid network configuration", errors);
  const known = listOrEmpty(await work.call("networks")).map((network) => mapOrEmpty(network).get("Name"));
  const missing = [...networks.keys()].filter((name) => !known.includes(name)).map(str).sort(compareStrings);
  if (missing.length > 0) {
    throw new CommandError(`The following networks are not present: ${missing.join(", ")}`);
  }
  return networks;
}

function networkConfig(name: string, given: Value): ValueMap {
  if (given === null) return new Map();
  const config = isMap(given) ? new Map(given) : repackDictList(given);
  if (config === undefined || config.size === 0) {
    throw new CommandError(`Invalid configuration for network '${name}' (see documentation)`);
  }
  for (const key of ["links", "aliases"]) {
    const value = config.get(key) ?? null;
    if (value !== null) config.set(key, asList(splitInput(value)));
  }
  return config;
}

/**
 * The id of an image, which is pulled if it is not there; `false`: in test mode it is not there.
 * @throws {CommandError} If it cannot be pulled.
 */
export async function resolveImage(image: string, clientTimeout: Value, work: ContainerWork): Promise<Value> {
  const found = await work.call("resolve_image_id", [image]);
  if (found !== false || work.context.test) return found;
  try {
    work.changes.set("image", await work.call("pull", [image], { client_timeout: clientTimeout }));
  } catch (error) {
    throw new CommandError(`Failed to pull ${image}: ${dockerFailure(error)}`, { cause: error });
  }
  const pulled = await work.call("resolve_image_id", [image]);
  if (pulled === false) throw new CommandError(`Image '${image}' not present despite a docker pull raising no errors`);
  return pulled;
}
