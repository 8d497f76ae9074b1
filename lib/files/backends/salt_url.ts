/**
 * The paths and URLs of files as minions ask for them: `salt://a/b?saltenv=dev`, and `|` before a path whose `?` is
 * part of a name. Source: the functions and results of Salt 3008.3 `salt/utils/url.py` and
 * `salt/fileserver/__init__.py` find_file.
 * @module
 */

const SCHEME = "salt://";

/** The parts of a `salt://` URL; a URL of another scheme is its own path. */
export function splitSaltUrl(url: string): { readonly path: string; readonly saltenv?: string } {
  if (!url.startsWith(SCHEME)) return { path: url };
  const resource = url.slice(SCHEME.length);
  const [, path, name, saltenv] = /^(.*?)(?:\?(env|saltenv)=(.*))?$/s.exec(resource) ?? [];
  const trimmed = path.replace(/^\/+/, "");
  return name === "saltenv" ? { path: trimmed, saltenv } : { path: trimmed };
}

/** The `salt://` URL of a path, in an environment if one is given. */
export function createSaltUrl(path: string, saltenv?: string): string {
  const query = saltenv ? `?saltenv=${saltenv}` : "";
  return `${SCHEME}${path.replaceAll("\\", "/")}${query}`;
}

/** Whether a `|` before the path marks it as having no query. */
export function isEscapedUrl(url: string): boolean {
  return url.startsWith(SCHEME) ? splitSaltUrl(url).path.startsWith("|") : url.startsWith("|");
}

/** The URL or path without that `|`. */
export function unescapeUrl(url: string): string {
  if (!url.startsWith(SCHEME)) return url.replace(/^\|+/, "");
  const { path, saltenv } = splitSaltUrl(url);
  return createSaltUrl(path.replace(/^\|+/, ""), saltenv);
}

/** Splits the path that a minion sends at its `?`: `d.txt?saltenv=dev`. */
export function splitQuery(path: string): { readonly path: string; readonly query: Map<string, string> } {
  if (isEscapedUrl(path)) return { path: unescapeUrl(path), query: new Map() };
  const [before, behind] = path.split("?");
  const query = new Map<string, string>();
  for (const part of (behind ?? "").split("&")) {
    const at = part.indexOf("=");
    if (at >= 0) query.set(part.slice(0, at), part.slice(at + 1));
  }
  query.delete("env"); // not supported by Salt any more
  return { path: before, query };
}

/** A mount point of an option (`salt://a/b/`) as the beginning of paths: `a/b/`, or nothing. */
export function mountPoint(option: string): string {
  const path = option.replace(/^salt:\/\//, "").replace(/\/+/g, "/").replace(/^\/|\/$/g, "");
  return path === "" ? "" : `${path}/`;
}
