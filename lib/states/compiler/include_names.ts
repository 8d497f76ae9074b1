/**
 * Resolves an item of `include`: a name or a glob, relative to the including file, in an environment.
 * Source: Salt 3008.3, `BaseHighState.render_state` of `salt/state.py`.
 * @module
 */

/** The including file. */
export interface Includer {
  readonly sls: string;
  /** Whether the file is an `init.sls`. */
  readonly isInit: boolean;
}

/**
 * The absolute name of an include: in `web/init.sls` and in `web/proxy.sls`, `.tls` is `web.tls`, and `..db` is `db`.
 * @returns `undefined` if it goes above the root.
 */
export function absoluteName(include: string, { sls, isInit }: Includer): string | undefined {
  const dots = /^\.*/.exec(include)?.[0].length ?? 0;
  if (dots === 0) return include;
  const parts = sls.split(".");
  if (isInit) parts.push("init");
  if (dots > parts.length) return undefined;
  return [...parts.slice(0, -dots), include.slice(dots)].join(".");
}
