"""What the tests of the installation share: those of the command line, and the build that is installed."""

import importlib.util
import os
import pathlib
import subprocess

# a module of this name would hide the other one
_spec = importlib.util.spec_from_file_location("cli_support", pathlib.Path(__file__).parents[1] / "cli" / "support.py")
cli = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(cli)

SOURCE, LISSOM, CliTest = cli.SOURCE, cli.LISSOM, cli.CliTest
BUILD = pathlib.Path(os.environ.get("LISSOM_BUILD", SOURCE / "build"))


class InstallTest(CliTest):
    def run_program(self, *command, timeout=600, code=0, cwd=None, **environment):
        """Runs a program that must end with this code; returns what it printed on standard output."""
        done = subprocess.run([str(word) for word in command], cwd=cwd or self.folder, env={**os.environ, **environment},
                              capture_output=True, text=True, timeout=timeout, stdin=subprocess.DEVNULL)
        self.assertEqual(done.returncode, code, f"{command}:\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}")
        return done.stdout

    def verbs(self):
        """The verbs that `lissom --help` lists."""
        text = self.lissom("--help").out
        block = text.split("Subcommands:\n")[1].split("\n\n")[0]
        return [line.split()[0] for line in block.splitlines() if line.startswith("  ") and line[2] != " "]

    def flags(self, verb):
        """The long flags that `lissom VERB --help` lists."""
        found = []
        for line in self.lissom(verb, "--help").out.splitlines():
            words = line.replace(",", " ").split()
            if line.startswith("  -"):
                found += [word for word in words[:2] if word.startswith("--")]
        return found
