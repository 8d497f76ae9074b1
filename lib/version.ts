/**
 * The version of this project, and that of the Salt that it speaks with.
 * @module
 */

/** The version of this project. */
export const VERSION = "0.1.0";

/** The licence of this project, an SPDX expression. */
export const LICENSE = "Apache-2.0";

/** The newest Python Salt that this project speaks with and is tested against. */
export const SALT_VERSION = "3008.3";

/** The version of libzmq, which the package of zeromq brings. */
export const LIBZMQ_VERSION = "4.3.5";

/** What `--version` prints after the program's name. */
export const VERSION_TEXT: string = `${VERSION} (compatible with Salt ${SALT_VERSION})`;
