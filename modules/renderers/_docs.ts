/**
 * What each renderer does, for `sys.renderer_doc` and `sys.list_renderers`, which load none.
 * @module
 */

/** By the renderer's name; those of the table RENDERERS. */
export const RENDERER_DOCS: Readonly<Record<string, string>> = {
  gpg: "Decrypts the texts in data that are encrypted with GPG.",
  jinja: "Renders a Jinja template. The result is text.",
  json: "Reads JSON.",
  json5: "Reads JSON5.",
  msgpack: "Reads MessagePack.",
  plain: "Passes text on as it is.",
  stateconf:
    "Renders a template and reads its data, with IDs relative to the file, a state for all of it, and its variables.",
  text: "Passes text on as it is.",
  toml: "Reads TOML.",
  yaml: "Reads YAML, as Salt does.",
  yamlex: "Reads YAML in which a key may come again: `!aggregate` joins its values, `!reset` forgets those before.",
};
