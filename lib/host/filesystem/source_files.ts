/**
 * The interface for files from outside this host; the file client implements it.
 * @module
 */

/** How a file is fetched. */
export interface FetchOptions {
  /** Whether the certificate of an https server is checked. Default: true. */
  readonly verifySsl?: boolean;
  /** Whether a copy is kept while the server's ETag is the same. */
  readonly useEtag?: boolean;
  /** A digest of the copy that need not be fetched again. */
  readonly sourceHash?: string;
}

/** Fetches files by URL. */
export interface SourceFiles {
  /**
   * The path of a copy on this host; `undefined` if there is no such file.
   * @throws {CommandError} If it cannot be fetched.
   */
  cacheFile(url: string, saltenv: string, options?: FetchOptions): Promise<string | undefined>;
  /** The path of a copy that is there already, whatever the server has now. */
  cachedFile(url: string, saltenv: string): Promise<string | undefined>;
  /** The digest of a file of the file server. */
  hashFile(url: string, saltenv: string): Promise<{ readonly hashType: string; readonly hsum: string } | undefined>;
  /** The mode of a file of the file server, with the bits of its type. */
  statFile(url: string, saltenv: string): Promise<{ readonly mode?: number }>;
  /** Whether a URL leads to a file, or on the file server to a directory. */
  exists(url: string, saltenv: string): Promise<boolean>;
}
