"""Progress, Ctrl-C and threads."""

import os
import signal
import subprocess
import sys
import threading
import time
import unittest

import numpy as np

import lissom
from support import PENDULUM, FolderTest, beam

LONG = {**PENDULUM, "simulate": {"end": 1e5, "step": 1e-3, "sample": 0.1}}


class Progress(FolderTest):
    def test_a_function_is_told(self):
        told = []
        long = {**PENDULUM, "simulate": {"end": 2.0, "step": 1e-4, "sample": 0.1}}
        lissom.Study(long).simulate(progress=lambda phase, fraction: told.append((phase, fraction)))
        self.assertTrue(told)
        self.assertTrue(all(isinstance(phase, str) and fraction <= 1 for phase, fraction in told))

    def test_what_the_function_raises_comes_through(self):
        told = []

        def refuse(phase, fraction):
            told.append(fraction)
            raise KeyError("enough")

        with self.assertRaisesRegex(KeyError, "enough"):
            lissom.Study(LONG).simulate(progress=refuse)
        # at once: nobody is told again, and nearly all of the run is left
        self.assertEqual(len(told), 1)
        self.assertLess(told[0], 0.5)

    def test_the_function_may_compute_itself(self):
        inner = []

        def nested(phase, fraction):
            if not inner:
                inner.append(lissom.Study(PENDULUM).simulate().time[-1])

        lissom.Study(PENDULUM).simulate(progress=nested)
        self.assertEqual(inner, [0.2])

    def test_a_bar_goes_to_stderr_only(self):
        code = "import lissom, support; print(len(lissom.Study(support.PENDULUM).simulate(progress=True).time))"
        process = subprocess.run([sys.executable, "-B", "-c", code], capture_output=True, text=True, timeout=120,
                                 env={**os.environ, "PYTHONPATH": os.environ["PYTHONPATH"] + os.pathsep + os.path.dirname(__file__)})
        self.assertEqual((process.returncode, process.stdout.strip()), (0, "21"), process.stderr)


class Interrupts(FolderTest):
    def test_ctrl_c_ends_a_run_and_keeps_it(self):
        def press():
            while not os.path.exists("long/result.h5"):
                time.sleep(0.05)
            time.sleep(1.0)
            os.kill(os.getpid(), signal.SIGINT)

        thread = threading.Thread(target=press)
        thread.start()
        with self.assertRaises(KeyboardInterrupt):
            lissom.Study(LONG).simulate(out="long")
        thread.join()
        kept = lissom.read_result("long")
        self.assertEqual(kept.status, "stopped")
        self.assertGreater(len(kept.time), 1)
        # a hundred million steps were asked for
        self.assertLess(kept.time[-1], 0.5 * LONG["simulate"]["end"])
        # and the folder is not locked: another run begins there
        lissom.Study(PENDULUM).simulate(out="long")

    def test_ctrl_c_ends_a_reduction(self):
        body = beam("big", cells=(60, 6, 6), size=(1.0, 0.1, 0.1))
        told, begun, before = [], threading.Event(), []

        def count(phase, fraction):
            told.append(phase)
            begun.set()

        def press():
            begun.wait()
            time.sleep(0.05)  # between two reports, as a rule
            before.append(len(told))
            os.kill(os.getpid(), signal.SIGINT)

        thread = threading.Thread(target=press)
        thread.start()
        # the whole takes seconds
        with self.assertRaises(KeyboardInterrupt):
            body.reduce(interfaces=["a", "b"], tolerance=1e-6, modes=200, exact=True, progress=count)
        thread.join()
        # it ends at the next report; one may have come while the signal was on its way
        self.assertLessEqual(len(told) - before[0], 2)


class Threads(FolderTest):
    def test_threads_take_turns(self):
        results, problems = {}, []

        def work(number):
            try:
                study = lissom.Study(PENDULUM, set={"simulate.end": 0.05 * (1 + number % 3)})
                results[number] = study.simulate(out=f"out{number}", progress=lambda *_: None).time[-1]
            except BaseException as e:  # noqa: B902
                problems.append(e)

        threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(120)
        self.assertFalse(any(thread.is_alive() for thread in threads), "threads hang")
        self.assertEqual(problems, [])
        np.testing.assert_allclose([results[i] for i in range(6)], [0.05 * (1 + i % 3) for i in range(6)])

    def test_python_goes_on_during_a_job(self):
        ticks = []

        def tick():
            # from when the job is running; without a turn for this thread the run would go on to its end
            while not os.path.exists("busy/result.h5"):
                time.sleep(0.01)
            for k in range(20):
                time.sleep(0.01)
                ticks.append(k)
            os.kill(os.getpid(), signal.SIGINT)

        thread = threading.Thread(target=tick)
        thread.start()
        with self.assertRaises(KeyboardInterrupt):
            lissom.Study(LONG).simulate(out="busy")
        thread.join()
        self.assertEqual(len(ticks), 20)
        self.assertEqual(lissom.read_result("busy").status, "stopped")


if __name__ == "__main__":
    unittest.main()
