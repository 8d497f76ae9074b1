/**
 * The variables with a template's own name and place.
 * Source: Salt 3008.3, `salt/utils/templates.py` generate_sls_context.
 * @module
 */

import { rstripChars } from "#lib/values/python_text.ts";
import { baseName, dirName } from "#lib/os/paths.ts";

/**
 * The variables by name.
 * @param path The file on this host, if there is one.
 * @param sls The name of the state file; empty for any other file.
 */
export function slsContext(path: string | undefined, sls: string): Map<string, string> {
  const context = new Map<string, string>();
  let slspath = rstripChars(sls.replaceAll(".", "/"), "/");
  if (path !== undefined) {
    const template = templateName(path, slspath, sls);
    if (template === undefined) {
      return new Map([["tplpath", path], ["tplfile", sls], ["tpldir", parentOf(sls)]]);
    }
    slspath = dirName(template);
    context.set("tplpath", path).set("tplfile", template);
    context.set("tpldir", slspath === "" ? "." : slspath).set("tpldot", slspath.replaceAll("/", "."));
  }
  return context.set("slspath", slspath)
    .set("slsdotpath", slspath.replaceAll("/", "."))
    .set("slscolonpath", slspath.replaceAll("/", ":"))
    .set("sls_path", slspath.replaceAll("/", "_"));
}

/** The path of the file below the root of its environment; `undefined` if it is not that of the state file. */
function templateName(path: string, slspath: string, sls: string): string | undefined {
  if (sls === "") return baseName(path);
  return [`${slspath}.sls`, `${slspath}/init.sls`].find((end) => path.endsWith(end));
}

function parentOf(name: string): string {
  const at = name.lastIndexOf("/");
  return at < 0 ? "." : name.slice(0, at) || "/";
}
