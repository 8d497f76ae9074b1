/**
 * The environments of a repository: lists, one branch for all, and the fallback for missing environments, as in Salt's
 * file server.
 */

import { testFileServerCases } from "#tests/support/files/file_server_situations.ts";

testFileServerCases("gitfs: choices");
