"""
Words that tell two topics apart: from CSV through hashing to svm
=================================================================

Texts in a CSV file become hashed word counts, the counts become a libsvm file, and a selection
from that file names the words. The hashing is scikit-learn's; keepnet reads the sparse file.
"""

# %%
# A corpus: short texts, each with its topic. Every text has words of its own topic and many
# that say nothing.
import csv
import os
import tempfile

import keepnet
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import dump_svmlight_file
from sklearn.feature_extraction.text import HashingVectorizer

folder = tempfile.mkdtemp()
rng = np.random.default_rng(1)
noise = [f"word{j}" for j in range(3000)]
topics = {
    "garden": ["rose", "soil", "seed", "prune", "bloom", "leaf"],
    "kitchen": ["oven", "flour", "salt", "bake", "whisk", "pan"],
}
with open(os.path.join(folder, "texts.csv"), "w", newline="") as file:
    writer = csv.writer(file)
    writer.writerow(["topic", "text"])
    for _ in range(600):
        topic = str(rng.choice(list(topics)))
        words = [*rng.choice(noise, 40), *rng.choice(topics[topic], 2)]
        writer.writerow([topic, " ".join(words)])

# %%
# The CSV is read a line at a time and hashed; the vectorizer needs no dictionary, so a corpus of
# any size goes through.
with open(os.path.join(folder, "texts.csv"), newline="") as file:
    rows = list(csv.DictReader(file))
hashing = HashingVectorizer(n_features=2**16, alternate_sign=False, norm=None)
counts = hashing.transform(row["text"] for row in rows)
labels = np.array([1 if row["topic"] == "garden" else -1 for row in rows])
corpus = os.path.join(folder, "texts.svm")
dump_svmlight_file(counts, labels, corpus, zero_based=False)

# %%
# Twelve features of 65,536. Columns stay sparse from the file to the kept set.
selector = keepnet.select(corpus, k=12)
print(selector.result_["task"], selector.result_["classes"])

# %%
# A feature is called by its index in the file; hashing the words again gives them back.
place = {
    int(hashing.transform([word]).indices[0]) + 1: word
    for word in [*noise, *topics["garden"], *topics["kitchen"]]
}
chosen = selector.result_["selected"]
words = [place[int(feature["name"])] for feature in chosen]
print(", ".join(words))

# %%
# Positive coefficients speak for the garden, negative ones for the kitchen.
figure, ax = plt.subplots(figsize=(7, 4))
weights = [feature["coefficient"] for feature in chosen]
ax.barh(words, weights, color=["C2" if weight > 0 else "C1" for weight in weights])
ax.axvline(0, color="0.5", linewidth=1)
ax.set_xlabel("coefficient")
figure.tight_layout()
