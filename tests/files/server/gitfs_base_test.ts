/** The branch, tag or commit of the environment `base`, as in Salt's file server. */

import { testFileServerCases } from "#tests/support/files/file_server_situations.ts";

testFileServerCases("gitfs: base");
