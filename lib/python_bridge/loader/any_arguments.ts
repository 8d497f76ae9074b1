/**
 * What the host knows of a function in Python without having described it.
 * @module
 */

import type { FunctionSignature } from "#lib/plugins/call.ts";

/** It gets its arguments as they are given, and binds them itself; it runs with all permissions. */
export const ANY_ARGUMENTS = {
  doc: "",
  params: {},
  varArgs: "args",
  varKwargs: "kwargs",
  permissions: "all",
} as const satisfies FunctionSignature;
