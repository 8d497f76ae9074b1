/**
 * The built-in renderers, by name. Written as literal imports, so that `deno compile` finds them.
 * @module
 */

import type { BuiltInRenderers } from "#lib/plugins/renderer.ts";

/** How each renderer is loaded. */
export const RENDERERS: BuiltInRenderers["table"] = {
  gpg: () => import("./gpg.ts"),
  jinja: () => import("./jinja.ts"),
  json: () => import("./json.ts"),
  json5: () => import("./json5.ts"),
  msgpack: () => import("./msgpack.ts"),
  plain: () => import("./text.ts"),
  stateconf: () => import("./stateconf.ts"),
  text: () => import("./text.ts"),
  toml: () => import("./toml.ts"),
  yaml: () => import("./yaml.ts"),
  yamlex: () => import("./yamlex.ts"),
};

/** Salt's renderers that are not here, and what does their work. */
export const RENDERERS_NOT_BUILT: BuiltInRenderers["notBuilt"] = {
  aws_kms: "Keep the secret in an ext_pillar, or use the renderer gpg.",
  cheetah: "Write the file for jinja.",
  dson: "Write the file as json or yaml.",
  genshi: "Write the file for jinja.",
  hjson: "Write the file as json5 or yaml.",
  mako: "Write the file for jinja.",
  nacl: "Use the renderer gpg.",
  pass: "Use the renderer gpg, whose keys `pass` uses too.",
  py:
    "Write the file as jinja|yaml; what it computes can be an execution module in TypeScript, called by salt['module.function']().",
  pydsl: "Write the file as jinja|yaml.",
  pyobjects: "Write the file as jinja|yaml.",
  wempy: "Write the file for jinja.",
};
