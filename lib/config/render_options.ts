/**
 * The options of rendering, for both roles: a master renders pillar, a minion states and templates.
 * @module
 */

import { boolOption, dictOption, strOption, strsOption } from "./option_types.ts";

/** The options, by name. */
export const RENDER_OPTIONS = {
  renderer: strOption("jinja|yaml", "Renderers of a file whose first line does not name its own."),
  renderer_whitelist: strsOption([], "The only renderers that are used; empty: all of them. Others are ignored."),
  renderer_blacklist: strsOption([], "Renderers that are ignored."),
  jinja_env: dictOption(
    new Map(),
    "Jinja's own options for templates that are no state files: `{trim_blocks: true}`; a file's line `#jinja2: {…}` comes before them.",
  ),
  jinja_sls_env: dictOption(new Map(), "Jinja's own options for state files and pillar."),
  jinja_trim_blocks: boolOption(false, "Salt's old name for `trim_blocks` in `jinja_env` and `jinja_sls_env`."),
  jinja_lstrip_blocks: boolOption(false, "Salt's old name for `lstrip_blocks` in `jinja_env` and `jinja_sls_env`."),
  allow_undefined: boolOption(false, "Whether an undefined name in a template is empty instead of an error."),
  gpg_keydir: strOption(
    null,
    "Directory of the keys for the renderer `gpg`; unset: `gpgkeys` beside the configuration.",
  ),
  gpg_decrypt_must_succeed: boolOption(
    true,
    "Whether a text that `gpg` cannot decrypt is an error; otherwise it is left encrypted, and logged.",
  ),
};
