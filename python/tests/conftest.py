"""What a test leaves out is said: each reason is added to the list that the test command ends with."""

import collections
import os


def pytest_terminal_summary(terminalreporter):
    listed = os.environ.get("KEEPNET_SKIPPED")
    # The workers of pytest-xdist see a part of the tests each; the process above them sees all.
    if not listed or "PYTEST_XDIST_WORKER" in os.environ:
        return
    reasons = collections.Counter(
        (report.nodeid.split("::")[0], str(report.longrepr[-1]).removeprefix("Skipped: "))
        for report in terminalreporter.stats.get("skipped", [])
    )
    with open(listed, "a") as file:
        for (module, reason), count in sorted(reasons.items()):
            file.write(f"python, {module}: {count} skipped: {reason}\n")
