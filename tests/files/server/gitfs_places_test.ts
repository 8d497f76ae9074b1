/** The served directory and the mount point of a repository, as in Salt's file server. */

import { testFileServerCases } from "#tests/support/files/file_server_situations.ts";

testFileServerCases("gitfs: places");
