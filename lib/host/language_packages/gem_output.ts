/**
 * Parsers for the output of gem. Pure functions over text.
 * Source: Salt 3006, `salt/modules/gem.py`; guides.rubygems.org.
 * @module
 */

/** The first line that begins with a version. */
export function parseGemVersion(text: string): string | undefined {
  return text.split("\n").find((line) => /^[.0-9]+/.test(line));
}

/** The installed gems with their versions: `rake (13.0.6, 12.3.3)`. */
export function parseGemList(text: string): Map<string, string[]> {
  return new Map([...text.matchAll(/^([^ \n]+) \((.+)\)/gm)].map(([, name, versions]) => [name, versions.split(", ")]));
}

/** The gems of which there is a newer version: `rake (12.3.3 < 13.0.6)`. */
export function parseGemOutdated(text: string): Map<string, string> {
  return new Map([...text.matchAll(/(\S+) \(\S+ < (\S+)\)/g)].map(([, name, version]) => [name, version]));
}

/** The addresses of `gem sources`, below its title. */
export function parseSources(text: string): string[] {
  return text.split("\n").slice(2);
}
