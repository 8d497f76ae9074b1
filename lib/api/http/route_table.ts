/**
 * Finds the route of a path in a table: `/jobs/:jid` matches `/jobs/20261123231502118734`. A slash at the end means
 * nothing.
 * @module
 */

/** A path of the table, and what it leads to. */
export interface PathRoute<T> {
  /** Segments; `:name` takes any one segment, `*name` all that follow, also none. */
  readonly path: string;
  readonly target: T;
}

/** A route that was found. */
export interface MatchedPath<T> {
  readonly target: T;
  /** The path of the table. */
  readonly path: string;
  /** What `:name` and `*name` stand for, decoded. */
  readonly params: Readonly<Record<string, string>>;
}

/**
 * The first route that matches.
 * @param path As in a request: not decoded.
 * @returns `undefined` if none does, or if the path is not well encoded.
 */
export function matchRoute<T>(routes: readonly PathRoute<T>[], path: string): MatchedPath<T> | undefined {
  const segments = path.split("/").filter((segment) => segment !== "");
  for (const { path: pattern, target } of routes) {
    const params = matchSegments(pattern.split("/").filter((segment) => segment !== ""), segments);
    if (params !== undefined) return { target, path: pattern, params };
  }
  return undefined;
}

function matchSegments(pattern: readonly string[], segments: readonly string[]): Record<string, string> | undefined {
  const params: Record<string, string> = {};
  for (const [i, part] of pattern.entries()) {
    if (part.startsWith("*")) {
      const rest = segments.slice(i).map(decodeSegment);
      if (rest.some((segment) => segment === undefined)) return undefined;
      params[part.slice(1)] = rest.join("/");
      return params;
    }
    const segment = segments[i] === undefined ? undefined : decodeSegment(segments[i]);
    if (segment === undefined) return undefined;
    if (part.startsWith(":")) params[part.slice(1)] = segment;
    else if (part !== segment) return undefined;
  }
  return segments.length === pattern.length ? params : undefined;
}

function decodeSegment(segment: string): string | undefined {
  try {
    return decodeURIComponent(segment);
  } catch (error) {
    if (!(error instanceof URIError)) throw error;
    return undefined;
  }
}
