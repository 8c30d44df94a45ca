"""Wrong study files, some two hundred made of the schema and more by hand (tests/data/wrong-studies): every one ends with exit
code 2 and a message that names file, line and key; none crashes, hangs or writes."""

import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

from support import LISSOM, SOURCE

CORPUS = SOURCE / "tests" / "data" / "wrong-studies"
# of one file; a study is refused in some hundredths of a second
SECONDS = 60


def run(*arguments):
    """Exit code, standard output and error; None where it hangs."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    try:
        done = subprocess.run([LISSOM, *map(str, arguments)], capture_output=True, timeout=SECONDS, env=environment)
    except subprocess.TimeoutExpired:
        return None, "", ""
    return done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")


def expected(path):
    """What the messages must contain, by the file's first line."""
    first = path.read_bytes().split(b"\n", 1)[0].decode(errors="replace").strip()
    found = re.search(r"# expect: (.*)$", first)
    return found.group(1).split(" | ") if found else []


def problems_of(path, folder):
    """What is wrong with how the program refuses a study; empty where nothing is."""
    wrong = []
    code, out, error = run("check", path, "--json")
    if code != 2:
        return [f"check: exit code {code}: {out[-300:]}{error[-300:]}"]
    problems = json.loads(out)["problems"]
    if not problems:
        wrong.append("check: no problems")
    lines = [f"{p['file']}:{p['line']}: {p['key']}: {p['message']}" for p in problems]
    for problem, line in zip(problems, lines):
        if problem["line"] < 1 or not problem["file"].endswith(".toml"):
            wrong.append(f"check: no file and line: {line}")
        if not problem["key"] and "is no valid TOML" not in problem["message"]:
            wrong.append(f"check: no key: {line}")
        # the line is there
        text = (pathlib.Path(problem["file"])).read_bytes()
        if problem["line"] > text.count(b"\n") + 1:
            wrong.append(f"check: there is no such line: {line}")
    for text in expected(path):
        if not any(text in line for line in lines):
            wrong.append(f"check: '{text}' is not in {lines}")

    code, out, error = run("run", path, "--out", folder / "out")
    # a point of a sweep that makes no sense does not keep the others from being computed
    if code == 0 and all("of [sweep])" in line for line in lines):
        shutil.rmtree(folder / "out")
        return wrong
    if code != 2:
        wrong.append(f"run: exit code {code}: {error[-300:]}")
    if "lissom: error: " not in error:
        wrong.append(f"run: {error[-300:]}")
    if (folder / "out").exists():
        wrong.append("run: it has written results")
    return wrong


class WrongStudies(unittest.TestCase):
    def test_there_are_enough_of_them(self):
        self.assertGreaterEqual(len(list((CORPUS / "generated").glob("*.toml"))), 200)
        self.assertGreaterEqual(len(list((CORPUS / "by-hand").glob("*.toml"))), 80)

    def test_each_is_refused_with_file_line_and_key_and_nothing_is_written(self):
        with tempfile.TemporaryDirectory() as temporary:
            # a copy, so that it shows if something is written beside the studies
            corpus = pathlib.Path(temporary) / "corpus"
            shutil.copytree(CORPUS, corpus)
            files = sorted(corpus.glob("*/*.toml"))
            before = sorted(corpus.rglob("*"))

            def one(path):
                folder = pathlib.Path(temporary) / "out" / path.parent.name / path.stem
                folder.mkdir(parents=True)
                return path, problems_of(path, folder)

            with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 2) as pool:
                results = list(pool.map(one, files))
            self.assertEqual(sorted(corpus.rglob("*")), before)
        wrong = [f"{path.parent.name}/{path.name}: {line}" for path, lines in results for line in lines]
        self.assertEqual(wrong, [], "\n" + "\n".join(wrong))


if __name__ == "__main__":
    unittest.main()
