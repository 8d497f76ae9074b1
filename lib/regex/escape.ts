/**
 * Texts as regular expressions that match them.
 * Source: docs.python.org, "re.escape"; Salt 3008.3, `salt/utils/stringutils.py` build_whitespace_split_regex.
 * @module
 */

const SPECIAL = /[()[\]{}?*+\-|^$\\.&~# \t\n\r\v\f]/g;

/** Python's `re.escape`. */
export function escapeRegex(text: string): string {
  return text.replace(SPECIAL, "\\$&");
}
