/**
 * The error of a release that is not possible.
 * @module
 */

/** A release that is not possible; the message is for the person who makes it. */
export class ReleaseError extends Error {
  override name = "ReleaseError";
}
