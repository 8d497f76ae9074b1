/**
 * The version of this project, and that of the Salt that it speaks with.
 * @module
 */

/** The version of this project. */
export const VERSION = "0.1.0";

/** The newest Python Salt that this project speaks with and is tested against. */
export const SALT_VERSION = "3008.3";

/** What `--version` prints after the program's name. */
export const VERSION_TEXT: string = `${VERSION} (compatible with Salt ${SALT_VERSION})`;
