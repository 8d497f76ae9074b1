/**
 * The way from a function that a template calls to what renders it: a variable whose name no template can write.
 * @module
 */

import { type CallContext, PyObject } from "../python/object.ts";
import type { RenderHost } from "./host.ts";

/** The name of the variable: no identifier. */
export const HOST_VARIABLE = " host";

/** The host as a variable. */
export class HostObject extends PyObject {
  readonly typeName = "host";

  constructor(readonly host: RenderHost) {
    super();
  }
}

/** What renders the template that calls. */
export function hostOf(context: CallContext): RenderHost | undefined {
  const found = context.lookup(HOST_VARIABLE);
  return found instanceof HostObject ? found.host : undefined;
}
