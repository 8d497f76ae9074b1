/**
 * The host's pretty name in `/etc/machine-info`.
 * Source: Salt 3008.3, `salt/modules/system.py`; machine-info(5).
 * @module
 */

const LINE = /^\s*PRETTY_HOSTNAME=(.*)$/;

/** The last one that the file names, without its quotes; `undefined` if it names none. */
export function prettyName(text: string): string | undefined {
  const name = text.split("\n").flatMap((line) => LINE.exec(line)?.[1].trim() ?? []).at(-1);
  return name?.replace(/^(["'])(.*)\1$/s, "$2");
}

/** The file's text with another one. */
export function withPrettyName(text: string, name: string): string {
  const lines = text === "" ? [] : text.replace(/\n$/, "").split("\n");
  const line = `PRETTY_HOSTNAME="${name}"`;
  const at = lines.findIndex((one) => LINE.test(one));
  return `${(at < 0 ? [...lines, line] : lines.with(at, line)).join("\n")}\n`;
}
