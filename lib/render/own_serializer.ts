/**
 * Serializers by their names: the built-in ones, and an operator's own (`salt://_serializers`), which are functions of
 * the catalogue, `serializers/NAME.serialize`.
 * @module
 */

import { CommandError } from "#lib/errors.ts";
import { invoke } from "#lib/plugins/call.ts";
import type { JobContext } from "#lib/plugins/job_context.ts";
import type { Value, ValueMap } from "#lib/values/value.ts";
import { type Serializer, SERIALIZERS } from "./serializers.ts";

/** The serializer of this name; an own one wins; `undefined` if there is none. */
export async function findSerializer(name: string, context: JobContext): Promise<Serializer | undefined> {
  const own = (fun: string) => `serializers/${name}.${fun}`;
  const { catalogue } = context;
  if (await catalogue.get(own("serialize")) === undefined && await catalogue.get(own("deserialize")) === undefined) {
    return Object.hasOwn(SERIALIZERS, name) ? SERIALIZERS[name] : undefined;
  }
  const call = async (fun: string, value: Value, kwargs: ValueMap) => {
    const found = await catalogue.get(own(fun));
    if (found === undefined) throw new CommandError(`The serializer ${name} has no function ${fun}`);
    return await invoke(found, { name: own(fun), args: [value], kwargs, context });
  };
  return {
    serialize: (value, options) => call("serialize", value, options),
    deserialize: (source, options) => call("deserialize", source, options),
  };
}
