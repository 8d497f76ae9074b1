"""Programs with a limit of time."""

import subprocess

import salt.exceptions


class TimedProc:
    def __init__(self, args, **kwargs):
        self.timeout = kwargs.pop("timeout", None)
        self.stdin = kwargs.pop("stdin", None)
        self.with_communicate = kwargs.pop("with_communicate", True)
        if isinstance(self.stdin, str):
            self.stdin = self.stdin.encode()
        if self.stdin is not None:
            kwargs["stdin"] = subprocess.PIPE
        if not self.with_communicate:
            kwargs["stdout"] = kwargs["stderr"] = None
        self.args = args
        self.process = subprocess.Popen(args, **kwargs)
        self.command = args
        self.stdout = self.stderr = None

    def run(self):
        try:
            self.stdout, self.stderr = self.process.communicate(self.stdin, timeout=self.timeout)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.communicate()
            raise salt.exceptions.TimedProcTimeoutError(
                "%s : Timed out after %s seconds" % (self.command, self.timeout)
            ) from None
        return self.process.returncode
