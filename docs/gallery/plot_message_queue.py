"""
Rows from a message queue
=========================

A consumer takes messages from a queue and learns from each batch. The queue here is the standard
library's, filled by a thread; the client of a broker has the same loop around ``get``.
"""

# %%
# The producer sends readings of 40 sensors as JSON. After half of the messages the target follows
# other sensors than before.
import json
import queue
import threading

import keepnet
import matplotlib.pyplot as plt
import numpy as np

messages = queue.Queue(maxsize=200)


def produce():
    rng = np.random.default_rng(4)
    for sent in range(6000):
        x = rng.normal(size=40)
        used = (4, 30) if sent < 3000 else (11, 30)
        y = x[used[0]] - x[used[1]] + 0.3 * rng.normal()
        messages.put(json.dumps({"x": x.round(4).tolist(), "y": round(y, 4)}))
    messages.put(None)


threading.Thread(target=produce, daemon=True).start()

# %%
# The consumer collects 100 messages and gives them to ``partial_fit``. ``forget`` lets old rows
# fade, so that the selection follows the change.
selector = keepnet.AnnealedRidge(k=2, forget=0.002)
course, X, y = [], [], []
while (message := messages.get()) is not None:
    row = json.loads(message)
    X.append(row["x"])
    y.append(row["y"])
    if len(X) == 100:
        selector.partial_fit(np.array(X), np.array(y))
        course.append((selector.n_samples_seen_, sorted(selector.selected_.tolist())))
        X, y = [], []

print("after 3,000 rows:", course[29][1], "and at the end:", course[-1][1])

# %%
# Which sensors were selected, batch by batch.
figure, ax = plt.subplots(figsize=(7, 3.5))
for seen, selected in course:
    ax.plot([seen] * len(selected), selected, "s", color="C0", markersize=4)
ax.axvline(3000, color="0.5", linestyle="--")
ax.set_xlabel("rows learnt from")
ax.set_ylabel("selected sensors")
figure.tight_layout()
