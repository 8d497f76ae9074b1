/**
 * Commands for hints, as the operator must type them to use the same master: with `-c`, unless the configuration is in
 * its default directory.
 * @module
 */

import { quoteShellWord } from "#lib/text/shell_words.ts";
import { DEFAULT_CONFIG_DIR } from "#lib/config/place.ts";

/**
 * The words of a command line: `salt-run -c /srv/salt jobs.attach 2026…`.
 * @param command The program, then its other words, which follow `-c`.
 */
export function typedCommand(command: string, { config_dir }: { readonly config_dir: string }): string {
  if (config_dir === DEFAULT_CONFIG_DIR) return command;
  const [program, ...words] = command.split(" ");
  return [program, "-c", quoteShellWord(config_dir), ...words].join(" ");
}
