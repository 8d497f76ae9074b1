/**
 * Gives functions that a template calls access to the host of the rendering: a variable whose name no template can
 * contain.
 * @module
 */

import { type CallContext, PyObject } from "#lib/python/object.ts";
import type { RenderHost } from "#lib/plugins/renderer.ts";

/** The name of the variable that holds the host. It begins with a space, so that no template can name it. */
export const HOST_VARIABLE = " host";

/** The host as a variable. */
export class HostObject extends PyObject {
  readonly typeName = "host";

  constructor(readonly host: RenderHost) {
    super();
  }
}

/** The host of the rendering of the calling template. */
export function hostOf(context: CallContext): RenderHost | undefined {
  const object = context.lookup(HOST_VARIABLE);
  return object instanceof HostObject ? object.host : undefined;
}
