/**
 * The names of errors with which a master answers the command `_store`.
 * @module
 */

/** The jobs of this master are not in a database. */
export const NO_STORE = "NoStore";
/** The database does not answer, or refuses. */
export const STORE_FAILED = "StoreFailed";
