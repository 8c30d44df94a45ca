"""Completion of command lines in real shells."""

import os
import subprocess
import unittest

from support import LISSOM, SOURCE, InstallTest

STUDY = """
[bodies.rod]
mass = 0.3
[bodies.arm]
mass = 0.1
[[loads]]
name = "push"
force = [1, 0, 0]
[[cases]]
name = "stiff"
[[cases]]
name = "two words"
"""


class BashCompletes(InstallTest):
    def complete(self, *words, cwd=None):
        """What bash offers for the last of these words, as it is left in COMPREPLY."""
        script = """
            PATH=$1:$PATH; shift
            eval "$(lissom completion bash)" || exit 1
            complete -p lissom | grep -q -- '-F _lissom' || exit 2
            COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
            _lissom
            printf '%s\\n' "${COMPREPLY[@]}"
        """
        text = self.run_program("bash", "--norc", "-c", script, "bash", os.path.dirname(LISSOM), "lissom", *words, cwd=cwd)
        return [line for line in text.splitlines() if line]

    def test_every_verb_and_every_flag_is_offered(self):
        verbs = self.verbs()
        self.assertGreaterEqual(len(verbs), 14)
        self.assertEqual(sorted(w for w in self.complete("") if not w.startswith("-")), sorted(verbs))
        self.assertEqual(self.complete("sim"), ["simulate"])
        for verb in verbs:
            flags = self.flags(verb)
            self.assertIn("--json", flags)
            self.assertEqual(sorted(self.complete(verb, "--")), sorted(flags), verb)

    def test_files_are_those_that_the_verb_reads(self):
        for name in ("a.toml", "b.rom.h5", "c.csv", "d.bdf", "e e.toml", "in/f.txt"):
            self.write(name, "")
        self.assertEqual(sorted(self.complete("run", "")), ["a.toml", "e e.toml", "in"])
        self.assertEqual(sorted(self.complete("simulate", "")), ["a.toml", "b.rom.h5", "e e.toml", "in"])
        self.assertEqual(self.complete("modes", "d"), ["d.bdf"])
        self.assertEqual(self.complete("run", "a.toml", "--out", ""), ["in"])
        self.assertEqual(self.complete("run", "a.toml", "--out", "=", "i"), ["in"])
        # the second argument of compare, behind a flag with its value
        self.assertIn("c.csv", self.complete("compare", "--out", "in", "b.rom.h5", ""))
        # nothing follows the only one
        self.assertEqual(self.complete("run", "a.toml", ""), [])

    def test_words_of_a_flag_with_choices_are_offered(self):
        self.assertEqual(self.complete("modes", "x.bdf", "--mass", ""), ["consistent", "lumped", "calculix"])
        self.assertEqual(self.complete("modes", "x.bdf", "--units", "mm-t"), ["mm-t-s"])
        self.assertEqual(self.complete("completion", ""), ["bash", "zsh"])
        self.assertEqual(self.complete("simulate", "x.toml", "--checkpoint", ""), [])

    def test_names_come_from_the_study_in_the_command_line(self):
        self.write("s.toml", STUDY)
        self.assertEqual(self.complete("simulate", "s.toml", "--case", ""), ["stiff", "two\\ words"])
        self.assertEqual(self.complete("reduce", "s.toml", "--body", "r"), ["rod"])
        self.assertEqual(self.complete("simulate", "s.toml", "--set", "bodies."), ["bodies.arm.mass=", "bodies.rod.mass="])
        self.assertIn("loads.push.force=", self.complete("simulate", "s.toml", "--set", ""))
        self.assertEqual(self.complete("simulate", "s.toml", "--set", "bodies.rod.mass", "=", ""), [])
        self.write("s.toml", "no study [")
        self.assertEqual(self.complete("simulate", "s.toml", "--case", ""), [])

    def test_a_real_study_answers_quickly(self):
        study = SOURCE / "examples" / "four-bar" / "study.toml"
        self.assertTrue(self.complete("simulate", study, "--case", ""))


class ZshCompletes(InstallTest):
    def complete(self, line):
        """What zsh shows behind this line when TAB is pressed, in a shell of its own on a pseudo-terminal."""
        self.write("rc/.zshrc", "PS1='READY> '\nautoload -Uz compinit && compinit -u -D\n"
                   f"PATH={os.path.dirname(LISSOM)}:$PATH\n" 'eval "$(lissom completion zsh)"\n'
                   "LISTMAX=0\nTERM=dumb\nunset zle_bracketed_paste\n"
                   # the list, and a mark behind it
                   "show() { zle list-choices; zle -R; print SHO''WN }\nzle -N show\nbindkey '^I' show\n")
        driver = """
            zmodload zsh/zpty
            zpty shell env ZDOTDIR=$1 COLUMNS=200 LINES=500 zsh -i
            zpty -r -m shell text '*READY> *'
            zpty -w -n shell $2$'\\t'
            zpty -r -m shell text '*SHOWN*'
            print -r -- $text
            zpty -d shell
        """
        return self.run_program("zsh", "-f", "-c", driver, "zsh", self.folder / "rc", line, timeout=60)

    def test_the_script_loads_without_a_complaint(self):
        script = self.lissom("completion", "zsh").out
        self.assertTrue(script.startswith("#compdef lissom\n"))
        self.write("functions/_lissom", script)
        out = self.run_program("zsh", "-f", "-c", "fpath=($1 $fpath); autoload -Uz compinit && compinit -u -D && "
                               "autoload -U +X _lissom && print $_comps[lissom]", "zsh", self.folder / "functions")
        self.assertEqual(out.strip(), "_lissom")

    def test_verbs_flags_and_names_are_offered(self):
        self.write("s.toml", STUDY)
        text = self.complete("lissom ")
        for verb in self.verbs():
            self.assertIn(verb, text)
        text = self.complete("lissom modes --")
        for flag in self.flags("modes"):
            self.assertIn(flag, text)
        self.assertIn("lumped", self.complete("lissom modes x.bdf --mass "))
        self.assertIn("two words", self.complete("lissom simulate s.toml --case ").replace("\\ ", " "))
        self.assertIn("s.toml", self.complete("lissom run "))


class Completion(InstallTest):
    def test_an_unknown_shell_is_refused(self):
        self.assert_refused(["completion", "fish"], "fish", "bash", "zsh")

    def test_a_study_that_no_parser_survives_is_refused(self):
        self.write("deep.toml", "a = " + "{a=" * 9000 + "1" + "}" * 9000)
        self.assert_refused(["complete", "keys", "deep.toml"], "deep.toml:1", "nested too deeply")
        self.assert_refused(["complete", "cases", "nothing.toml"], "nothing.toml")

    def test_the_script_comes_as_json_too(self):
        self.assertEqual(self.json_of("completion", "bash")["script"], self.lissom("completion", "bash").out)


if __name__ == "__main__":
    unittest.main()
